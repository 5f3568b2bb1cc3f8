//! The query of a `dpe://` URI: five known parameters, each checked by its own rule at every level.
//!
//! Unknown keys are ignored, so that a later protocol can add some; they are not kept. A known key twice is refused:
//! readers would disagree on which one counts. `+` is a plus, not a space.

use std::fmt;

use super::{Categories, DpeRule, DpeUriError};
use crate::uri::{Flaw, percent};

/// How the contents are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// The JSON of the document model.
    #[default]
    Json,
    /// Rendered as Markdown.
    Markdown,
    /// Rendered as plain text.
    Text,
}

impl Format {
    /// The value in the query.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Text => "text",
        }
    }
}

/// How much of a document a level-1 read returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// The metadata alone.
    #[default]
    Metadata,
    /// The metadata and a window of the page index.
    Pages,
}

impl Depth {
    /// The value in the query.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Pages => "pages",
        }
    }
}

/// The parameters as they were given; `None` is *not given*, which a default fills in
/// (see [`DpeUri::format`](super::DpeUri::format) and its neighbours).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DpeQuery {
    /// `format`, default `json`; for every level.
    pub format: Option<Format>,
    /// `depth`, default `metadata`; for documents.
    pub depth: Option<Depth>,
    /// `offset`, default 0.
    pub offset: Option<u64>,
    /// `limit`, 1 to 100; its default depends on the level.
    pub limit: Option<u8>,
    /// `categories`, default all; for pages.
    pub categories: Option<Categories>,
}

impl DpeQuery {
    /// The bounds of `limit`.
    pub const LIMITS: std::ops::RangeInclusive<u8> = 1..=100;

    /// Reads the text after `?`.
    pub(super) fn parse(text: &str) -> Result<Self, DpeUriError> {
        let mut query = Self::default();
        for pair in text.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            // A key that does not decode is certainly not a known one.
            let key = percent::decode(key).unwrap_or_default();
            query.take(&key, value).map_err(|(rule, flaw)| DpeUriError::new(rule, flaw, pair))?;
        }
        Ok(query)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), (DpeRule, Flaw)> {
        match key {
            "format" => fill(&mut self.format, value, format).map_err(|flaw| (DpeRule::Format, flaw)),
            "depth" => fill(&mut self.depth, value, depth).map_err(|flaw| (DpeRule::Depth, flaw)),
            "offset" => fill(&mut self.offset, value, integer).map_err(|flaw| (DpeRule::Offset, flaw)),
            "limit" => fill(&mut self.limit, value, limit).map_err(|flaw| (DpeRule::Limit, flaw)),
            "categories" => fill(&mut self.categories, value, categories).map_err(|flaw| (DpeRule::Categories, flaw)),
            _ => Ok(()),
        }
    }

    /// The one bound that the types do not already keep.
    pub(super) fn check(&self) -> Result<(), DpeUriError> {
        match self.limit {
            Some(limit) if !Self::LIMITS.contains(&limit) => {
                Err(DpeUriError::new(DpeRule::Limit, Flaw::OutOfRange, &format!("limit={limit}")))
            }
            _ => Ok(()),
        }
    }
}

/// Sets a parameter that was not given before.
fn fill<T>(slot: &mut Option<T>, encoded: &str, read: impl FnOnce(&str) -> Result<T, Flaw>) -> Result<(), Flaw> {
    if slot.is_some() {
        return Err(Flaw::RepeatedKey);
    }
    let value = percent::decode(encoded)?;
    if value.is_empty() {
        return Err(Flaw::EmptyValue);
    }
    *slot = Some(read(&value)?);
    Ok(())
}

fn format(value: &str) -> Result<Format, Flaw> {
    [Format::Json, Format::Markdown, Format::Text]
        .into_iter()
        .find(|format| format.name() == value)
        .ok_or(Flaw::UnknownValue)
}

fn depth(value: &str) -> Result<Depth, Flaw> {
    [Depth::Metadata, Depth::Pages].into_iter().find(|depth| depth.name() == value).ok_or(Flaw::UnknownValue)
}

fn limit(value: &str) -> Result<u8, Flaw> {
    u8::try_from(integer(value)?).ok().filter(|limit| DpeQuery::LIMITS.contains(limit)).ok_or(Flaw::OutOfRange)
}

fn categories(value: &str) -> Result<Categories, Flaw> {
    value.parse().map_err(|_| Flaw::UnknownValue)
}

/// A non-negative integer: ASCII digits and nothing else, no sign; leading zeros are allowed.
///
/// Beyond 64 bits it is out of range rather than cut down, since an altered number would name another place.
pub(super) fn integer(digits: &str) -> Result<u64, Flaw> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Flaw::NotAnInteger);
    }
    digits.parse().map_err(|_| Flaw::OutOfRange)
}

impl fmt::Display for DpeQuery {
    /// `?` and the given parameters in a fixed order, or nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = '?';
        let mut put = |key: &str, value: Option<&dyn fmt::Display>| match value {
            Some(value) => {
                write!(f, "{separator}{key}={value}")?;
                separator = '&';
                Ok(())
            }
            None => Ok(()),
        };
        put("format", self.format.map(Format::name).as_ref().map(|v| v as _))?;
        put("depth", self.depth.map(Depth::name).as_ref().map(|v| v as _))?;
        put("offset", self.offset.as_ref().map(|v| v as _))?;
        put("limit", self.limit.as_ref().map(|v| v as _))?;
        put("categories", self.categories.as_ref().map(|v| v as _))
    }
}
