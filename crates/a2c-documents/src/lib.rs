//! Reads Office, PDF, text and other files as documents of pages and elements.
//!
//! This crate has no async, no network, no clock, and knows nothing of A2C: any program may use it. It never writes, and
//! reads nothing but the one file that it is given.
//!
//! An [`OpenDocument`] is what callers use. Below it, a file is a [`Source`]; its [`FileType`] says which reader opens it; a
//! [`FormatReader`] reads a page when it is asked for it, as a draft of the model in `a2c-document-model`. Bytes of unknown origin go through [`archive`] and [`xml`], which
//! keep the [`ReadLimits`].

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod archive;
mod chart_words;
mod document;
mod document_summary;
mod encoding;
mod file_type;
mod file_window;
mod flow;
mod header_row;
mod limits;
mod mail;
mod odp;
mod odt;
mod ooxml;
mod opendocument;
mod picture;
mod plain;
mod reader;
mod rich_text;
mod rtf;
pub mod slides;
mod source;
pub mod spreadsheet;
pub mod word;
pub mod xml;

pub use a2c_document_model as model;
pub use document::{NotInDocument, OpenDocument, error_page};
pub use file_type::FileType;
pub use header_row::is_header;
pub use limits::ReadLimits;
pub use reader::{FormatOpener, FormatReader, OpenFormat, PageRequest};
pub use source::{ReadSeek, Source};
