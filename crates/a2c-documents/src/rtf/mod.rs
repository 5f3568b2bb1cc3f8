//! Rich text: `.rtf`.
//!
//! `rtf_token` cuts the bytes into tokens, `rtf_document` follows them group by group, `rtf_text` puts paragraphs, tables and
//! notes together. Nothing grows with the depth of groups but a stack that has a bound.

mod code_pages;
mod group_state;
mod rtf_document;
mod rtf_ends;
mod rtf_picture;
mod rtf_table;
mod rtf_text;
mod rtf_token;
mod rtf_words;

use std::sync::Arc;

use a2c_document_model::{BlobPlace, DocumentProperties, PageDraft, PageHead, UnreadableFile};

use self::rtf_document::RtfDocument;
use self::rtf_picture::RtfPicture;
use crate::flow::FlowDocument;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::rich_text::{divide, keep_before_mistake};
use crate::source::Source;

/// Opens a rich text.
pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    if !bytes.trim_ascii_start().starts_with(b"{\\rtf") {
        return Err(UnreadableFile::corrupt("the file does not begin as rich text does"));
    }
    let mut document = RtfDocument::new(&bytes, limits);
    let read = document.read();
    let (items, sections, properties, pictures) = document.finish();
    let mut pages = divide(items, sections, limits.page_elements);
    let mut warnings = Vec::new();
    if let Err(problem) = read {
        warnings.push(problem.message.clone());
        keep_before_mistake(&mut pages, problem)?;
    }
    Ok(Box::new(RtfFile { text: FlowDocument::new(properties, pages), bytes, pictures, warnings }))
}

struct RtfFile {
    text: FlowDocument,
    bytes: Arc<[u8]>,
    /// What elements name by its number.
    pictures: Vec<RtfPicture>,
    warnings: Vec<String>,
}

impl FormatReader for RtfFile {
    fn properties(&self) -> &DocumentProperties {
        self.text.properties()
    }

    fn pages(&self) -> &[PageHead] {
        self.text.pages()
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        self.text.page(index, request)
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        let picture = place.part.parse::<usize>().ok().and_then(|number| self.pictures.get(number));
        match picture {
            Some(picture) => Ok(picture.bytes(&self.bytes)),
            None => self.text.blob(place),
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
