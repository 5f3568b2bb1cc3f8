//! Judging a URL by what it shows itself. Names are judged when they are looked up.

use std::net::IpAddr;

use url::{Host, Url};

use crate::{AddressKind, AddressPolicy};

/// Why a URL is refused before a connection is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlRefusal {
    /// Another scheme.
    #[error("it is neither http nor https")]
    NotHttp,
    /// There is no host in it.
    #[error("it names no host")]
    NoHost,
    /// A credential in a URL ends up in logs, and the author of the URL must not choose what is sent.
    #[error("it carries a user name or a password")]
    Credentials,
    /// Its address is of a kind that the caller does not allow.
    #[error("its address is off limits ({0})")]
    Address(AddressKind),
    /// It leads to the listener that the caller excludes.
    #[error("it leads to a listener that is off limits")]
    OffLimits,
    /// A redirect from `https` to `http`.
    #[error("it redirects from https to http")]
    NotEncrypted,
    /// One redirect after the other.
    #[error("it redirects too often")]
    TooManyRedirects,
}

/// Whether a URL may be requested, as far as it shows by itself: `http` or `https`, a host, no credential, and no address
/// that the policy does not allow.
pub fn judge_url(url: &Url, policy: AddressPolicy) -> Result<(), UrlRefusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlRefusal::NotHttp);
    }
    if !url.has_host() {
        return Err(UrlRefusal::NoHost);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlRefusal::Credentials);
    }
    match literal_address(url).map(AddressKind::of) {
        Some(kind) if !policy.allows_kind(kind) => Err(UrlRefusal::Address(kind)),
        _ => Ok(()),
    }
}

/// The address that stands in a URL in the place of a name.
pub fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// Whether a URL names this machine: `localhost`, or a loopback address. Traffic to it does not leave the machine.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_judged_by_scheme_user_and_address() {
        use AddressKind::{Broadcast, CloudMetadata, LinkLocal, Loopback, Multicast, Private, Unspecified};
        for (url, expected) in [
            ("https://docs.example.org/d", Ok(())),
            ("https://example.com/x?signature=y", Ok(())),
            ("http://93.184.216.34/d", Ok(())),
            ("http://[64:ff9b::93.184.216.34]/x", Ok(())),
            ("http://localhost/", Ok(())),
            ("file:///etc/passwd", Err(UrlRefusal::NotHttp)),
            ("ftp://docs.example.org/d", Err(UrlRefusal::NotHttp)),
            ("javascript:alert(1)", Err(UrlRefusal::NotHttp)),
            ("http://user@example.com/", Err(UrlRefusal::Credentials)),
            ("http://:secret@example.com/", Err(UrlRefusal::Credentials)),
            ("http://127.0.0.1/d", Err(UrlRefusal::Address(Loopback))),
            ("http://2130706433/d", Err(UrlRefusal::Address(Loopback))),
            ("http://0x7f.1/d", Err(UrlRefusal::Address(Loopback))),
            ("http://[::1]/d", Err(UrlRefusal::Address(Loopback))),
            ("http://10.0.0.7/", Err(UrlRefusal::Address(Private))),
            ("http://[::ffff:10.0.0.1]/d", Err(UrlRefusal::Address(Private))),
            ("http://169.254.169.254/latest", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://2852039166/latest", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://0xa9.254.169.254/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[::ffff:169.254.169.254]/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[64:ff9b::169.254.169.254]/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[2002:a9fe:a9fe::1]/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[::169.254.169.254]/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[fd00:ec2::254]/", Err(UrlRefusal::Address(CloudMetadata))),
            ("http://[fe80::1]/", Err(UrlRefusal::Address(LinkLocal))),
            ("http://0.0.0.0/", Err(UrlRefusal::Address(Unspecified))),
            ("http://[::]/", Err(UrlRefusal::Address(Unspecified))),
            ("http://224.0.0.1/", Err(UrlRefusal::Address(Multicast))),
            ("http://255.255.255.255/", Err(UrlRefusal::Address(Broadcast))),
        ] {
            assert_eq!(judge_url(&url.parse().unwrap(), AddressPolicy::PUBLIC), expected, "{url}");
        }
    }

    #[test]
    fn this_machine_is_localhost_or_a_loopback_address() {
        for (url, expected) in [
            ("http://localhost:1/", true),
            ("http://127.0.0.1", true),
            ("http://127.9.9.9", true),
            ("http://2130706433", true),
            ("http://[::1]", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://[64:ff9b::127.0.0.1]", false),
            ("http://localhost.example.org", false),
            ("http://10.0.0.1", false),
            ("http://0.0.0.0", false),
            ("file:///x", false),
        ] {
            assert_eq!(is_this_machine(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
