//! Refuses requests of foreign web pages by their `Origin` and `Host` headers. Pure.
//!
//! A web page in a browser runs on the same machine as a hub on a loopback address. Two headers reveal it: the `Origin`
//! that browsers add, and, where the name of the page was made to point to this machine (DNS rebinding), the `Host`.

use std::net::IpAddr;

/// Why a request of a web page is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OriginRefusal {
    /// The `Host` is not a name of this hub on a loopback address.
    #[error("this hub is not served under that Host: use its address, or start it with --allow-host")]
    Host,
    /// The `Origin` is another one than the hub's.
    #[error("web pages of another origin may not use this hub")]
    Origin,
}

/// Checks the two headers. `allowed` are host names (without port) of the hub besides its address.
pub(crate) fn judge(
    on_loopback: bool,
    allowed: &[String],
    host: Option<&str>,
    origin: Option<&str>,
) -> Result<(), OriginRefusal> {
    let is_allowed = |name: &str| allowed.iter().any(|a| a.eq_ignore_ascii_case(name));
    if let Some(host) = host
        && on_loopback
        && !is_loopback(name_of(host))
        && !is_allowed(name_of(host))
    {
        return Err(OriginRefusal::Host);
    }
    let Some(origin) = origin else { return Ok(()) };
    let authority = origin.split_once("://").map(|(_, authority)| authority).ok_or(OriginRefusal::Origin)?;
    let is_own = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
    if is_own || is_allowed(name_of(authority)) { Ok(()) } else { Err(OriginRefusal::Origin) }
}

/// The name or address of `host[:port]`.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => authority.split(':').next().unwrap_or(authority),
    }
}

fn is_loopback(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        || name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_ask() {
        let allowed = ["hub.example".to_owned()];
        let check = |loopback, host, origin, expected: Result<(), OriginRefusal>| {
            assert_eq!(judge(loopback, &allowed, host, origin), expected, "{loopback} {host:?} {origin:?}");
        };
        // Programs send a Host and no Origin.
        for host in ["127.0.0.1:7420", "localhost", "LOCALHOST:1", "[::1]:7420", "x.localhost:1", "hub.example"] {
            check(true, Some(host), None, Ok(()));
        }
        check(true, None, None, Ok(()));
        check(false, Some("anything.example:443"), None, Ok(()));
        // Some client libraries send the hub's own address as origin.
        check(true, Some("127.0.0.1:7420"), Some("http://127.0.0.1:7420"), Ok(()));
        check(false, Some("hub.internal"), Some("https://hub.internal"), Ok(()));
        check(true, Some("127.0.0.1:7420"), Some("https://hub.example"), Ok(()));
        // A page from elsewhere, a page on another port, a sandboxed page, a rebound name.
        check(true, Some("127.0.0.1:7420"), Some("https://evil.example"), Err(OriginRefusal::Origin));
        check(true, Some("127.0.0.1:7420"), Some("http://127.0.0.1:8000"), Err(OriginRefusal::Origin));
        check(true, Some("127.0.0.1:7420"), Some("null"), Err(OriginRefusal::Origin));
        check(false, Some("hub.internal"), Some("https://evil.example"), Err(OriginRefusal::Origin));
        check(true, Some("evil.example:7420"), Some("http://evil.example:7420"), Err(OriginRefusal::Host));
        check(true, Some("127.0.0.1.evil.example"), None, Err(OriginRefusal::Host));
    }
}
