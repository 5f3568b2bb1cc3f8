//! Proxies in front of the hub: whose word about the address of a client counts. Pure.
//!
//! Anybody can send a header that names another address. The hub believes only proxies that its operator has named, only
//! the one header that these proxies write, and in it only what the last of them has added. A TCP proxy writes no header of
//! HTTP but that of the PROXY protocol (`proxy_header`); then headers of HTTP are the client's own and count for nothing.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::http::HeaderMap;

/// The proxies that the hub believes, and how they tell the address of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedProxies {
    networks: Vec<Network>,
    tell: AddressTold,
}

/// How a proxy tells the address of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressTold {
    InRequests(ForwardedHeader),
    InProxyProtocol,
}

/// The header in which a proxy tells the address of a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For: CLIENT, PROXY`
    #[default]
    XForwardedFor,
    /// `Forwarded: for=CLIENT, for=PROXY` (RFC 7239)
    Forwarded,
}

/// Whom a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedClient {
    /// From whoever made the connection.
    Itself,
    /// From the client that a proxy names.
    Address(IpAddr),
    /// From a client of a proxy that does not name it.
    Unnamed {
        /// The header that it should have written.
        header: &'static str,
    },
}

/// An address, or all addresses with the same beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither an address nor a network: write 10.1.2.3, 10.0.0.0/8 or fd00::/8")]
pub struct InvalidNetwork {
    /// The text.
    pub text: String,
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let invalid = || InvalidNetwork { text: text.to_owned() };
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| invalid()))?;
        if bits <= most { Ok(Self { address, bits }) } else { Err(invalid()) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Network {
    /// Whether every address of its kind is in it.
    pub fn is_everything(&self) -> bool {
        self.bits == 0
    }

    fn contains(&self, address: IpAddr) -> bool {
        let same = |ours: u128, theirs: u128, width: u32| {
            let rest = width - u32::from(self.bits);
            rest == width || (ours >> rest) == (theirs >> rest)
        };
        match (self.address.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => same(ours.to_bits().into(), theirs.to_bits().into(), 32),
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => same(ours.to_bits(), theirs.to_bits(), 128),
            _ => false,
        }
    }
}

impl TrustedProxies {
    /// Believes the proxies in these networks, as far as they write this header.
    pub fn new(networks: Vec<Network>, header: ForwardedHeader) -> Self {
        Self { networks, tell: AddressTold::InRequests(header) }
    }

    /// Believes the proxies in these networks, which begin every connection with the header of the PROXY protocol
    /// (version 1 or 2). The hub closes connections from there without it, and connections from elsewhere with it.
    pub fn with_proxy_protocol(networks: Vec<Network>) -> Self {
        Self { networks, tell: AddressTold::InProxyProtocol }
    }

    /// Whether proxies begin connections with the header of the PROXY protocol.
    pub(crate) fn speak_proxy_protocol(&self) -> bool {
        self.tell == AddressTold::InProxyProtocol
    }

    /// Whether an address is one of a proxy.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// The client of a request on a connection from `peer`: the last address that is not one of a proxy.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> NamedClient {
        let AddressTold::InRequests(header) = self.tell else { return NamedClient::Itself };
        if !self.trusts(peer) {
            return NamedClient::Itself;
        }
        let values: Vec<&str> =
            headers.get_all(header.name()).iter().map(|value| value.to_str().unwrap_or_default()).collect();
        let hops = values.iter().flat_map(|value| value.split(',')).map(str::trim);
        let hops: Vec<&str> = hops.collect();
        let mut client = None;
        for hop in hops.into_iter().rev() {
            let hop = match header {
                ForwardedHeader::XForwardedFor => hop,
                ForwardedHeader::Forwarded => forwarded_for(hop).unwrap_or_default(),
            };
            // What is no address ends the chain: whoever wrote it told nothing.
            let Some(address) = address_of(hop) else { break };
            client = Some(address);
            if !self.trusts(address) {
                break;
            }
        }
        client.map_or(NamedClient::Unnamed { header: header.name() }, NamedClient::Address)
    }
}

impl ForwardedHeader {
    fn name(self) -> &'static str {
        match self {
            Self::XForwardedFor => "X-Forwarded-For",
            Self::Forwarded => "Forwarded",
        }
    }
}

/// The `for` of one element of a `Forwarded` header.
fn forwarded_for(element: &str) -> Option<&str> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut nodes = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    nodes.next().map(|(_, node)| node.trim().trim_matches('"'))
}

