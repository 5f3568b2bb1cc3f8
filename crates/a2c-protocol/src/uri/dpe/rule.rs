//! The eight rules of `dpe://` in Finder context, and the error that names the broken one.

use std::fmt;
use thiserror::Error;

use crate::uri::{Flaw, flaw::excerpt};

/// One of the eight rules. Its number is part of the protocol: it goes out as `rule` with error 4204.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DpeRule {
    /// 1: the scheme is `dpe`.
    Scheme = 1,
    /// 2: the host is not empty (and can be a host at all).
    Host = 2,
    /// 3: the path is nothing, a document, or a document with `pages/N` or `elements/ID`.
    SubPath = 3,
    /// 4: `format`.
    Format = 4,
    /// 5: `depth`.
    Depth = 5,
    /// 6: `offset`.
    Offset = 6,
    /// 7: `limit`.
    Limit = 7,
    /// 8: `categories`.
    Categories = 8,
}

impl DpeRule {
    /// All rules, in order.
    pub const ALL: [Self; 8] = [
        Self::Scheme,
        Self::Host,
        Self::SubPath,
        Self::Format,
        Self::Depth,
        Self::Offset,
        Self::Limit,
        Self::Categories,
    ];

    /// The number, 1 to 8.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What to write so that the rule holds.
    #[must_use]
    pub fn expected(self) -> &'static str {
        match self {
            Self::Scheme => "a URI that begins with `dpe://`",
            Self::Host => "a host after `dpe://`, such as `com.example.docs`, without user or port",
            Self::SubPath => {
                "`/doc-ref`, `/doc-ref/pages/N` or `/doc-ref/elements/ID`, each part percent-encoded (`/` inside one is `%2F`)"
            }
            Self::Format => "`format=json`, `format=markdown` or `format=text`, once",
            Self::Depth => "`depth=metadata` or `depth=pages`, once",
            Self::Offset => "`offset=` and an integer of 0 or more, once",
            Self::Limit => "`limit=` and an integer from 1 to 100, once",
            Self::Categories => "`categories=` and a comma list of element types such as `table,chart`, once",
        }
    }
}

impl fmt::Display for DpeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.number())
    }
}

/// A text that is no `dpe://` URI in Finder context, or parts that cannot become one: error 4204.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DpeUriError {
    /// One of the eight rules does not hold.
    #[error("invalid dpe:// URI, {rule}: `{found}` {flaw}; write {}", rule.expected())]
    Broken {
        /// Which rule.
        rule: DpeRule,
        /// What is wrong.
        flaw: Flaw,
        /// The refused text or piece of it, shortened.
        found: String,
    },
    /// The URI is longer than [`MAX_URI_BYTES`](crate::uri::MAX_URI_BYTES). No numbered rule says so.
    #[error("invalid dpe:// URI: `{found}` {}; use a shorter doc-ref or element id", Flaw::TooLong)]
    TooLong {
        /// The beginning of the refused text.
        found: String,
    },
}

impl DpeUriError {
    /// The protocol's error code for it.
    pub const CODE: u16 = 4204;

    /// `found` broke `rule`, or is simply too long.
    pub(super) fn new(rule: DpeRule, flaw: Flaw, found: &str) -> Self {
        let found = excerpt(found);
        match flaw {
            Flaw::TooLong => Self::TooLong { found },
            _ => Self::Broken { rule, flaw, found },
        }
    }

    /// The broken rule; none when the URI was only too long.
    #[must_use]
    pub fn rule(&self) -> Option<DpeRule> {
        match self {
            Self::Broken { rule, .. } => Some(*rule),
            Self::TooLong { .. } => None,
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn flaw(&self) -> Flaw {
        match self {
            Self::Broken { flaw, .. } => *flaw,
            Self::TooLong { .. } => Flaw::TooLong,
        }
    }

    /// The refused text or piece of it, shortened.
    #[must_use]
    pub fn found(&self) -> &str {
        match self {
            Self::Broken { found, .. } | Self::TooLong { found } => found,
        }
    }
}
