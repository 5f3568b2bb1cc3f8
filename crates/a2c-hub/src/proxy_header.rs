//! The header of the PROXY protocol, by which a TCP proxy tells the address of a client. Pure.
//!
//! It is the first thing on a connection, before TLS: in version 1 a line of text, in version 2 a signature, four bytes
//! and as many more as these announce.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The beginning of a header of version 1.
pub(crate) const BEGIN_V1: &[u8] = b"PROXY ";

/// The beginning of a header of version 2.
pub(crate) const SIGNATURE_V2: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// The longest header of version 1, with its line end.
pub(crate) const MAX_V1: usize = 107;

/// The most bytes after the head of version 2: addresses, and what a proxy adds about its TLS.
pub(crate) const MAX_V2: usize = 4096;

/// The bytes of a header cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the header of the PROXY protocol is malformed")]
pub(crate) struct MalformedHeader;

/// Whether bytes begin a header; undecided where they are too few.
pub(crate) fn begins_header(bytes: &[u8]) -> Option<bool> {
    let begins = |start: &[u8]| bytes.starts_with(start);
    let may_begin = |start: &[u8]| start.starts_with(bytes);
    if begins(BEGIN_V1) || begins(SIGNATURE_V2) {
        return Some(true);
    }
    if may_begin(BEGIN_V1) || may_begin(SIGNATURE_V2) { None } else { Some(false) }
}

/// The address of the client in a line of version 1; `None` where the proxy does not know it.
pub(crate) fn parse_v1(line: &[u8]) -> Result<Option<SocketAddr>, MalformedHeader> {
    let line = line.strip_suffix(b"\r\n").and_then(|line| line.strip_prefix(BEGIN_V1)).ok_or(MalformedHeader)?;
    let words: Vec<&str> = str::from_utf8(line).map_err(|_| MalformedHeader)?.split(' ').collect();
    match *words {
        ["UNKNOWN", ..] => Ok(None),
        ["TCP4", client, hub, port, hub_port] => client_v1::<Ipv4Addr>([client, hub], [port, hub_port]),
        ["TCP6", client, hub, port, hub_port] => client_v1::<Ipv6Addr>([client, hub], [port, hub_port]),
        _ => Err(MalformedHeader),
    }
}

fn client_v1<A: FromStr + Into<IpAddr>>(
    addresses: [&str; 2],
    ports: [&str; 2],
) -> Result<Option<SocketAddr>, MalformedHeader> {
    let address = |text: &str| text.parse::<A>().map(Into::into).map_err(|_| MalformedHeader);
    let port = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u16>().ok()).flatten().ok_or(MalformedHeader)
    };
    let ([client, _], [port, _]) =
        ([address(addresses[0])?, address(addresses[1])?], [port(ports[0])?, port(ports[1])?]);
    Ok(Some(SocketAddr::new(client, port)))
}

