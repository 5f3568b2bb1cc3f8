//! Fetches what an MCP server names, without letting it reach into the Computer's network.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use a2c_files::NewFile;
use a2c_net::{AddressPolicy, HttpClientError, OffLimits, PolicyClient, USER_AGENT, UrlRefusal, http_client, tls};
use futures_util::StreamExt as _;
use http::StatusCode;
use url::Url;

use crate::resolver::ResolveError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may send nothing.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 5;

/// Fetches documents into files.
pub(crate) struct Fetcher {
    pub(crate) max_bytes: u64,
    /// Which addresses may be connected to.
    pub(crate) addresses: AddressPolicy,
    /// A listener that is not asked, wherever it is.
    pub(crate) off_limits: Option<Url>,
}

impl Fetcher {
    /// Fetches into a new file of a directory.
    pub(crate) async fn fetch(&self, uri: &str, directory: &Path) -> Result<NewFile, ResolveError> {
        let url = Url::parse(uri).map_err(|e| ResolveError::new("the document's address is no URL").caused_by(e))?;
        let failed = |error: reqwest::Error| {
            let message = match error.is_redirect() {
                true => "the document's server redirects to an address that this Computer does not fetch from",
                false => "the document could not be fetched from where it is published",
            };
            ResolveError::new(message).caused_by(error.without_url())
        };
        let request = self.client().await?.get(url).map_err(refused)?;
        let response = request.send().await.map_err(failed)?;
        // A redirect that the client cannot follow is not the document either.
        if response.status() != StatusCode::OK {
            let status = response.status();
            return Err(ResolveError::new(format!("the document's server answered {status} instead of the document")));
        }
        let too_large =
            || ResolveError::new(format!("the document is larger than the {} bytes copied", self.max_bytes));
        if response.content_length().is_some_and(|length| length > self.max_bytes) {
            return Err(too_large());
        }
        let not_written = |e| ResolveError::new("the document could not be written").caused_by(e);
        let mut file = NewFile::create_in(directory).map_err(not_written)?;
        let (mut written, mut body) = (0, response.bytes_stream());
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(failed)?;
            written += chunk.len() as u64;
            if written > self.max_bytes {
                return Err(too_large());
            }
            file.write_all(&chunk).map_err(not_written)?;
        }
        Ok(file)
    }

    async fn client(&self) -> Result<PolicyClient, ResolveError> {
        let failed = |error: HttpClientError| ResolveError::new("no HTTP client could be made").caused_by(error);
        let builder = http_client(tls::system_trust().map_err(|error| failed(error.into()))?)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT);
        let client = match &self.off_limits {
            Some(url) => {
                let off_limits = OffLimits::listener_of(url).await;
                PolicyClient::avoiding(builder, self.addresses, MAX_REDIRECTS, off_limits)
            }
            None => PolicyClient::new(builder, self.addresses, MAX_REDIRECTS),
        };
        client.map_err(failed)
    }
}

/// Says why a URL is not fetched, without repeating it.
fn refused(refusal: UrlRefusal) -> ResolveError {
    let message = match refusal {
        UrlRefusal::NotHttp => "only documents on http and https addresses are copied",
        UrlRefusal::NoHost => "the document's address has no host",
        UrlRefusal::Credentials => "the document's address carries a user name or a password",
        UrlRefusal::OffLimits => "the document's address leads to where this Computer copies nothing from",
        _ => "documents are only copied from public addresses",
    };
    ResolveError::new(message).caused_by(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2c_net::AddressKind;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_redirect_to_a_private_address_is_refused() {
        use axum::Router;
        use axum::http::header::LOCATION;
        use axum::routing::get;

        // Linux takes 0.0.0.0 for this machine; the policy of the test allows only the loopback addresses of it.
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = |host: &str| {
            let location = format!("http://{host}:{port}/d");
            get(move || async move { (StatusCode::FOUND, [(LOCATION, location)]) })
        };
        let routes = Router::new()
            .route("/d", get(|| async { "{}" }))
            .route("/public", to("127.0.0.1"))
            .route("/private", to("0.0.0.0"))
            .route("/mapped", to("[::ffff:0.0.0.0]"));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let folder = tempfile::tempdir().unwrap();
        let fetch = |addresses: AddressPolicy, url: String| {
            let directory = folder.path().to_owned();
            async move { Fetcher { max_bytes: 100, addresses, off_limits: None }.fetch(&url, &directory).await }
        };
        let local = AddressPolicy::PUBLIC.and(AddressKind::Loopback);
        fetch(local, format!("http://127.0.0.1:{port}/public")).await.unwrap();
        fetch(AddressPolicy::ANYWHERE, format!("http://127.0.0.1:{port}/private")).await.unwrap();
        for path in ["private", "mapped"] {
            let error = fetch(local, format!("http://127.0.0.1:{port}/{path}")).await.unwrap_err();
            assert!(error.to_string().contains("redirects to"), "{path}: {error}");
        }
        // A name is looked up once, and gives no address that is not allowed.
        fetch(local, format!("http://localhost:{port}/d")).await.unwrap();
        fetch(AddressPolicy::PUBLIC, format!("http://localhost:{port}/d")).await.unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_url_with_a_private_address_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fetcher = Fetcher { max_bytes: 100, addresses: AddressPolicy::PUBLIC, off_limits: None };
        for (url, expected) in [
            ("http://127.0.0.1/d", "only copied from public addresses"),
            ("http://2130706433/d", "only copied from public addresses"),
            ("http://0x7f.1/d", "only copied from public addresses"),
            ("http://[::1]/d", "only copied from public addresses"),
            ("http://[::ffff:10.0.0.1]/d", "only copied from public addresses"),
            ("http://me:pw@docs.example.org/d", "user name or a password"),
            ("file:///etc/passwd", "http and https"),
            ("ftp://docs.example.org/d", "http and https"),
        ] {
            let error = fetcher.fetch(url, folder.path()).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{url}: {error}");
        }
    }
    #[tokio::test]
    async fn a_listener_that_is_off_limits_is_not_asked_even_where_all_addresses_are_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let off_limits = Url::parse("http://127.0.0.1:7420").ok();
        let fetcher = Fetcher { max_bytes: 100, addresses: AddressPolicy::ANYWHERE, off_limits };
        for url in ["http://127.0.0.1:7420/metrics", "http://localhost:7420/d", "http://[::1]:7420/d"] {
            let error = fetcher.fetch(url, folder.path()).await.unwrap_err().to_string();
            assert!(error.contains("copies nothing from"), "{url}: {error}");
        }
    }
}
