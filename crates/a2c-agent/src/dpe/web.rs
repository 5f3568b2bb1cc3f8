//! Documents behind `http://` and `https://`.
//!
//! The URL comes from a Computer, so it is asked with nothing of ours: no credential, no cookie, no referrer, no proxy of
//! the environment. Which addresses are off limits is judged where they are used: in the URL, in redirects, and behind
//! names when they are looked up.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::BytesMut;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::Verifier;
use url::{Host, Url};

use super::fetch::{FetchFailure, Found};

/// How often a server may send us on.
const MAX_REDIRECTS: usize = 5;

/// How long a server may take to take a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The HTTP client of an Agent, made when the first document is fetched: reading the system's certificates takes a while.
#[derive(Default)]
pub(crate) struct Web {
    client: OnceLock<reqwest::Client>,
}

impl Web {
    pub(super) async fn get(&self, url: &Url, max_bytes: u64) -> Result<Found, FetchFailure> {
        judge(url).map_err(|reason| FetchFailure::Uri { reason })?;
        let mut response = self.client()?.get(url.clone()).send().await.map_err(failure)?;
        if !response.status().is_success() {
            return Err(FetchFailure::Status(response.status().as_u16()));
        }
        let too_large = || FetchFailure::TooLarge { limit: max_bytes };
        if response.content_length().is_some_and(|length| length > max_bytes) {
            return Err(too_large());
        }
        let mime_type = response.headers().get(CONTENT_TYPE).and_then(|mime| mime.to_str().ok()).map(str::to_owned);
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(failure)? {
            if body.len() as u64 + chunk.len() as u64 > max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Found { body: body.freeze(), mime_type })
    }

    fn client(&self) -> Result<&reqwest::Client, FetchFailure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client().map_err(FetchFailure::Client)?;
        Ok(self.client.get_or_init(|| client))
    }
}

fn client() -> Result<reqwest::Client, String> {
    let tls = tls().map_err(|error| format!("TLS cannot be used: {error}"))?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .user_agent(concat!("a2c/", env!("CARGO_PKG_VERSION")))
        .referer(false)
        .no_proxy()
        .redirect(redirect::Policy::custom(redirect))
        .dns_resolver(Arc::new(Lookup))
        .connect_timeout(CONNECT_LIMIT)
        .build()
        .map_err(|error| error.without_url().to_string())
}

/// The system's idea of whom to trust. A system without certificates trusts nobody, and `http://` still works there.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let mut config = match Verifier::new(provider) {
        Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth(),
        Err(error) => {
            tracing::warn!(%error, "the system's certificates cannot be read; no https:// document will be trusted");
            builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// A redirect that was not followed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotFollowed(&'static str);

fn redirect(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let was_safe = attempt.previous().last().is_some_and(|previous| previous.scheme() == "https");
    let verdict = match judge(attempt.url()) {
        _ if attempt.previous().len() > MAX_REDIRECTS => Err("it redirects too often"),
        Ok(()) if was_safe && attempt.url().scheme() == "http" => Err("it redirects from https to http"),
        verdict => verdict,
    };
    match verdict {
        Ok(()) => attempt.follow(),
        Err(reason) => attempt.error(NotFollowed(reason)),
    }
}

/// Whether a URL is one that we go to.
fn judge(url: &Url) -> Result<(), &'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it carries a user name or a password");
    }
    let address = match url.host() {
        None => return Err("it names no host"),
        Some(Host::Domain(_)) => return Ok(()),
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
    };
    if is_off_limits(address) { Err("its address is off limits") } else { Ok(()) }
}

/// Addresses behind which no document can be: link-local ones (where clouds keep credentials), groups and nothing.
fn is_off_limits(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_unspecified() || v4.is_broadcast() || v4.is_multicast(),
        IpAddr::V6(v6) => {
            v6.is_unicast_link_local()
                || v6.is_unspecified()
                || v6.is_multicast()
                || is_metadata(v6)
                || carried(v6).is_some_and(|v4| is_off_limits(v4.into()))
        }
    }
}

/// The address of the older kind to which a gateway would lead.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
}

/// Where a large cloud keeps credentials in IPv6.
fn is_metadata(address: Ipv6Addr) -> bool {
    address.segments() == [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254]
}

/// Looks names up, and leaves out what is off limits.
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let good: Vec<SocketAddr> = found.into_iter().filter(|at| !is_off_limits(at.ip())).collect();
            if good.is_empty() {
                return Err(Box::new(NotFollowed("its address is off limits")) as Box<dyn Error + Send + Sync>);
            }
            Ok(Box::new(good.into_iter()) as Addrs)
        })
    }
}

/// What went wrong, without the URL: it may be a key.
fn failure(error: reqwest::Error) -> FetchFailure {
    if error.is_redirect() { FetchFailure::Redirect } else { FetchFailure::Http(error.without_url()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_judged_by_scheme_user_and_address() {
        for good in [
            "http://127.0.0.1:8080/x",
            "http://[::1]/x",
            "http://[64:ff9b::93.184.216.34]/x",
            "https://example.com/x?signature=y",
            "http://10.0.0.7/",
            "http://localhost/",
        ] {
            assert_eq!(judge(&good.parse().unwrap()), Ok(()), "{good}");
        }
        for bad in [
            "ftp://example.com/x",
            "http://user@example.com/",
            "http://:secret@example.com/",
            "http://169.254.169.254/latest",
            "http://2852039166/latest",
            "http://0xa9.254.169.254/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[::169.254.169.254]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
        ] {
            assert!(judge(&bad.parse().unwrap()).is_err(), "{bad}");
        }
    }
}
