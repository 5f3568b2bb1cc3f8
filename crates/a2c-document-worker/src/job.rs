//! What a worker is asked, and how question and answer travel. Pure.
//!
//! A question is a line of JSON. An answer is a frame: the line says whether it is what was asked for, the payload is JSON, or
//! the bytes of a picture.

use std::path::PathBuf;

use a2c_document_model::{BlobPlace, DocumentProperties, PageHead};
use serde::{Deserialize, Serialize};

/// The line of an answer that holds what was asked for.
pub(crate) const DONE: &str = "done";

/// The line of an answer that says why there is none.
pub(crate) const FAILED: &str = "failed";

/// One thing to read of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobOrder {
    pub(crate) path: PathBuf,
    pub(crate) job: DocumentJob,
}

/// What to read of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentJob {
    /// What its directory tells: a [`DocumentOutline`].
    Outline,
    /// A page.
    Page {
        /// Its place, from 0.
        page_index: usize,
        /// Whether its beginning is enough.
        head_only: bool,
    },
    /// An element with all there is of it.
    Element {
        /// The page that it stands on.
        page_index: usize,
        /// Its id.
        element_id: String,
        /// The first row that is wanted, if it is a table.
        offset: usize,
        /// How many rows.
        limit: usize,
    },
    /// The bytes of a picture, or of what else an element names.
    Blob {
        /// Where they are.
        place: BlobPlace,
    },
}

/// What is known of a document without reading its pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentOutline {
    /// Its format, as [`a2c_documents::FileType::as_str`] names it.
    pub file_type: String,
    /// Its title: its own, or the name of its file.
    pub title: String,
    /// What the file says about itself.
    pub properties: DocumentProperties,
    /// Its pages.
    pub pages: Vec<PageHead>,
    /// What was passed over because it could not be read, in sentences.
    pub warnings: Vec<String>,
}
