//! E-mails: `.eml`.
//!
//! A message is a table of its headers, its text, and its attachments. Of several forms of the text the richest counts,
//! unless it is HTML that only arranges things in tables. What is attached is named and read when somebody asks for its bytes.

mod mail_body;
mod mail_headers;
mod mime_tree;

use std::sync::Arc;

use a2c_document_model::{BlobPlace, DocumentProperties, PageDraft, PageHead, UnreadableFile};
use mail_parser::MessageParser;

use self::mail_body::MailElements;
use self::mail_headers::{header_table, mail_properties};
use self::mime_tree::{MimeLeaf, headers_length, mime_tree};
use crate::flow::{FlowDocument, bounded};
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::source::Source;

/// Opens a message.
pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let head = MessageParser::new().parse_headers(&bytes[..headers_length(&bytes)]);
    let Some(head) = head else {
        return Err(UnreadableFile::corrupt("the file has no headers of a message"));
    };
    let properties = mail_properties(&head);
    let mut read = MailElements::new(&bytes, limits);
    read.elements.extend(header_table(&head).map(Into::into));
    read.add(&mime_tree(&bytes));
    let (elements, files, warnings) = read.finish();
    let mut pages = bounded(elements, limits.page_elements);
    if let Some(first) = pages.first_mut() {
        first.title = properties.title.clone().unwrap_or_default();
    }
    let text = FlowDocument::new(properties, pages);
    Ok(Box::new(MailDocument { text, bytes, files, warnings }))
}

/// A message that was read, except for its attachments.
struct MailDocument {
    text: FlowDocument,
    bytes: Arc<[u8]>,
    /// What elements name by its number.
    files: Vec<MimeLeaf>,
    warnings: Vec<String>,
}

impl FormatReader for MailDocument {
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
        let leaf = place.part.parse::<usize>().ok().and_then(|number| self.files.get(number));
        match leaf {
            Some(leaf) => Ok(leaf.decoded(&self.bytes).into_owned()),
            None => self.text.blob(place),
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
