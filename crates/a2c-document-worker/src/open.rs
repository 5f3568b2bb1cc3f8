//! Which crate reads which format.

use std::path::Path;

use a2c_document_model::UnreadableFile;
use a2c_documents::{OpenDocument, ReadLimits};

/// Opens a file of any format that a crate of this workspace reads.
pub fn open_document(path: &Path, limits: &ReadLimits) -> Result<OpenDocument, UnreadableFile> {
    OpenDocument::open(path, limits)
}
