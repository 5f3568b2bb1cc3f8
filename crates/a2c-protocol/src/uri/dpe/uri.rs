//! [`DpeUri`]: a `dpe://` URI in Finder context.

use std::borrow::Cow;
use std::fmt;

use super::query::integer;
use super::{Categories, Depth, DpeQuery, DpeRule, DpeUriError, Format, SCHEME};
use crate::uri::{Dropped, Flaw, Host, ParsedUri, check_written_length, percent, split, travels_as_text};

/// What a `dpe://` URI points at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DpeLevel {
    /// Level 0: all documents of the host.
    Catalogue,
    /// Level 1: a document.
    Document {
        /// The document's key, decoded; may hold any Unicode but is not empty.
        doc_ref: String,
    },
    /// Level 2: a page of a document.
    Page {
        /// The document's key.
        doc_ref: String,
        /// The page, counted from 0.
        index: u64,
    },
    /// Level 3: an element of a document.
    Element {
        /// The document's key.
        doc_ref: String,
        /// The element's id, decoded; may hold any Unicode but is not empty.
        id: String,
    },
}

impl DpeLevel {
    /// The number of the level, 0 to 3.
    #[must_use]
    pub fn number(&self) -> u8 {
        match self {
            Self::Catalogue => 0,
            Self::Document { .. } => 1,
            Self::Page { .. } => 2,
            Self::Element { .. } => 3,
        }
    }

    /// The document, at every level but the catalogue.
    #[must_use]
    pub fn doc_ref(&self) -> Option<&str> {
        match self {
            Self::Catalogue => None,
            Self::Document { doc_ref } | Self::Page { doc_ref, .. } | Self::Element { doc_ref, .. } => Some(doc_ref),
        }
    }

    /// Gives decoded segments their meaning.
    fn from_segments(segments: &[Cow<'_, str>]) -> Result<Self, Flaw> {
        let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
        match segments[..] {
            [] => Ok(Self::Catalogue),
            [doc_ref] => Ok(Self::Document { doc_ref: doc_ref.into() }),
            [doc_ref, "pages", index] => {
                Ok(Self::Page { doc_ref: doc_ref.into(), index: integer(index).map_err(|_| Flaw::PageIndex)? })
            }
            [doc_ref, "elements", id] => Ok(Self::Element { doc_ref: doc_ref.into(), id: id.into() }),
            _ => Err(Flaw::SubPath),
        }
    }
}

/// A place in the documents of a host, and how to return it.
///
/// `Display` writes the canonical text, which [`DpeUri::parse`] reads back as an equal value: only the parameters that
/// were given, in a fixed order, without unknown ones. To forward a request, send the text that came in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DpeUri {
    host: Host,
    level: DpeLevel,
    query: DpeQuery,
}

impl DpeUri {
    /// How many documents a catalogue returns when `limit` is not given.
    pub const CATALOGUE_LIMIT: u8 = 100;
    /// How many pages a document's index returns when `limit` is not given.
    pub const PAGES_LIMIT: u8 = 20;

    /// A URI from plain parts: nothing is decoded, so a doc-ref or id may hold `/` or `%`.
    pub fn new(host: Host, level: DpeLevel, query: DpeQuery) -> Result<Self, DpeUriError> {
        let uri = Self { host, level, query };
        let id = match &uri.level {
            DpeLevel::Element { id, .. } => Some(id.as_str()),
            _ => None,
        };
        if uri.level.doc_ref() == Some("") || id == Some("") {
            let found = uri.to_string();
            return Err(DpeUriError::new(DpeRule::SubPath, Flaw::EmptySegment, &found));
        }
        uri.query.check()?;
        check_written_length(&uri).map_err(|flaw| DpeUriError::new(DpeRule::SubPath, flaw, &uri.to_string()))?;
        Ok(uri)
    }

