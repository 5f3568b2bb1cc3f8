//! What every reader of a format does.

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, PageDraft, PageHead, RowWindow, UnreadableFile,
};

use crate::limits::ReadLimits;

use crate::file_type::FileType;
use crate::source::Source;

/// A file that its reader has opened. Pages are read when they are asked for, and as often.
pub trait FormatReader: Send {
    /// What the file says about itself.
    fn properties(&self) -> &DocumentProperties;

    /// Its pages, as far as its directory tells.
    fn pages(&self) -> &[PageHead];

    /// Reads a page. Where pages are a division of one text (their key is empty), tables and texts may be given whole: the
    /// caller cuts them.
    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile>;

    /// The bytes of a picture, or of what else an element names.
    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile>;

    /// What was passed over because it could not be read, in sentences.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens a file of a format.
pub type OpenFormat = fn(&Source, &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile>;

/// What opens the files of a format.
#[derive(Debug, Clone, Copy)]
pub struct FormatOpener {
    /// The format.
    pub file_type: FileType,
    /// Opens a file of it.
    pub open: OpenFormat,
}

/// What is wanted of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The rows of every table.
    pub rows: RowWindow,
    /// The place of one element of the page that is wanted with these rows of its table and everything else there is of it:
    /// formulas, values, merges.
    pub detail: Option<(usize, RowWindow)>,
    /// Whether the beginning of the page is enough: reading ends with the first table's rows.
    pub head_only: bool,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { rows: RowWindow::OF_PAGE, detail: None, head_only: false }
    }
}

/// Cuts the tables and texts of a page that is read alone to what is wanted of them.
pub(crate) fn cut_page(page: &mut PageDraft, request: &PageRequest, limits: &ReadLimits) {
    for (at, draft) in page.elements.iter_mut().enumerate() {
        let detail = request.detail.filter(|(wanted, _)| *wanted == at);
        match &mut draft.content {
            ElementContent::Table(table) => table.cut(detail.map_or(request.rows, |(_, rows)| rows)),
            ElementContent::Text { text, truncated } if detail.is_none() && text.len() > limits.page_text => {
                text.truncate(text.floor_char_boundary(limits.page_text));
                *truncated = true;
            }
            _ => {}
        }
    }
}
