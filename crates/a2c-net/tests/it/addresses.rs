//! Every special range of the IANA registries, at its first and last address, and its neighbours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use a2c_net::AddressKind;
use a2c_net::AddressKind::{
    Benchmarking, Broadcast, CloudMetadata, Documentation, LinkLocal, Loopback, Multicast, Private, Public, Reserved,
    Shared, UniqueLocal, Unspecified,
};

/// Ranges of IPv4, without gaps: first address, last address, kind.
const V4: &[(&str, &str, AddressKind)] = &[
    ("0.0.0.0", "0.0.0.0", Unspecified),
    ("0.0.0.1", "0.255.255.255", Reserved),
    ("1.0.0.0", "9.255.255.255", Public),
    ("10.0.0.0", "10.255.255.255", Private),
    ("11.0.0.0", "100.63.255.255", Public),
    ("100.64.0.0", "100.88.222.4", Shared),
    ("100.88.222.5", "100.88.222.5", CloudMetadata),
    ("100.88.222.6", "100.96.0.95", Shared),
    ("100.96.0.96", "100.96.0.96", CloudMetadata),
    ("100.96.0.97", "100.100.100.199", Shared),
    ("100.100.100.200", "100.100.100.200", CloudMetadata),
    ("100.100.100.201", "100.127.255.255", Shared),
    ("100.128.0.0", "126.255.255.255", Public),
    ("127.0.0.0", "127.255.255.255", Loopback),
    ("128.0.0.0", "168.63.129.15", Public),
    ("168.63.129.16", "168.63.129.16", CloudMetadata),
    ("168.63.129.17", "169.253.255.255", Public),
    ("169.254.0.0", "169.254.0.22", LinkLocal),
    ("169.254.0.23", "169.254.0.23", CloudMetadata),
    ("169.254.0.24", "169.254.42.41", LinkLocal),
    ("169.254.42.42", "169.254.42.42", CloudMetadata),
    ("169.254.42.43", "169.254.169.253", LinkLocal),
    ("169.254.169.254", "169.254.169.254", CloudMetadata),
    ("169.254.169.255", "169.254.170.1", LinkLocal),
    ("169.254.170.2", "169.254.170.2", CloudMetadata),
    ("169.254.170.3", "169.254.170.22", LinkLocal),
    ("169.254.170.23", "169.254.170.23", CloudMetadata),
    ("169.254.170.24", "169.254.255.255", LinkLocal),
    ("169.255.0.0", "172.15.255.255", Public),
    ("172.16.0.0", "172.31.255.255", Private),
    ("172.32.0.0", "191.255.255.255", Public),
    // Protocol assignments.
    ("192.0.0.0", "192.0.0.191", Reserved),
    ("192.0.0.192", "192.0.0.192", CloudMetadata),
    ("192.0.0.193", "192.0.0.255", Reserved),
    ("192.0.1.0", "192.0.1.255", Public),
    ("192.0.2.0", "192.0.2.255", Documentation),
    // AS112 and AMT are of the Internet.
    ("192.0.3.0", "192.80.8.123", Public),
    ("192.80.8.124", "192.80.8.124", CloudMetadata),
    ("192.80.8.125", "192.88.98.255", Public),
    ("192.88.99.0", "192.88.99.255", Reserved),
    ("192.88.100.0", "192.167.255.255", Public),
    ("192.168.0.0", "192.168.255.255", Private),
    ("192.169.0.0", "198.17.255.255", Public),
    ("198.18.0.0", "198.19.255.255", Benchmarking),
    ("198.20.0.0", "198.51.99.255", Public),
    ("198.51.100.0", "198.51.100.255", Documentation),
    ("198.51.101.0", "203.0.112.255", Public),
    ("203.0.113.0", "203.0.113.255", Documentation),
    ("203.0.114.0", "223.255.255.255", Public),
    ("224.0.0.0", "239.255.255.255", Multicast),
    ("240.0.0.0", "255.255.255.254", Reserved),
    ("255.255.255.255", "255.255.255.255", Broadcast),
];

