//! Reads PDF files as documents of pages and elements.
//!
//! This crate is a [`FormatReader`](a2c_documents::FormatReader) of `a2c-documents`, in a crate of its own because of what it
//! depends on. It has no async, no network and no clock, and writes nothing.
//!
//! [`open`] reads the directory of a file. A page goes through `content`, which draws it into words, rules and pictures;
//! `layout` makes elements in reading order of them; `annotations` adds links, notes and forms. A panic of a library below is
//! an error of the page.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod annotations;
mod content;
mod destinations;
mod directory_check;
mod document;
mod font;
mod geometry;
mod layout;
mod links;
mod outline;
mod page_limits;
mod pictures;
mod png;
mod properties;
mod scans;
mod text_string;
mod unpack;

use a2c_documents::{FileType, FormatOpener};

pub use document::open;

/// PDF, for [`OpenDocument::from_source`](a2c_documents::OpenDocument::from_source).
pub const FORMAT: FormatOpener = FormatOpener { file_type: FileType::Pdf, open };
