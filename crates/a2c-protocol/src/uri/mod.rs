//! The two identifiers of A2C: `window://` names a window of the Desktop, `dpe://` a place in a document.
//!
//! A URI goes through three steps, each linear in its length: `split` cuts the text at its delimiters, `percent` and
//! [`Host`] decode and check each piece, and the type of the scheme gives the pieces their meaning. Constructors end in
//! the same checks as parsers, so a value that exists can always be written and read back as itself.
//!
//! What both schemes share:
//!
//! | matter | decision |
//! |---|---|
//! | scheme | any case is read, lower case is written |
//! | host | see [`Host`]: not empty, no userinfo, no port; the spelling is kept, comparison ignores ASCII case |
//! | segments | split first, then decoded: `c%2Fd` is one segment; written with all but `A-Z a-z 0-9 - . _ ~` encoded |
//! | `.` and `..` | ordinary text, never resolved; written `%2E` and `%2E%2E` so that fewer others resolve them |
//! | empty segments | one trailing slash means nothing; any other empty segment is refused |
//! | unencoded text | spaces and non-ASCII are read as they are; ASCII control characters are refused |
//! | broken `%` or UTF-8 | refused, never replaced |
//! | fragment | dropped and reported in [`Dropped`] |
//! | length | [`MAX_URI_BYTES`], for the text that is read and for the text that would be written |
//!
//! Nothing here logs: what was dropped is returned, and the caller who knows the context says it.

mod dpe;
mod flaw;
mod host;
mod percent;
mod split;
mod window;

pub use dpe::{
    Categories, Category, Depth, DpeDocumentUri, DpeDocumentUriError, DpeLevel, DpeQuery, DpeRule, DpeUri, DpeUriError,
    Format, UnknownCategory,
};
pub use flaw::Flaw;
pub use host::{Host, HostError, MAX_HOST_BYTES};
pub use window::{WindowUri, WindowUriError};

/// The longest URI that is read or written, in bytes.
///
/// Enough for 900 Chinese characters in their encoded form, and far below what would make an error message, a log line
/// or a table of 100,000 documents a burden.
pub const MAX_URI_BYTES: usize = 8 * 1024;

/// A URI as it was understood, and what had to be left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedUri<T> {
    /// The identifier.
    pub uri: T,
    /// What stood in the text and is no part of the identifier.
    pub dropped: Dropped,
}

/// The parts of a URI's text that its form has no place for.
///
/// They are never an error on the reading side; the caller warns when [`Dropped::is_empty`] is false.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The query without its `?`, still encoded. `Some("")` when there was a bare `?`.
    pub query: Option<String>,
    /// The fragment without its `#`, still encoded. `Some("")` when there was a bare `#`.
    pub fragment: Option<String>,
}

impl Dropped {
    /// Whether the whole text was used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.query.is_none() && self.fragment.is_none()
    }
}

/// Refuses a URI whose written form could not be read back because of its length.
fn check_written_length(uri: &impl std::fmt::Display) -> Result<(), Flaw> {
    use std::fmt::{Error, Result, Write};

    struct RemainingBytes(usize);
    impl Write for RemainingBytes {
        fn write_str(&mut self, text: &str) -> Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(Error)?;
            Ok(())
        }
    }
    write!(RemainingBytes(MAX_URI_BYTES), "{uri}").map_err(|_| Flaw::TooLong)
}

/// Makes a URI type travel as its text: `FromStr` and serde, both on top of `parse` and `Display`.
macro_rules! travels_as_text {
    ($uri:ty, $error:ty) => {
        impl std::str::FromStr for $uri {
            type Err = $error;

            /// As `parse`, for callers that do not need what was dropped.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text).map(|parsed| parsed.uri)
            }
        }

        impl serde::Serialize for $uri {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $uri {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
use travels_as_text;
