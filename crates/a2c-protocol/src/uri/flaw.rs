//! The named reasons for which a URI is refused, shared by all forms.

use thiserror::Error;

/// What is wrong with a URI or a piece of it.
///
/// [`Flaw::name`] is stable and meant for machines (it is the `reason` of error 4012); the `Display` text is a clause
/// that follows the offending text in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// Longer than [`MAX_URI_BYTES`](super::MAX_URI_BYTES), as read or as it would be written.
    #[error("is longer than {} bytes", super::MAX_URI_BYTES)]
    TooLong,
    /// Another scheme, or none.
    #[error("has another scheme")]
    WrongScheme,
    /// No `//`, or nothing between it and the path.
    #[error("has no host")]
    EmptyHost,
    /// Longer than [`MAX_HOST_BYTES`](super::MAX_HOST_BYTES).
    #[error("is a host of more than {} bytes", super::MAX_HOST_BYTES)]
    HostTooLong,
    /// `user@host`: an identifier carries no credentials.
    #[error("has user information before the host")]
    UserinfoInHost,
    /// `host:1234`: an identifier is no network address.
    #[error("has a port after the host")]
    PortInHost,
    /// A delimiter, a space or a control character in the host.
    #[error("has a character that no host may hold")]
    HostCharacter,
    /// A `%` without two hexadecimal digits after it.
    #[error("has a `%` that is not followed by two hexadecimal digits")]
    PercentEncoding,
    /// Percent-encoded bytes that are not UTF-8.
    #[error("does not decode to UTF-8")]
    NotUtf8,
    /// An ASCII control character that is not percent-encoded.
    #[error("has a control character that is not percent-encoded")]
    ControlCharacter,
    /// Two slashes in a row in the path, or an empty segment given to a constructor.
    #[error("has an empty path segment")]
    EmptySegment,
    /// Something after the document that is neither a page nor an element.
    #[error("is neither a page nor an element of a document")]
    SubPath,
    /// `pages/` with something other than a non-negative integer.
    #[error("is no page index")]
    PageIndex,
    /// A query key without a value.
    #[error("has no value")]
    EmptyValue,
    /// A query value that is not in its list.
    #[error("is not a known value")]
    UnknownValue,
    /// A query value that should be a non-negative integer.
    #[error("is not a non-negative integer")]
    NotAnInteger,
    /// An integer outside its bounds.
    #[error("is out of range")]
    OutOfRange,
    /// A known query key that was there before.
    #[error("is given a second time")]
    RepeatedKey,
    /// A catalogue where a document is needed.
    #[error("names no document")]
    NoDocument,
    /// A query where the strict form allows none.
    #[error("has a query, which a document's identifier cannot carry")]
    QueryNotAllowed,
    /// A fragment where the strict form allows none.
    #[error("has a fragment, which a document's identifier cannot carry")]
    FragmentNotAllowed,
}

impl Flaw {
    /// The stable name in `snake_case`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::WrongScheme => "wrong_scheme",
            Self::EmptyHost => "empty_host",
            Self::HostTooLong => "host_too_long",
            Self::UserinfoInHost => "userinfo_in_host",
            Self::PortInHost => "port_in_host",
            Self::HostCharacter => "host_character",
            Self::PercentEncoding => "percent_encoding",
            Self::NotUtf8 => "not_utf8",
            Self::ControlCharacter => "control_character",
            Self::EmptySegment => "empty_segment",
            Self::SubPath => "sub_path",
            Self::PageIndex => "page_index",
            Self::EmptyValue => "empty_value",
            Self::UnknownValue => "unknown_value",
            Self::NotAnInteger => "not_an_integer",
            Self::OutOfRange => "out_of_range",
            Self::RepeatedKey => "repeated_key",
            Self::NoDocument => "no_document",
            Self::QueryNotAllowed => "query_not_allowed",
            Self::FragmentNotAllowed => "fragment_not_allowed",
        }
    }
}

/// The offending text, fit for a message that goes back over the wire or into a log: short, printable, and without the
/// credentials that someone may have put before the host.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    let (before, after) = without_userinfo(text);
    let mut rest = before.chars().chain(after.chars());
    let mut shown: String =
        rest.by_ref().take(SHOWN_CHARS).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The text around `user:password` of a URI of any scheme.
fn without_userinfo(text: &str) -> (&str, &str) {
    let Some(start) = text.find("//").map(|at| at + 2) else {
        return (text, "");
    };
    let authority = text[start..].split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => (&text[..start], &text[start + at..]),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_is_short_and_printable() {
        assert_eq!(excerpt("a\nb"), "a\u{FFFD}b");
        assert_eq!(excerpt(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(excerpt(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }

    #[test]
    fn an_excerpt_shows_no_credentials() {
        assert_eq!(excerpt("https://me:pa@ss@h/x@y"), "https://@h/x@y");
        assert_eq!(excerpt("dpe://me@"), "dpe://@");
        assert_eq!(excerpt("dpe://h/me@home?a@b#c@d"), "dpe://h/me@home?a@b#c@d");
    }
}
