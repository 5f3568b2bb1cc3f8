//! Documents as pages and elements: the model that every reader fills and every renderer shows.
//!
//! This crate does no I/O and knows no file format. It depends on serde and little else.
//!
//! A reader gives a [`PageDraft`]; an [`IdAssigner`] makes a [`ReadPage`] of it, whose elements have ids that stay the same
//! while the elements do; [`ids::carry_over`] keeps them over changes of the file. [`render`] shows pages as Markdown, text
//! and HTML; JSON is what serde makes of them.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod category;
mod content;
mod element;
mod error;
pub mod ids;
mod keywords;
mod page;
pub mod render;
mod skip;
mod summary;
mod table;
mod words;

pub use category::ElementCategory;
pub use content::{AnnotationKind, ChartSeries, ElementContent, ElementError, FormField, ListEntry};
pub use element::{BlobPlace, ElementDraft, ElementMetadata, InlineLink, ReadElement, TextSpan};
pub use error::{UnreadableCode, UnreadableFile};
pub use ids::{IdAssigner, KnownElement};
pub use keywords::keywords;
pub use page::{DocumentProperties, PageDraft, PageHead, ReadPage};
pub use summary::first_sentences;
pub use table::{CellPlace, CellRange, RowWindow, TableContent};
pub use words::{WeightedText, weighted_texts};
