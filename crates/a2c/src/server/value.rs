//! The types of single settings, with the same rules and messages for flags, the environment and the file.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use a2c_settings::{NotInRange, integer};
use clap::ValueEnum;

/// A whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounded<const MIN: u64, const MAX: u64>(u64);

/// Seconds of something that has to end at some time.
pub(crate) type PositiveSeconds = Bounded<1, 3600>;
/// Seconds of something that can be left out: 0.
pub(crate) type SecondsOrNone = Bounded<0, 86_400>;
/// The size of a message.
pub(crate) type MessageBytes = Bounded<1024, { 1 << 30 }>;
/// The size of what waits in memory.
pub(crate) type BacklogBytes = Bounded<65_536, { 1 << 36 }>;
/// How many there may be.
pub(crate) type Count = Bounded<1, 100_000_000>;
/// How many there may be, if any.
pub(crate) type CountOrNone = Bounded<0, 65_536>;

impl<const MIN: u64, const MAX: u64> Bounded<MIN, MAX> {
    /// As what the hub counts in.
    pub(crate) fn count(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// As a time.
    pub(crate) fn seconds(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<u64> for Bounded<MIN, MAX> {
    type Error = NotInRange;

    fn try_from(number: u64) -> Result<Self, NotInRange> {
        let outside = NotInRange { min: MIN.into(), max: MAX.into() };
        (MIN..=MAX).contains(&number).then_some(Self(number)).ok_or(outside)
    }
}

impl<const MIN: u64, const MAX: u64> FromStr for Bounded<MIN, MAX> {
    type Err = NotInRange;

    fn from_str(text: &str) -> Result<Self, NotInRange> {
        integer::parse(text, MIN..=MAX).map(Self)
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Display for Bounded<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A limit that can be switched off, with `0` or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cap(pub(crate) Option<u32>);

/// The text is no limit.
#[derive(Debug, thiserror::Error)]
#[error("write a whole number, or `off`")]
pub(crate) struct NoCap;

impl From<u32> for Cap {
    fn from(number: u32) -> Self {
        Self((number > 0).then_some(number))
    }
}

impl FromStr for Cap {
    type Err = NoCap;

    fn from_str(text: &str) -> Result<Self, NoCap> {
        if text == "off" { Ok(Self(None)) } else { text.parse::<u32>().map(Self::from).map_err(|_| NoCap) }
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("off"),
        }
    }
}

/// A share of a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio(f64);

/// The number is no share.
#[derive(Debug, thiserror::Error)]
#[error("write a number from 0 to 1, such as 0.1")]
pub(crate) struct NoRatio;

impl Ratio {
    /// Everything.
    pub(crate) const ALL: Self = Self(1.0);
    /// The shares that there are.
    pub(crate) const RANGE: RangeInclusive<f64> = 0.0..=1.0;

    /// From 0 to 1.
    pub(crate) fn share(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Ratio {
    type Error = NoRatio;

    fn try_from(share: f64) -> Result<Self, NoRatio> {
        Self::RANGE.contains(&share).then_some(Self(share)).ok_or(NoRatio)
    }
}

impl FromStr for Ratio {
    type Err = NoRatio;

    fn from_str(text: &str) -> Result<Self, NoRatio> {
        text.parse::<f64>().map_err(|_| NoRatio)?.try_into()
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How clients prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthKind {
    /// Every client may connect; on a loopback address only.
    None,
    /// Clients with a token.
    Token,
    /// Clients with a signed token that states what it allows.
    Jwt,
    /// Clients with a certificate of --client-ca.
    Mtls,
}

impl AuthKind {
    /// Their names in the file, on the command line and in messages.
    pub(crate) const NAMES: [(&str, Self); 4] =
        [("none", Self::None), ("token", Self::Token), ("jwt", Self::Jwt), ("mtls", Self::Mtls)];
}

impl fmt::Display for AuthKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name))
    }
}

/// The header in which a proxy says whose address a client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForwardedBy {
    /// X-Forwarded-For.
    XForwardedFor,
    /// Forwarded (RFC 7239).
    Forwarded,
}

impl ForwardedBy {
    /// Their names in the file, on the command line and in messages.
    pub(crate) const NAMES: [(&str, Self); 2] =
        [("x-forwarded-for", Self::XForwardedFor), ("forwarded", Self::Forwarded)];
}

impl fmt::Display for ForwardedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(_, header)| header == self).map_or("", |(name, _)| name))
    }
}

/// The text is no address to listen on.
#[derive(Debug, thiserror::Error)]
#[error("write ADDR:PORT, such as 127.0.0.1:7420, or 0.0.0.0:7420 to be reached from other machines")]
pub(crate) struct NoAddress;

/// An address to listen on. Of all names only `localhost` means the same everywhere.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, NoAddress> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse::<u16>().ok());
    match local {
        Some(port) => Ok(([127, 0, 0, 1], port).into()),
        None => text.parse().map_err(|_| NoAddress),
    }
}

/// Whether a text is a host by which a hub can be asked for: a name or an address, and no more.
pub(crate) fn is_host(text: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    text.parse::<IpAddr>().is_ok() || text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds_and_caps_can_be_off() {
        for (text, ok) in [("1", true), ("3600", true), ("0", false), ("3601", false), ("-1", false), ("x", false)] {
            assert_eq!(text.parse::<PositiveSeconds>().is_ok(), ok, "{text}");
        }
        let told = "9".parse::<MessageBytes>().unwrap_err().to_string();
        assert_eq!(told, "write a whole number from 1024 to 1073741824");
        for (text, cap) in [("0", Some(None)), ("off", Some(None)), ("7", Some(Some(7))), ("-1", None), ("Off", None)] {
            assert_eq!(text.parse::<Cap>().ok().map(|cap| cap.0), cap, "{text}");
        }
        for (text, ok) in [("0", true), ("1", true), ("0.25", true), ("1.1", false), ("-0.1", false), ("NaN", false)] {
            assert_eq!(text.parse::<Ratio>().is_ok(), ok, "{text}");
        }
    }

    #[test]
    fn addresses_have_a_port_and_localhost_is_one() {
        for (text, address) in [
            ("127.0.0.1:1", Some("127.0.0.1:1")),
            ("localhost:17999", Some("127.0.0.1:17999")),
            ("[::1]:1", Some("[::1]:1")),
            ("localhost", None),
            ("localhost:x", None),
            (":17999", None),
            ("17999", None),
            ("hub.example.org:443", None),
        ] {
            let found = listen_address(text).map(|address| address.to_string()).map_err(|error| error.to_string());
            match address {
                Some(address) => assert_eq!(found.as_deref(), Ok(address)),
                None => assert!(found.unwrap_err().contains("127.0.0.1:7420"), "{text}"),
            }
        }
    }

    #[test]
    fn a_host_has_neither_scheme_nor_port_nor_path() {
        for (text, ok) in [
            ("hub.example.org", true),
            ("hub", true),
            ("10.0.0.7", true),
            ("::1", true),
            ("https://x/", false),
            ("hub.example.org:443", false),
            ("hub/x", false),
            ("*.example.org", false),
            ("hub..org", false),
            ("", false),
        ] {
            assert_eq!(is_host(text), ok, "{text}");
        }
    }
}
