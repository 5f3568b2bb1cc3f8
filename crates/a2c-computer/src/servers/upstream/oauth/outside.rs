//! Requests to an authorisation server, whose addresses the MCP server or its metadata name: they must not be a way to
//! make us knock on doors that the MCP server itself cannot reach.
//!
//! What the owner wrote down sets the measure. A server out in the world names addresses out in the world; one in a
//! private network may also name private ones, one on this machine also those of this machine. Only http and https, and
//! no http where the owner wrote https.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::redirect;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use url::{Host, Url};

use crate::servers::upstream::fault::Fault;
use crate::servers::upstream::outgoing;

/// How long one request may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How large an answer may be.
const BODY_LIMIT: usize = 1 << 20;

/// The way to authorisation servers, for one MCP server.
pub(super) struct Outside {
    client: reqwest::Client,
    home: Url,
}

impl Outside {
    pub(super) fn new(home: &Url) -> Result<Arc<Self>, String> {
        // A machine without certificates can still do without TLS, if its owner does.
        let builder = outgoing::builder(true);
        let builder = if home.scheme() == "http" { builder.or_else(|_| outgoing::builder(false)) } else { builder };
        let client = builder?
            .redirect(redirect::Policy::none())
            .timeout(LIMIT)
            .dns_resolver(Arc::new(Neighbourhood { home: home.clone() }))
            .build()
            .map_err(|e| format!("the HTTP client cannot be built: {}", e.without_url()))?;
        Ok(Arc::new(Self { client, home: home.clone() }))
    }
}

impl OAuthHttpClient for Outside {
    fn execute(&self, asked: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(asked.request).map_err(Fault::from)?;
            check(&self.home, request.url())?;
            if let Some(address) = literal(request.url()) {
                let home = reach_of_home(&self.home).await;
                if !is_home(&self.home, request.url().host_str()) && !allowed(address, home) {
                    return Err(OAuthHttpClientError::from("it names an address that it must not send us to"));
                }
            }
            let mut response = self.client.execute(request).await.map_err(Fault::from)?;
            let mut answer = http::Response::builder().status(response.status()).version(response.version());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(Fault::from)? {
                if chunk.len() > BODY_LIMIT - body.len() {
                    return Err(Fault::TooLarge(BODY_LIMIT).into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok(answer.body(body)?)
        })
    }
}

/// Whether an address may be named at all by a server at `home`, wherever it leads.
pub(super) fn check(home: &Url, url: &Url) -> Result<(), String> {
    match (url.scheme(), home.scheme()) {
        ("https", _) | ("http", "http") if url.has_host() => Ok(()),
        ("http", _) if is_local(home) && is_local(url) => Ok(()),
        ("http", _) => Err("it names an address without TLS, though its own has it".into()),
        _ => Err("it names an address that is neither http nor https".into()),
    }
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

fn is_home(home: &Url, host: Option<&str>) -> bool {
    home.host_str() == host
}

/// How far away an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    World,
    Private,
    Machine,
}

/// How far away; nothing for addresses that no authorisation server has, such as those where clouds keep credentials.
fn reach(address: IpAddr) -> Option<Reach> {
    let address = match address {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => address,
        },
        IpAddr::V4(_) => address,
    };
    match address {
        _ if address.is_loopback() => Some(Reach::Machine),
        _ if address.is_unspecified() || address.is_multicast() => None,
        IpAddr::V4(v4) if v4.is_link_local() || v4.is_broadcast() || v4.octets()[0] == 0 => None,
        IpAddr::V4(v4) if v4.is_private() || is_shared(v4) => Some(Reach::Private),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => None,
        IpAddr::V6(v6) if v6.is_unique_local() => Some(Reach::Private),
        // Addresses that stand for others in IPv4: NAT64 and 6to4.
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, ..] | [0x2002, ..] | [0x2001, 0, ..] => None,
            _ => Some(Reach::World),
        },
        IpAddr::V4(_) => Some(Reach::World),
    }
}

/// Addresses that providers share out among their customers, and those for measurements.
fn is_shared(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [100, 64..=127, ..] | [198, 18 | 19, ..])
}

fn allowed(address: IpAddr, home: Reach) -> bool {
    reach(address).is_some_and(|reach| reach <= home)
}

async fn reach_of_home(home: &Url) -> Reach {
    if let Some(address) = literal(home) {
        return reach(address).unwrap_or(Reach::World);
    }
    let found = lookup(home.host_str().unwrap_or_default()).await.unwrap_or_default();
    found.iter().filter_map(|found| reach(found.ip())).max().unwrap_or(Reach::World)
}

async fn lookup(host: &str) -> std::io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((host, 0)).await?.collect())
}

/// Finds addresses by name, and keeps those that may be connected to.
struct Neighbourhood {
    home: Url,
}

impl Resolve for Neighbourhood {
    fn resolve(&self, name: Name) -> Resolving {
        let home = self.home.clone();
        Box::pin(async move {
            let mut found = lookup(name.as_str()).await?;
            if !is_home(&home, Some(name.as_str())) {
                let reach = reach_of_home(&home).await;
                found.retain(|found| allowed(found.ip(), reach));
            }
            match found.is_empty() {
                true => Err("it names a host that it must not send us to".into()),
                false => Ok(Box::new(found.into_iter()) as _),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_no_step_down_from_tls() {
        for (home, url, fine) in [
            ("https://h/mcp", "https://a/token", true),
            ("https://h/mcp", "http://a/token", false),
            ("https://h/mcp", "http://127.0.0.1/token", false),
            ("https://localhost/mcp", "http://127.0.0.1/token", true),
            ("http://h/mcp", "http://a/token", true),
            ("http://h/mcp", "https://a/token", true),
            ("http://h/mcp", "file:///etc/passwd", false),
            ("http://h/mcp", "javascript:alert(1)", false),
        ] {
            assert_eq!(check(&home.parse().unwrap(), &url.parse().unwrap()).is_ok(), fine, "{home} -> {url}");
        }
    }

    #[test]
    fn addresses_are_as_near_as_their_home_at_most() {
        for (address, world, private, machine) in [
            ("93.184.216.34", true, true, true),
            ("2606:2800::1", true, true, true),
            ("10.1.2.3", false, true, true),
            ("100.64.0.1", false, true, true),
            ("fd00::1", false, true, true),
            ("127.0.0.1", false, false, true),
            ("::1", false, false, true),
            ("::ffff:127.0.0.1", false, false, true),
            ("169.254.169.254", false, false, false),
            ("::ffff:169.254.169.254", false, false, false),
            ("fe80::1", false, false, false),
            ("0.0.0.0", false, false, false),
            ("::", false, false, false),
            ("64:ff9b::7f00:1", false, false, false),
        ] {
            let given = address.parse().unwrap();
            let seen = [Reach::World, Reach::Private, Reach::Machine].map(|home| allowed(given, home));
            assert_eq!(seen, [world, private, machine], "{address}");
        }
    }
}
