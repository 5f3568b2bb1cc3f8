//! Which crate reads which format.

use std::path::Path;

use a2c_document_model::UnreadableFile;
use a2c_documents::{FileType, FormatOpener, OpenDocument, ReadLimits, Source};

/// The readers that are crates of their own.
const MORE: &[FormatOpener] = &[FormatOpener { file_type: FileType::Pdf, open: a2c_pdf::open }];

/// Opens a file of any format that a crate of this workspace reads.
pub fn open_document(path: &Path, limits: &ReadLimits) -> Result<OpenDocument, UnreadableFile> {
    OpenDocument::from_source(path, Source::open(path)?, limits, MORE)
}
