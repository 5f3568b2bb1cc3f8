//! The addresses of one Engine.IO endpoint.

use reqwest::Url;

use crate::error::InvalidOptions;
use crate::options::Options;

/// Builds the address of every request; the caller's query is part of each.
#[derive(Clone)]
pub(crate) struct Endpoint {
    base: Url,
}

impl Endpoint {
    pub(crate) fn new(options: &Options) -> Result<Self, InvalidOptions> {
        // The websocket schemes name the same server; the upgrade is an ordinary HTTP request.
        let url = match options.url.split_once("://") {
            Some(("ws", rest)) => format!("http://{rest}"),
            Some(("wss", rest)) => format!("https://{rest}"),
            _ => options.url.clone(),
        };
        let mut base = Url::parse(&url).map_err(|error| InvalidOptions::Url(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(InvalidOptions::Scheme);
        }
        if !matches!(base.path(), "" | "/") {
            return Err(InvalidOptions::UrlPath);
        }
        base.set_fragment(None);
        // Servers match the path with its closing slash.
        base.set_path(&format!("/{}/", options.path.trim_matches('/')).replace("//", "/"));
        for (name, value) in &options.query {
            base.query_pairs_mut().append_pair(name, value);
        }
        base.query_pairs_mut().append_pair("EIO", "4");
        Ok(Endpoint { base })
    }

    pub(crate) fn is_https(&self) -> bool {
        self.base.scheme() == "https"
    }

    pub(crate) fn polling(&self, sid: Option<&str>) -> Url {
        self.request("polling", sid)
    }

    pub(crate) fn websocket(&self, sid: Option<&str>) -> Url {
        self.request("websocket", sid)
    }

    fn request(&self, transport: &str, sid: Option<&str>) -> Url {
        let mut url = self.base.clone();
        url.query_pairs_mut().append_pair("transport", transport);
        if let Some(sid) = sid {
            url.query_pairs_mut().append_pair("sid", sid);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_built() {
        let table = [
            (Options::new("http://h:3000"), "http://h:3000/socket.io/?EIO=4&transport=polling"),
            (Options::new("wss://h/").path("v1/"), "https://h/v1/?EIO=4&transport=polling"),
            (Options::new("ws://h").path("/a/b").query("k", "v w&"), "http://h/a/b/?k=v+w%26&EIO=4&transport=polling"),
            (Options::new("http://h").path("/"), "http://h/?EIO=4&transport=polling"),
            (Options::new("http://h/?a=1#f").query("b", "2"), "http://h/socket.io/?a=1&b=2&EIO=4&transport=polling"),
        ];
        for (options, expected) in table {
            let endpoint = Endpoint::new(&options).unwrap();
            assert_eq!(endpoint.polling(None).as_str(), expected);
        }
        let endpoint = Endpoint::new(&Options::new("http://h")).unwrap();
        assert_eq!(endpoint.websocket(Some("a&b")).as_str(), "http://h/socket.io/?EIO=4&transport=websocket&sid=a%26b");
    }

    #[test]
    fn wrong_addresses_are_refused() {
        for url in ["", "h:3000", "ftp://h", "http://", "http://h/chat", "file:///x"] {
            assert!(Endpoint::new(&Options::new(url)).is_err(), "{url}");
        }
    }
}