    /// Reads a URI in Finder context. A fragment is dropped, and returned so that the caller can warn.
    pub fn parse(text: &str) -> Result<ParsedUri<Self>, DpeUriError> {
        let broken = |rule| move |flaw| DpeUriError::new(rule, flaw, text);
        let pieces = split::split(text, SCHEME).map_err(|flaw| {
            let rule = match flaw {
                Flaw::EmptyHost => DpeRule::Host,
                _ => DpeRule::Scheme,
            };
            DpeUriError::new(rule, flaw, text)
        })?;
        let host = Host::from_authority(pieces.authority).map_err(broken(DpeRule::Host))?;
        let level = pieces
            .segments()
            .and_then(|segments| DpeLevel::from_segments(&segments))
            .map_err(broken(DpeRule::SubPath))?;
        let query = pieces.query.map(DpeQuery::parse).transpose()?;
        let uri = Self::new(host, level, query.unwrap_or_default())?;
        let dropped = Dropped { query: None, fragment: pieces.fragment.map(str::to_owned) };
        Ok(ParsedUri { uri, dropped })
    }

    /// The host: the name space of the MCP server that has the document.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What it points at.
    #[must_use]
    pub fn level(&self) -> &DpeLevel {
        &self.level
    }

    /// The document, at every level but the catalogue.
    #[must_use]
    pub fn doc_ref(&self) -> Option<&str> {
        self.level.doc_ref()
    }

    /// The parameters as given. The accessors below are what a server acts on: defaults filled in, and parameters that
    /// belong to another level ignored.
    #[must_use]
    pub fn query(&self) -> &DpeQuery {
        &self.query
    }

    /// The format to answer in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.query.format.unwrap_or_default()
    }

    /// How much of a document to return; `metadata` at other levels.
    #[must_use]
    pub fn depth(&self) -> Depth {
        match self.level {
            DpeLevel::Document { .. } => self.query.depth.unwrap_or_default(),
            _ => Depth::default(),
        }
    }

    /// Where to begin: in the documents of a catalogue, the pages of a document, the rows of an element. 0 for a page.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self.level {
            DpeLevel::Page { .. } => 0,
            _ => self.query.offset.unwrap_or_default(),
        }
    }

    /// How many documents, pages or rows to return. `None`: all of them, for a page, and for an element unless given.
    #[must_use]
    pub fn limit(&self) -> Option<u8> {
        match self.level {
            DpeLevel::Catalogue => self.query.limit.or(Some(Self::CATALOGUE_LIMIT)),
            DpeLevel::Document { .. } => self.query.limit.or(Some(Self::PAGES_LIMIT)),
            DpeLevel::Page { .. } => None,
            DpeLevel::Element { .. } => self.query.limit,
        }
    }

    /// Which elements of a page to return; `None`: all.
    #[must_use]
    pub fn categories(&self) -> Option<&Categories> {
        match self.level {
            DpeLevel::Page { .. } => self.query.categories.as_ref(),
            _ => None,
        }
    }

    /// The same place with other parameters.
    pub fn with_query(&self, query: DpeQuery) -> Result<Self, DpeUriError> {
        Self::new(self.host.clone(), self.level.clone(), query)
    }

    /// The level-1 URI of the document that this one lies in, without parameters; `None` for a catalogue.
    #[must_use]
    pub fn document(&self) -> Option<Self> {
        let doc_ref = self.doc_ref()?.to_owned();
        Some(Self { host: self.host.clone(), level: DpeLevel::Document { doc_ref }, query: DpeQuery::default() })
    }
}

impl fmt::Display for DpeUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://")?;
        self.host.write_encoded(f)?;
        if let Some(doc_ref) = self.doc_ref() {
            percent::write_segment(f, doc_ref)?;
        }
        match &self.level {
            DpeLevel::Catalogue | DpeLevel::Document { .. } => {}
            DpeLevel::Page { index, .. } => write!(f, "/pages/{index}")?,
            DpeLevel::Element { id, .. } => {
                f.write_str("/elements")?;
                percent::write_segment(f, id)?;
            }
        }
        self.query.fmt(f)
    }
}

travels_as_text!(DpeUri, DpeUriError);