/// Ranges of IPv6 that carry no IPv4 address.
const V6: &[(&str, &str, AddressKind)] = &[
    ("::", "::", Unspecified),
    ("::1", "::1", Loopback),
    // Between NAT64 for all and for one network, and behind it.
    ("64:ff9b:0:0:0:1::", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Reserved),
    // NAT64 of one network, with a prefix that is not known here.
    ("64:ff9b:1:0:0:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("64:ff9b:2::", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    // Discard-only, dummy prefix, not given out.
    ("100::", "100::ffff:ffff:ffff:ffff", Reserved),
    ("100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", Reserved),
    ("200::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
    // Protocol assignments: PCP, TURN, AMT, AS112, ORCHID, drones.
    ("2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking),
    ("2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", Public),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
    ("2001:db9::", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
    ("2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Public),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
    ("3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
    ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    // Segment routing.
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("5f01::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("fc00::", "fd00:42::41", UniqueLocal),
    ("fd00:42::42", "fd00:42::42", CloudMetadata),
    ("fd00:42::43", "fd00:c1::a9fe:a9fd", UniqueLocal),
    ("fd00:c1::a9fe:a9fe", "fd00:c1::a9fe:a9fe", CloudMetadata),
    ("fd00:c1::a9fe:a9ff", "fd00:100::100:1ff", UniqueLocal),
    ("fd00:100::100:200", "fd00:100::100:200", CloudMetadata),
    ("fd00:100::100:201", "fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal),
    // The services of AWS: instance metadata (::254), credentials of containers (::23), names, time.
    ("fd00:ec2::", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", CloudMetadata),
    ("fd00:ec2::23", "fd00:ec2::254", CloudMetadata),
    ("fd00:ec3::", "fd00:a9fe:a9fe::", UniqueLocal),
    ("fd00:a9fe:a9fe::1", "fd00:a9fe:a9fe::1", CloudMetadata),
    ("fd00:a9fe:a9fe::2", "fd20:ce::253", UniqueLocal),
    ("fd20:ce::254", "fd20:ce::254", CloudMetadata),
    ("fd20:ce::255", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal),
    ("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("fe80::", "fe80::a9fe:a9fd", LinkLocal),
    ("fe80::a9fe:a9fe", "fe80::a9fe:a9fe", CloudMetadata),
    ("fe80::a9fe:a9ff", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal),
    // Site-local, given up long ago.
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast),
];

fn check(address: impl Into<IpAddr>, expected: AddressKind) {
    let address = address.into();
    assert_eq!(AddressKind::of(address), expected, "{address}");
}

#[test]
fn ipv4_ranges_have_their_kinds_from_the_first_to_the_last_address() {
    let mut next = 0u64;
    for (first, last, expected) in V4 {
        let [first, last]: [Ipv4Addr; 2] = [first.parse().unwrap(), last.parse().unwrap()];
        assert_eq!(u64::from(u32::from(first)), next, "a gap before {first}");
        next = u64::from(u32::from(last)) + 1;
        check(first, *expected);
        check(last, *expected);
    }
    assert_eq!(next, 1 << 32, "the table ends before the last address");
}

#[test]
fn ipv6_ranges_have_their_kinds_from_the_first_to_the_last_address() {
    for (first, last, expected) in V6 {
        let [first, last]: [Ipv6Addr; 2] = [first.parse().unwrap(), last.parse().unwrap()];
        assert!(first <= last, "{first} {last}");
        check(first, *expected);
        check(last, *expected);
    }
}

#[test]
fn an_address_that_carries_an_ipv4_address_is_what_it_carries() {
    for (first, last, expected) in V4 {
        for address in [first, last] {
            let address: Ipv4Addr = address.parse().unwrap();
            let bits = u32::from(address);
            let (high, low) = ((bits >> 16) as u16, bits as u16);
            // `::` and `::1` are themselves; all others of the range are IPv4-compatible.
            if bits > 1 {
                check(Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low), *expected);
            }
            for carrier in [
                // Mapped, translated, NAT64 of all and of one network.
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                // 6to4, whatever its host.
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 0),
                Ipv6Addr::new(0x2002, high, low, 1, 2, 3, 4, 5),
                // Teredo: server 65.54.227.120, client inverted.
                Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 0x63bf, !high, !low),
            ] {
                check(carrier, *expected);
            }
            // Teredo: a server that is not of the Internet.
            let through = Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !0x5db8, !0xd822);
            check(through, if *expected == Public { Public } else { Reserved });
        }
    }
}

/// The two judgements that let these through as public.
#[test]
fn ipv4_compatible_addresses_are_not_taken_for_public() {
    check("::169.254.169.254".parse::<IpAddr>().unwrap(), CloudMetadata);
    check("::127.0.0.1".parse::<IpAddr>().unwrap(), Loopback);
}
