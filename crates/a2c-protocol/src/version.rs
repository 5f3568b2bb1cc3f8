//! Protocol versions: how they are written, which ones understand each other, and how a refusal reads.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The version this implementation speaks.
pub const PROTOCOL_VERSION: Version = Version::new(0, 2, 0);

/// The name of the URL query parameter that carries the version of a client.
pub const VERSION_QUERY: &str = "a2c_version";

/// The header that repeats the error code of a refused handshake, for clients that cannot read the body.
///
/// HTTP ignores the case of header names; lower case is how HTTP libraries keep them.
pub const ERROR_CODE_HEADER: &str = "x-a2c-error-code";

/// A protocol version, `MAJOR.MINOR.PATCH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// Raised when older peers can no longer take part.
    pub major: u32,
    /// Raised for additions; while MAJOR is 0, also for breaks.
    pub minor: u32,
    /// Never matters for compatibility.
    pub patch: u32,
}

impl Version {
    /// A version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Whether a server of this version serves a client of version `client`.
    pub const fn serves(self, client: Self) -> bool {
        if self.major != client.major {
            return false;
        }
        if self.major == 0 { self.minor == client.minor } else { client.minor <= self.minor }
    }

    /// The oldest client version that a server of this version serves.
    pub const fn min_supported(self) -> Self {
        if self.major == 0 { Self::new(0, self.minor, 0) } else { Self::new(self.major, 0, 0) }
    }

    /// The newest client version that a server of this version serves; 999 stands for "any patch".
    pub const fn max_supported(self) -> Self {
        Self::new(self.major, self.minor, 999)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version: write MAJOR.MINOR.PATCH, three non-negative integers, such as {PROTOCOL_VERSION}")]
pub struct InvalidVersion {
    text: String,
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidVersion { text: text.chars().take(64).collect() };
        let number = |part: Option<&str>| {
            part.filter(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|p| p.parse().ok())
                .ok_or_else(invalid)
        };
        let mut parts = text.split('.');
        let version = Self::new(number(parts.next())?, number(parts.next())?, number(parts.next())?);
        if parts.next().is_some() {
            return Err(invalid());
        }
        Ok(version)
    }
}

impl TryFrom<String> for Version {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// Why a handshake is refused; serialises to the body of the HTTP 400 that says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(into = "RefusalBody")]
#[non_exhaustive]
pub enum VersionRefusal {
    /// The client did not say which version it speaks.
    #[error("Missing a2c_version query parameter")]
    Missing,
    /// What the client said is not a version.
    #[error("Invalid a2c_version: {0}")]
    Invalid(#[from] InvalidVersion),
    /// The client speaks a version this server does not serve.
    #[error("Protocol version mismatch")]
    Mismatch {
        /// What the server speaks.
        server: Version,
        /// What the client said.
        client: Version,
    },
}

impl VersionRefusal {
    /// The code in the body (and for a mismatch in the [`ERROR_CODE_HEADER`]): 400 or 4008.
    pub const fn code(&self) -> u16 {
        match self {
            Self::Missing | Self::Invalid(_) => 400,
            Self::Mismatch { .. } => 4008,
        }
    }
}

/// The flat body of a refusal. Clients in the field compare these keys, so they are spelt out here once.
#[derive(Serialize)]
struct RefusalBody {
    code: u16,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<Version>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_version: Option<Version>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_supported: Option<Version>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_supported: Option<Version>,
}

impl From<VersionRefusal> for RefusalBody {
    fn from(refusal: VersionRefusal) -> Self {
        let (server, client) = match refusal {
            VersionRefusal::Mismatch { server, client } => (Some(server), Some(client)),
            _ => (None, None),
        };
        Self {
            code: refusal.code(),
            message: refusal.to_string(),
            server_version: server,
            client_version: client,
            min_supported: server.map(Version::min_supported),
            max_supported: server.map(Version::max_supported),
        }
    }
}

/// Judges the value of the version query of a handshake, for a server that speaks `server`.
pub fn check(server: Version, query: Option<&str>) -> Result<Version, VersionRefusal> {
    let client: Version = match query {
        None | Some("") => return Err(VersionRefusal::Missing),
        Some(text) => text.parse()?,
    };
    if server.serves(client) { Ok(client) } else { Err(VersionRefusal::Mismatch { server, client }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_plain_integers_are_a_version() {
        for text in ["0.2.0", "1.0.0", "10.20.30", "00.2.0", "4294967295.0.0"] {
            assert!(text.parse::<Version>().is_ok(), "{text}");
        }
        for text in [
            "",
            "0",
            "0.2",
            "0.2.0.0",
            "0.2.0-rc1",
            "+0.2.0",
            "0.-2.0",
            " 0.2.0",
            "0.2.0 ",
            "0..0",
            "a.b.c",
            "4294967296.0.0",
            "٠.٢.٠",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn compatibility_table() {
        let check = |server: &str, client: &str, expected: bool| {
            let (s, c): (Version, Version) = (server.parse().unwrap(), client.parse().unwrap());
            assert_eq!(s.serves(c), expected, "server {server}, client {client}");
        };
        check("0.2.0", "0.2.0", true);
        check("0.2.0", "0.2.999", true);
        check("0.2.5", "0.2.0", true);
        check("0.2.0", "0.1.0", false);
        check("0.2.0", "0.3.0", false);
        check("0.2.0", "1.2.0", false);
        check("1.3.0", "1.0.0", true);
        check("1.3.0", "1.3.7", true);
        check("1.3.0", "1.4.0", false);
        check("1.3.0", "0.3.0", false);
        check("2.0.0", "1.9.0", false);
    }

    #[test]
    fn a_mismatch_names_both_versions_and_the_range() {
        let refusal = check(PROTOCOL_VERSION, Some("0.1.9")).unwrap_err();
        assert_eq!(
            serde_json::to_value(&refusal).unwrap(),
            serde_json::json!({
                "code": 4008, "message": "Protocol version mismatch", "server_version": "0.2.0",
                "client_version": "0.1.9", "min_supported": "0.2.0", "max_supported": "0.2.999"
            })
        );
    }

    #[test]
    fn missing_and_malformed_are_400() {
        let body = |query| serde_json::to_value(check(PROTOCOL_VERSION, query).unwrap_err()).unwrap();
        let missing = serde_json::json!({"code": 400, "message": "Missing a2c_version query parameter"});
        assert_eq!(body(None), missing);
        assert_eq!(body(Some("")), missing);
        let malformed = body(Some("0.2"));
        assert_eq!(malformed["code"], 400);
        assert!(malformed["message"].as_str().unwrap().starts_with("Invalid a2c_version: "));
    }
}
