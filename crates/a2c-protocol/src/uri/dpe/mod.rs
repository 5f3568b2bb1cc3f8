//! `dpe://host[/doc-ref[/pages/N | /elements/ID]][?query]`: a place in a document, in two readings.
//!
//! - *Finder context* ([`DpeUri`]): four levels and a query, governed by eight numbered rules ([`DpeRule`]). The doc-ref
//!   is **one** segment; a slash inside it is written `%2F`. A broken rule is error 4204.
//! - *Document form* ([`DpeDocumentUri`], for `get_dpe`): the whole path is the doc-ref, in one or more segments, and
//!   there is no query. Broken is error 4012.
//!
//! The same text can be both: `dpe://host/a/pages/3` is page 3 of `a` in Finder context and the document `a/pages/3` in
//! document form.

mod category;
mod document;
mod query;
mod rule;
mod uri;

pub use category::{Categories, Category, UnknownCategory};
pub use document::{DpeDocumentUri, DpeDocumentUriError};
pub use query::{Depth, DpeQuery, Format};
pub use rule::{DpeRule, DpeUriError};
pub use uri::{DpeLevel, DpeUri};

const SCHEME: &str = "dpe";