/// The address of the client in a header of version 2: the two bytes after the signature, and what follows their length.
/// `None` where the connection is the proxy's own, or the client has no address that fits.
pub(crate) fn parse_v2([command, family]: [u8; 2], rest: &[u8]) -> Result<Option<SocketAddr>, MalformedHeader> {
    match command {
        // LOCAL: a check by the proxy itself, whatever else it says.
        0x20 => return Ok(None),
        0x21 => {}
        _ => return Err(MalformedHeader),
    }
    let port = |at: usize| rest.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    let client: Option<(IpAddr, u16)> = match family {
        // TCP over IPv4 and IPv6: the addresses of client and hub, then their ports.
        0x11 => {
            rest.first_chunk::<4>().zip(port(8)).filter(|_| rest.len() >= 12).map(|(ip, port)| ((*ip).into(), port))
        }
        0x21 => {
            rest.first_chunk::<16>().zip(port(32)).filter(|_| rest.len() >= 36).map(|(ip, port)| ((*ip).into(), port))
        }
        // Not specified, datagrams, sockets of the file system.
        0x00 | 0x12 | 0x22 | 0x31 | 0x32 => return Ok(None),
        _ => None,
    };
    client.map(|client| Some(client.into())).ok_or(MalformedHeader)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_names_the_client() {
        let check = |line: &str, expected: Result<Option<&str>, MalformedHeader>| {
            let found = parse_v1(line.as_bytes()).map(|client| client.map(|client| client.to_string()));
            assert_eq!(found, expected.map(|client| client.map(str::to_owned)), "{line:?}");
        };
        check("PROXY TCP4 203.0.113.9 10.0.0.1 4711 443\r\n", Ok(Some("203.0.113.9:4711")));
        check("PROXY TCP6 2001:db8::1 fd00::1 4711 443\r\n", Ok(Some("[2001:db8::1]:4711")));
        check("PROXY UNKNOWN\r\n", Ok(None));
        check("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", Ok(None));
        for wrong in [
            "",
            "PROXY",
            "PROXY \r\n",
            "PROXY TCP4\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 4711 443",
            "PROXY TCP4 203.0.113.9 10.0.0.1 4711 443\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 4711\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 4711 443 x\r\n",
            "PROXY TCP4  203.0.113.9 10.0.0.1 4711 443\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 +4711 443\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 65536 443\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1 -1 443\r\n",
            "PROXY TCP4 203.0.113.9 10.0.0.1  443\r\n",
            "PROXY TCP4 203.0.113 10.0.0.1 4711 443\r\n",
            "PROXY TCP4 2001:db8::1 fd00::1 4711 443\r\n",
            "PROXY TCP6 203.0.113.9 10.0.0.1 4711 443\r\n",
            "PROXY TCP4 203.0.113.9 nobody 4711 443\r\n",
            "PROXY UDP4 203.0.113.9 10.0.0.1 4711 443\r\n",
            "proxy TCP4 203.0.113.9 10.0.0.1 4711 443\r\n",
            "PROXY UNKNOWNX\r\n",
        ] {
            check(wrong, Err(MalformedHeader));
        }
        assert_eq!(parse_v1(b"PROXY TCP4 \xff 10.0.0.1 1 2\r\n"), Err(MalformedHeader));
    }

    #[test]
    fn bytes_name_the_client() {
        let v4 = [203, 0, 113, 9, 10, 0, 0, 1, 0x12, 0x67, 1, 187];
        let mut v6 = [0; 36];
        v6[..4].copy_from_slice(&[0x20, 1, 0x0d, 0xb8]);
        v6[32..34].copy_from_slice(&[0x12, 0x67]);
        let with_more = [&v4[..], &[4, 0, 1, 7]].concat();
        let client = |text: &str| Ok(Some(text.parse().unwrap()));
        for (head, rest, expected) in [
            ([0x21, 0x11], &v4[..], client("203.0.113.9:4711")),
            ([0x21, 0x11], &with_more, client("203.0.113.9:4711")),
            ([0x21, 0x21], &v6, client("[2001:db8::]:4711")),
            ([0x20, 0x11], &v4, Ok(None)),
            ([0x20, 0x00], &[], Ok(None)),
            ([0x20, 0xff], &[1, 2, 3], Ok(None)),
            ([0x21, 0x00], &[], Ok(None)),
            ([0x21, 0x31], &[0; 216], Ok(None)),
            ([0x21, 0x12], &v4, Ok(None)),
            ([0x21, 0x11], &v4[..11], Err(MalformedHeader)),
            ([0x21, 0x21], &v6[..35], Err(MalformedHeader)),
            ([0x21, 0x11], &[], Err(MalformedHeader)),
            ([0x21, 0x41], &v4, Err(MalformedHeader)),
            ([0x21, 0x13], &v4, Err(MalformedHeader)),
            ([0x22, 0x11], &v4, Err(MalformedHeader)),
            ([0x11, 0x11], &v4, Err(MalformedHeader)),
            ([0x31, 0x11], &v4, Err(MalformedHeader)),
        ] {
            assert_eq!(parse_v2(head, rest), expected, "{head:?} {rest:?}");
        }
    }

    #[test]
    fn a_header_is_known_by_its_beginning() {
        for (bytes, expected) in [
            (&b""[..], None),
            (b"P", None),
            (b"PROXY", None),
            (b"PROXY ", Some(true)),
            (b"PROXY TCP4", Some(true)),
            (b"PO", Some(false)),
            (b"GET / HTTP/1", Some(false)),
            (b"\x16\x03\x01", Some(false)),
            (b"\r\n", None),
            (b"\r\n\r\n\0\r\nQUIT\n", Some(true)),
            (b"\r\nGET", Some(false)),
        ] {
            assert_eq!(begins_header(bytes), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(line in proptest::collection::vec(any::<u8>(), 0..MAX_V1), head: [u8; 2], rest in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse_v1(&[BEGIN_V1, &line, b"\r\n"].concat());
            let _ = parse_v2(head, &rest);
            let _ = begins_header(&rest);
        }

        #[test]
        fn every_address_comes_back(client: std::net::SocketAddrV4, text: std::net::SocketAddrV6) {
            let line = format!("PROXY TCP4 {} 127.0.0.1 {} 1\r\n", client.ip(), client.port());
            prop_assert_eq!(parse_v1(line.as_bytes()), Ok(Some(client.into())));
            let rest = [&client.ip().octets()[..], &[127, 0, 0, 1], &client.port().to_be_bytes(), &[0, 1]].concat();
            prop_assert_eq!(parse_v2([0x21, 0x11], &rest), Ok(Some(client.into())));
            let line = format!("PROXY TCP6 {} ::1 {} 1\r\n", text.ip(), text.port());
            let expected = SocketAddr::new((*text.ip()).into(), text.port());
            prop_assert_eq!(parse_v1(line.as_bytes()), Ok(Some(expected)));
        }
    }
}
