//! What reading one page may cost. Counted, not timed: the same page ends at the same place on any machine.

use a2c_document_model::UnreadableFile;
use a2c_documents::ReadLimits;

/// How many plain operations a look-up costs.
const LOOKUP: usize = 100;

/// What is left for a page.
#[derive(Debug)]
pub(crate) struct PageBudget {
    operations: usize,
    glyphs: usize,
    content_bytes: usize,
    /// The most that one stream unpacks to.
    pub(crate) stream_bytes: usize,
}

impl PageBudget {
    pub(crate) fn new(limits: &ReadLimits) -> Self {
        let stream_bytes = usize::try_from(limits.text_part_bytes).unwrap_or(usize::MAX);
        Self {
            operations: limits.page_operations,
            glyphs: limits.page_glyphs,
            content_bytes: stream_bytes,
            stream_bytes,
        }
    }

    /// Takes one operation.
    pub(super) fn operation(&mut self) -> Result<(), UnreadableFile> {
        take(&mut self.operations, 1, "operations")
    }

    /// Takes what an operation costs that looks something up in the file: as many plain ones as take as long.
    pub(super) fn lookup(&mut self) -> Result<(), UnreadableFile> {
        take(&mut self.operations, LOOKUP, "operations")
    }

    /// Takes one glyph.
    pub(super) fn glyph(&mut self) -> Result<(), UnreadableFile> {
        take(&mut self.glyphs, 1, "glyphs")
    }

    /// Takes the bytes of a content stream that is going to be read.
    pub(super) fn content(&mut self, bytes: usize) -> Result<(), UnreadableFile> {
        take(&mut self.content_bytes, bytes, "bytes of content")
    }
}

fn take(left: &mut usize, count: usize, what: &str) -> Result<(), UnreadableFile> {
    match left.checked_sub(count) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => Err(UnreadableFile::too_large(format!("the page has too many {what}: the rest is not shown"))),
    }
}
