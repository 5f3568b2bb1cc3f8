//! [`DpeDocumentUri`]: a `dpe://` URI in document form, as `get_dpe` takes it.

use std::fmt;
use thiserror::Error;

use super::{DpeUri, DpeUriError, SCHEME};
use crate::uri::{Flaw, Host, ParsedUri, check_written_length, flaw::excerpt, percent, split, travels_as_text};

/// The identity of a whole document: a host, and a doc-ref of one or more segments.
///
/// The Computer reads with [`DpeDocumentUri::parse`], which drops query and fragment and says so; the Agent builds with
/// [`DpeDocumentUri::new`] or [`DpeDocumentUri::parse_strict`], which cannot carry them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DpeDocumentUri {
    host: Host,
    segments: Vec<String>,
}

/// A text that names no document, or parts that cannot become such a name: error 4012.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid dpe:// document URI: `{found}` {flaw}; write `dpe://host/doc-ref` with each segment percent-encoded")]
pub struct DpeDocumentUriError {
    /// What is wrong.
    pub flaw: Flaw,
    /// The refused text, shortened.
    pub found: String,
}

impl DpeDocumentUriError {
    /// The protocol's error code for it.
    pub const CODE: u16 = 4012;

    /// The `reason` of error 4012: a stable name.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.flaw.name()
    }

    fn new(flaw: Flaw, found: &str) -> Self {
        Self { flaw, found: excerpt(found) }
    }
}

impl DpeDocumentUri {
    /// A document's identity from plain parts: nothing is decoded, so a segment may hold `/` or `%`.
    pub fn new<S: Into<String>>(host: Host, doc_ref: impl IntoIterator<Item = S>) -> Result<Self, DpeDocumentUriError> {
        let segments = doc_ref.into_iter().map(Into::into).collect();
        let uri = Self { host, segments };
        uri.check().map_err(|flaw| DpeDocumentUriError::new(flaw, &uri.to_string()))?;
        Ok(uri)
    }

    /// Reads leniently: query and fragment are dropped, and returned so that the caller can warn.
    pub fn parse(text: &str) -> Result<ParsedUri<Self>, DpeDocumentUriError> {
        let refuse = |flaw| DpeDocumentUriError::new(flaw, text);
        let pieces = split::split(text, SCHEME).map_err(refuse)?;
        let uri = Self {
            host: Host::from_authority(pieces.authority).map_err(refuse)?,
            segments: pieces.segments().map_err(refuse)?.into_iter().map(Into::into).collect(),
        };
        uri.check().map_err(refuse)?;
        let dropped = pieces.query_and_fragment();
        Ok(ParsedUri { uri, dropped })
    }

    /// Reads strictly: a query or fragment is refused, so that an Agent notices before it asks.
    pub fn parse_strict(text: &str) -> Result<Self, DpeDocumentUriError> {
        let ParsedUri { uri, dropped } = Self::parse(text)?;
        let flaw = match (dropped.query, dropped.fragment) {
            (None, None) => return Ok(uri),
            (Some(_), _) => Flaw::QueryNotAllowed,
            (None, Some(_)) => Flaw::FragmentNotAllowed,
        };
        Err(DpeDocumentUriError::new(flaw, text))
    }

    /// The host: the name space of the MCP server that has the document.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The decoded segments of the doc-ref: at least one, none of them empty.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The doc-ref for people and for `doc_ref` fields: its segments joined by `/`.
    #[must_use]
    pub fn doc_ref(&self) -> String {
        self.segments.join("/")
    }

    /// The same text read in Finder context: a doc-ref of one segment is a level-1 document, one that ends in `pages/N`
    /// or `elements/ID` is a place inside a document, any other is none.
    pub fn in_finder_context(&self) -> Result<DpeUri, DpeUriError> {
        self.to_string().parse()
    }

    fn check(&self) -> Result<(), Flaw> {
        if self.segments.is_empty() {
            return Err(Flaw::NoDocument);
        }
        if self.segments.iter().any(String::is_empty) {
            return Err(Flaw::EmptySegment);
        }
        check_written_length(self)
    }
}

impl fmt::Display for DpeDocumentUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://")?;
        self.host.write_encoded(f)?;
        self.segments.iter().try_for_each(|segment| percent::write_segment(f, segment))
    }
}

travels_as_text!(DpeDocumentUri, DpeDocumentUriError);