/// An address with or without a port, IPv6 with or without brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands for a client that a proxy does not name.
    const UNNAMED: &str = "unnamed";

    fn proxies(header: ForwardedHeader) -> TrustedProxies {
        let networks = ["10.0.0.0/8", "127.0.0.1", "fd00::/8"].map(|network| network.parse().unwrap());
        TrustedProxies::new(networks.into(), header)
    }

    fn client(proxies: &TrustedProxies, peer: &str, values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            let (name, value) = value.split_once(": ").unwrap();
            let name: axum::http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        match proxies.client(peer.parse().unwrap(), &headers) {
            NamedClient::Itself => None,
            NamedClient::Address(address) => Some(address.to_string()),
            NamedClient::Unnamed { .. } => Some(UNNAMED.to_owned()),
        }
    }

    #[test]
    fn networks_are_read_and_hold_their_addresses() {
        let check =
            |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
        assert!(check("10.0.0.0/8", "10.255.0.1") && !check("10.0.0.0/8", "11.0.0.1"));
        assert!(check("10.0.0.0/8", "::ffff:10.1.1.1"), "the same address");
        assert!(check("192.0.2.7", "192.0.2.7") && !check("192.0.2.7", "192.0.2.8"));
        assert!(check("0.0.0.0/0", "203.0.113.9") && !check("0.0.0.0/0", "::1"));
        assert!(check("fd00::/8", "fd12::1") && !check("fd00::/8", "fe80::1"));
        assert!(check("::/0", "2001:db8::1"));
        for wrong in ["", "10.0.0.0/33", "10.0.0", "fd00::/129", "example.org", "10.0.0.0/-1", "10.0.0.0/x"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_a_proxy_is_believed() {
        let proxies = proxies(ForwardedHeader::XForwardedFor);
        let named = ["x-forwarded-for: 203.0.113.9"];
        assert_eq!(client(&proxies, "10.0.0.1", &named).as_deref(), Some("203.0.113.9"));
        assert_eq!(client(&proxies, "198.51.100.1", &named), None);
        assert_eq!(client(&proxies, "10.0.0.1", &[]).as_deref(), Some(UNNAMED));
    }

    #[test]
    fn behind_a_tcp_proxy_the_headers_of_requests_count_for_nothing() {
        let proxies = TrustedProxies::with_proxy_protocol(vec!["10.0.0.0/8".parse().unwrap()]);
        for named in ["x-forwarded-for: 203.0.113.9", "forwarded: for=203.0.113.9"] {
            assert_eq!(client(&proxies, "10.0.0.1", &[named]), None);
        }
    }

    #[test]
    fn the_last_address_that_is_no_proxy_counts() {
        let proxies = proxies(ForwardedHeader::XForwardedFor);
        let check = |values: &[&str], expected: Option<&str>| {
            assert_eq!(client(&proxies, "127.0.0.1", values).as_deref(), expected, "{values:?}");
        };
        // What the client itself wrote is on the left.
        check(&["x-forwarded-for: 1.1.1.1, 203.0.113.9, 10.0.0.7"], Some("203.0.113.9"));
        check(&["x-forwarded-for: 1.1.1.1", "x-forwarded-for: 203.0.113.9"], Some("203.0.113.9"));
        check(&["x-forwarded-for: 203.0.113.9:4711"], Some("203.0.113.9"));
        check(&["x-forwarded-for: [2001:db8::1]:4711"], Some("2001:db8::1"));
        check(&["x-forwarded-for: 10.0.0.3, 10.0.0.7"], Some("10.0.0.3"));
        check(&["x-forwarded-for: 1.1.1.1, nonsense, 10.0.0.7"], Some("10.0.0.7"));
        check(&["x-forwarded-for: nonsense"], Some(UNNAMED));
        check(&["forwarded: for=1.1.1.1"], Some(UNNAMED));
    }

    #[test]
    fn the_standard_header_is_read_where_the_proxies_write_it() {
        let proxies = proxies(ForwardedHeader::Forwarded);
        let check = |values: &[&str], expected: Option<&str>| {
            assert_eq!(client(&proxies, "127.0.0.1", values).as_deref(), expected, "{values:?}");
        };
        check(&["forwarded: for=1.1.1.1, For=\"203.0.113.9:4711\";proto=https;by=10.0.0.7"], Some("203.0.113.9"));
        check(&["forwarded: for=\"[2001:db8::1]:4711\""], Some("2001:db8::1"));
        check(&["forwarded: for=unknown"], Some(UNNAMED));
        check(&["forwarded: proto=https"], Some(UNNAMED));
        check(&["x-forwarded-for: 1.1.1.1"], Some(UNNAMED));
    }
}
