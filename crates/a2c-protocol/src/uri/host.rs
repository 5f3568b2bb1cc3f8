//! The host of `window://` and `dpe://`: one name space, by which the Computer finds the MCP server.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::fmt;
use std::hash::{Hash, Hasher};
use thiserror::Error;

use super::{Flaw, flaw::excerpt, percent};

/// The longest host, in bytes of its decoded text.
pub const MAX_HOST_BYTES: usize = 255;

/// A character check leaves nothing in a host that needs encoding but non-ASCII, which any set encodes.
const NON_ASCII_ONLY: &AsciiSet = CONTROLS;

/// The name under which an MCP server offers its windows and documents.
///
/// Reverse-domain style (`com.example.docs`) is advised, not required; [`Host::is_reverse_domain`] tells. Any Unicode
/// text without spaces, control characters and URI delimiters is a host; what is not ASCII is written percent-encoded.
///
/// The spelling is kept, because the Desktop matches windows by the text that the MCP server listed. Comparison ignores
/// ASCII case, as RFC 3986 says of hosts: `Com.Example` and `com.example` are a clash, and each finds the other's server.
#[derive(Debug, Clone)]
pub struct Host(String);

/// A text that cannot be a host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid URI host: `{found}` {flaw}; write a plain name such as `com.example.docs`")]
pub struct HostError {
    /// What is wrong.
    pub flaw: Flaw,
    /// The refused text, shortened.
    pub found: String,
}

impl Host {
    /// A host from its plain text, as a person would write it: nothing is decoded.
    pub fn new(text: impl Into<String>) -> Result<Self, HostError> {
        let text = text.into();
        match check(&text) {
            Ok(()) => Ok(Self(text)),
            Err(flaw) => Err(HostError { flaw, found: excerpt(&text) }),
        }
    }

    /// A host from the authority of a URI, which may be percent-encoded.
    pub(super) fn from_authority(authority: &str) -> Result<Self, Flaw> {
        let text = percent::decode(authority)?;
        check(&text)?;
        Ok(Self(text.into_owned()))
    }

    /// The plain text, in the spelling it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name follows the advice: three or more dot-separated labels of lower-case letters, digits and inner
    /// hyphens. Worth a hint to the author of an MCP server, never a refusal.
    #[must_use]
    pub fn is_reverse_domain(&self) -> bool {
        let is_label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        self.0.split('.').count() >= 3 && self.0.split('.').all(is_label)
    }

    /// Writes the host as it stands in a URI.
    pub(super) fn write_encoded(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", utf8_percent_encode(&self.0, NON_ASCII_ONLY))
    }
}

fn check(text: &str) -> Result<(), Flaw> {
    if text.is_empty() {
        return Err(Flaw::EmptyHost);
    }
    if text.len() > MAX_HOST_BYTES {
        return Err(Flaw::HostTooLong);
    }
    if text.contains('@') {
        return Err(Flaw::UserinfoInHost);
    }
    text.chars().try_for_each(|c| match c {
        ':' => Err(Flaw::PortInHost),
        '/' | '?' | '#' | '[' | ']' | '\\' | '%' | '<' | '>' | '^' | '|' | '"' | '{' | '}' | '`' => {
            Err(Flaw::HostCharacter)
        }
        c if c.is_control() || c.is_whitespace() => Err(Flaw::HostCharacter),
        _ => Ok(()),
    })
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Host {}

impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
        // No byte of UTF-8 is 0xFF: what is hashed next cannot run into the host.
        state.write_u8(0xFF);
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, Host, MAX_HOST_BYTES};
    use std::collections::HashSet;

    fn check(text: &str, expected: Result<(), Flaw>) {
        let outcome = Host::new(text).map(|_| ()).map_err(|error| error.flaw);
        assert_eq!(outcome, expected, "{text:?}");
    }

    #[test]
    fn a_host_is_a_name_and_nothing_more() {
        for good in ["com.example.docs", "docs", "Docs_1~x", "a!$&'()*+,;=b", "文档", "-", "."] {
            check(good, Ok(()));
        }
        check(&"h".repeat(MAX_HOST_BYTES), Ok(()));
        check(&"h".repeat(MAX_HOST_BYTES + 1), Err(Flaw::HostTooLong));
        check("", Err(Flaw::EmptyHost));
        check("user@host", Err(Flaw::UserinfoInHost));
        check("user:password@host:80", Err(Flaw::UserinfoInHost));
        check("host:80", Err(Flaw::PortInHost));
        for bad in ["[::1]", "a b", "a/b", "a?b", "a#b", "a%2Eb", "a\\b", "a\0b", "a\u{3000}b", "a\u{85}b"] {
            check(bad, Err(Flaw::HostCharacter));
        }
    }

    #[test]
    fn spelling_is_kept_and_case_is_not_compared() {
        let (shouted, plain) = (Host::new("Com.Example"), Host::new("com.example"));
        let (shouted, plain) = (shouted.expect("a host"), plain.expect("a host"));
        assert_eq!(shouted.as_str(), "Com.Example");
        assert_eq!(shouted, plain);
        assert_eq!(HashSet::from([shouted, plain]).len(), 1);
        // Only the case of ASCII is ignored: Unicode has several rules for the rest.
        assert_ne!(Host::new("É"), Host::new("é"));
    }

    #[test]
    fn reverse_domain_style_is_recognised() {
        for (text, expected) in [
            ("com.example.docs", true),
            ("io.a2c.my-docs.v2", true),
            ("docs", false),
            ("example.com", false),
            ("Com.Example.Docs", false),
            ("com.example.", false),
            ("com.-x.docs", false),
            ("com.my_org.docs", false),
        ] {
            let host = Host::new(text).expect("a host");
            assert_eq!(host.is_reverse_domain(), expected, "{text}");
        }
    }
}
