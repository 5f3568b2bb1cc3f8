//! What an IP address is, by the special-purpose registries of IANA.
//!
//! An IPv6 address that carries an IPv4 address for a gateway is what the carried address is: that is where a connection
//! ends.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressKind {
    /// Of the Internet at large.
    Public,
    /// This machine: `127.0.0.0/8`, `::1`.
    Loopback,
    /// A private network: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16`.
    Private,
    /// A private network in IPv6: `fc00::/7`.
    UniqueLocal,
    /// Behind the address translation of a provider: `100.64.0.0/10`.
    Shared,
    /// Test networks for measurements: `198.18.0.0/15`, `2001:2::/48`.
    Benchmarking,
    /// The same cable or radio: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// Where a cloud gives credentials to its machines, such as `169.254.169.254`.
    CloudMetadata,
    /// A group of receivers: `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// Everything on the link: `255.255.255.255`.
    Broadcast,
    /// Examples in texts: `192.0.2.0/24`, `198.51.100.0/24`, `203.0.113.0/24`, `2001:db8::/32`, `3fff::/20`.
    Documentation,
    /// No address yet: `0.0.0.0`, `::`. Linux takes it for this machine.
    Unspecified,
    /// Everything else that is set aside, or not given out: `0.0.0.0/8`, `192.0.0.0/24`, `240.0.0.0/4`, IPv6 outside of
    /// `2000::/3` …
    Reserved,
}

/// IPv4 addresses at which clouds serve credentials or configuration to their machines. Some lie outside of the
/// link-local range.
const METADATA_V4: [Ipv4Addr; 11] = [
    // AWS, Google, Azure, Oracle, OpenStack and most others.
    Ipv4Addr::new(169, 254, 169, 254),
    // AWS: credentials of containers.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Tencent.
    Ipv4Addr::new(169, 254, 0, 23),
    // Scaleway.
    Ipv4Addr::new(169, 254, 42, 42),
    // Tencent, inside of its own network.
    Ipv4Addr::new(100, 88, 222, 5),
    // Volcengine.
    Ipv4Addr::new(100, 96, 0, 96),
    // Alibaba.
    Ipv4Addr::new(100, 100, 100, 200),
    // Azure: the host's agent.
    Ipv4Addr::new(168, 63, 129, 16),
    // Oracle.
    Ipv4Addr::new(192, 0, 0, 192),
    // Equinix Metal.
    Ipv4Addr::new(192, 80, 8, 124),
];

/// The same in IPv6. The services of AWS have a range of their own, `fd00:ec2::/32`.
const METADATA_V6: [Ipv6Addr; 6] = [
    // Google.
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    // Scaleway.
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    // Oracle.
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    // Alibaba.
    Ipv6Addr::new(0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200),
    // Akamai.
    Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1),
    // OpenStack.
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

impl AddressKind {
    /// Every kind, for lists and tests.
    pub const ALL: [Self; 13] = [
        Self::Public,
        Self::Loopback,
        Self::Private,
        Self::UniqueLocal,
        Self::Shared,
        Self::Benchmarking,
        Self::LinkLocal,
        Self::CloudMetadata,
        Self::Multicast,
        Self::Broadcast,
        Self::Documentation,
        Self::Unspecified,
        Self::Reserved,
    ];

    /// Judges an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> AddressKind {
    if METADATA_V4.contains(&address) {
        return AddressKind::CloudMetadata;
    }
    match address.octets() {
        [0, 0, 0, 0] => AddressKind::Unspecified,
        [255, 255, 255, 255] => AddressKind::Broadcast,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressKind::Private,
        [100, 64..=127, ..] => AddressKind::Shared,
        [127, ..] => AddressKind::Loopback,
        [169, 254, ..] => AddressKind::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressKind::Documentation,
        [198, 18 | 19, ..] => AddressKind::Benchmarking,
        [224..=239, ..] => AddressKind::Multicast,
        // This network; protocol assignments; the former relays of 6to4; class E.
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressKind::Reserved,
        _ => AddressKind::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> AddressKind {
    if METADATA_V6.contains(&address) {
        return AddressKind::CloudMetadata;
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressKind::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressKind::Loopback,
        // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64 of all and of one network.
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, 0, 0, 0, high, low]
        // 6to4.
        | [0x2002, high, low, ..] => of_v4(v4(high, low)),
        // Teredo: the address of its server, and at the end that of the client with every bit inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => match of_v4(v4(server_high, server_low)) {
            AddressKind::Public => of_v4(v4(!high, !low)),
            _ => AddressKind::Reserved,
        },
        [0x2001, 2, 0, ..] => AddressKind::Benchmarking,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressKind::Documentation,
        // Protocol assignments.
        [0x2001, 0..=0x1ff, ..] => AddressKind::Reserved,
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        [0xfd00, 0xec2, ..] => AddressKind::CloudMetadata,
        [0xfc00..=0xfdff, ..] => AddressKind::UniqueLocal,
        [0xfe80..=0xfebf, ..] => AddressKind::LinkLocal,
        [0xff00..=0xffff, ..] => AddressKind::Multicast,
        _ => AddressKind::Reserved,
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::UniqueLocal => "unique-local",
            Self::Shared => "shared",
            Self::Benchmarking => "benchmarking",
            Self::LinkLocal => "link-local",
            Self::CloudMetadata => "cloud metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Unspecified => "unspecified",
            Self::Reserved => "reserved",
        })
    }
}
