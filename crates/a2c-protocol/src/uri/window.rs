//! `window://host[/segment…]`: which window of the Desktop is meant. A pure identifier, without metadata.

use std::fmt;
use thiserror::Error;

use super::flaw::excerpt;
use super::{Flaw, Host, ParsedUri, check_written_length, percent, split, travels_as_text};

const SCHEME: &str = "window";

/// The identity of a window: a host and zero or more path segments, all decoded.
///
/// `Display` writes the canonical text, which [`WindowUri::parse`] reads back as an equal value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WindowUri {
    host: Host,
    segments: Vec<String>,
}

/// A text that is no `window://` URI, or parts that cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid window:// URI: `{found}` {flaw}; write `window://host/segment/…` with each segment percent-encoded")]
pub struct WindowUriError {
    /// What is wrong.
    pub flaw: Flaw,
    /// The refused text or piece of it, shortened.
    pub found: String,
}

impl WindowUriError {
    fn new(flaw: Flaw, found: &str) -> Self {
        Self { flaw, found: excerpt(found) }
    }
}

impl WindowUri {
    /// A window's identity from plain parts: nothing is decoded, so a segment may hold `/` or `%`.
    pub fn new<S: Into<String>>(host: Host, segments: impl IntoIterator<Item = S>) -> Result<Self, WindowUriError> {
        let segments: Vec<String> = segments.into_iter().map(Into::into).collect();
        let uri = Self { host, segments };
        uri.check().map_err(|flaw| WindowUriError::new(flaw, &uri.to_string()))?;
        Ok(uri)
    }

    /// Reads a URI. A query or fragment identifies nothing: it is dropped, and returned so that the caller can warn.
    pub fn parse(text: &str) -> Result<ParsedUri<Self>, WindowUriError> {
        let refuse = |flaw| WindowUriError::new(flaw, text);
        let pieces = split::split(text, SCHEME).map_err(refuse)?;
        let uri = Self {
            host: Host::from_authority(pieces.authority).map_err(refuse)?,
            segments: pieces.segments().map_err(refuse)?.into_iter().map(Into::into).collect(),
        };
        uri.check().map_err(refuse)?;
        let dropped = pieces.query_and_fragment();
        Ok(ParsedUri { uri, dropped })
    }

    /// The host: the name space of the MCP server that shows the window.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The decoded path segments, none of them empty.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    fn check(&self) -> Result<(), Flaw> {
        if self.segments.iter().any(String::is_empty) {
            return Err(Flaw::EmptySegment);
        }
        check_written_length(self)
    }
}

impl fmt::Display for WindowUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://")?;
        self.host.write_encoded(f)?;
        self.segments.iter().try_for_each(|segment| percent::write_segment(f, segment))
    }
}

travels_as_text!(WindowUri, WindowUriError);
