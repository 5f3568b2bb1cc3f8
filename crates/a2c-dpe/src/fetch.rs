//! Fetches what an MCP server names, without letting it reach into the Computer's network.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt as _;
use http::StatusCode;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect;
use tempfile::NamedTempFile;
use url::{Host, Url};

use crate::resolver::ResolveError;
use crate::{http_client, private_files};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may send nothing.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 5;

/// Which addresses may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Public,
    Anywhere,
    /// One address stands for all public ones, so that a test can have both kinds on one machine.
    #[cfg(test)]
    Only(IpAddr),
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::Anywhere => true,
            #[cfg(test)]
            Self::Only(public) => address == public,
        }
    }
}

/// Fetches documents into files.
pub(crate) struct Fetcher {
    pub(crate) max_bytes: u64,
    pub(crate) reach: Reach,
}

impl Fetcher {
    /// Fetches into a new file of a directory.
    pub(crate) async fn fetch(&self, uri: &str, directory: &Path) -> Result<NamedTempFile, ResolveError> {
        let url = Url::parse(uri).map_err(|e| ResolveError::new("the document's address is no URL").caused_by(e))?;
        check(&url, self.reach).map_err(ResolveError::new)?;
        let failed = |error: reqwest::Error| {
            let message = match error.is_redirect() {
                true => "the document's server redirects to an address that this Computer does not fetch from",
                false => "the document could not be fetched from where it is published",
            };
            ResolveError::new(message).caused_by(error.without_url())
        };
        let response = self.client()?.get(url).send().await.map_err(failed)?;
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
        let mut file = private_files::begin(directory).map_err(not_written)?;
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

    fn client(&self) -> Result<reqwest::Client, ResolveError> {
        let reach = self.reach;
        let follow = move |attempt: redirect::Attempt<'_>| {
            if attempt.previous().len() > MAX_REDIRECTS {
                return attempt.error("there are too many redirects");
            }
            match check(attempt.url(), reach) {
                Ok(()) => attempt.follow(),
                Err(reason) => attempt.error(reason),
            }
        };
        let builder = http_client::builder(true)
            .map_err(|error| ResolveError::new("this Computer cannot use TLS").caused_by(error))?;
        let client = builder
            .redirect(redirect::Policy::custom(follow))
            .dns_resolver(AllowedAddresses { reach })
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build();
        client.map_err(|error| ResolveError::new("no HTTP client could be made").caused_by(error))
    }
}

/// Whether a URL may be fetched, as far as the URL itself tells. The addresses of a name are checked at its look-up.
fn check(url: &Url, reach: Reach) -> Result<(), &'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only documents on http and https addresses are copied");
    }
    let address: IpAddr = match url.host() {
        None => return Err("the document's address has no host"),
        Some(Host::Domain(_)) => return Ok(()),
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
    };
    if reach.allows(address) { Ok(()) } else { Err("documents are only copied from public addresses") }
}

/// Looks names up and gives only the addresses that may be connected to. There is no second look-up that could differ.
struct AllowedAddresses {
    reach: Reach,
}

impl Resolve for AllowedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|found| reach.allows(found.ip())).collect();
            if allowed.is_empty() {
                return Err("documents are only copied from public addresses, and the name has none".into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is a public one.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    // An IPv6 address that carries an IPv4 address leads to that one.
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match s {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(v4(high, low)),
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Only 2000::/3 is assigned; documentation, benchmarking and Teredo ranges in it are not public.
        [first, second, ..] => {
            (0x2000..0x4000).contains(&first)
                && !(first == 0x2001 && (second == 0xdb8 || second < 0x200))
                && !(first == 0x3fff && second < 0x1000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        for (address, expected) in [
            ("93.184.216.34", true),
            ("2606:2800:220:1::1", true),
            ("127.0.0.1", false),
            ("127.8.9.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:93.184.216.34", true),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_redirect_to_a_private_address_is_refused() {
        use axum::Router;
        use axum::http::header::LOCATION;
        use axum::routing::get;

        // All of 127.0.0.0/8 is this machine; 127.0.0.1 stands for a public address.
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = |host: &str| {
            let location = format!("http://{host}:{port}/d");
            get(move || async move { (StatusCode::FOUND, [(LOCATION, location)]) })
        };
        let routes = Router::new()
            .route("/d", get(|| async { "{}" }))
            .route("/public", to("127.0.0.1"))
            .route("/private", to("127.0.0.2"))
            .route("/mapped", to("[::ffff:127.0.0.2]"));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let folder = tempfile::tempdir().unwrap();
        let fetch = |reach: Reach, url: String| {
            let directory = folder.path().to_owned();
            async move { Fetcher { max_bytes: 100, reach }.fetch(&url, &directory).await }
        };
        let reach = Reach::Only(Ipv4Addr::LOCALHOST.into());
        fetch(reach, format!("http://127.0.0.1:{port}/public")).await.unwrap();
        fetch(Reach::Anywhere, format!("http://127.0.0.1:{port}/private")).await.unwrap();
        for path in ["private", "mapped"] {
            let error = fetch(reach, format!("http://127.0.0.1:{port}/{path}")).await.unwrap_err();
            assert!(error.to_string().contains("redirects to"), "{path}: {error}");
        }
        // A name is looked up once, and gives no address that is not allowed.
        fetch(reach, format!("http://localhost:{port}/d")).await.unwrap();
        let nowhere = Reach::Only("127.0.0.9".parse().unwrap());
        fetch(nowhere, format!("http://localhost:{port}/d")).await.unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_url_with_a_private_address_is_refused_at_once() {
        for (url, is_allowed) in [
            ("https://docs.example.org/d", true),
            ("http://93.184.216.34/d", true),
            ("http://127.0.0.1/d", false),
            ("http://2130706433/d", false),
            ("http://0x7f.1/d", false),
            ("http://[::1]/d", false),
            ("http://[::ffff:10.0.0.1]/d", false),
            ("file:///etc/passwd", false),
            ("ftp://docs.example.org/d", false),
        ] {
            assert_eq!(check(&Url::parse(url).unwrap(), Reach::Public).is_ok(), is_allowed, "{url}");
        }
    }
}
