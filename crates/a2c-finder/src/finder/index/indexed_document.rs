//! One document, stored compactly.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::hash::{Hash, Hasher};
use std::str;
use std::sync::Arc;

use a2c_protocol::context::DpeDocumentSummary;
use jiff::Timestamp;

use crate::finder::fold::searchable;
use crate::finder::last_modified::instant;

/// A byte that no UTF-8 text holds: what is found never reaches over it.
pub(super) const END: u8 = 0xFF;

/// The most that the texts of one document may take. The folded form takes at most three times as much, and a chunk
/// holds at most three such documents before it is split, which `u32` offsets can tell apart.
const MAX_BYTES: usize = 1 << 28;

/// The fields that are stored one after another, in this order; the keywords follow them.
#[derive(Clone, Copy)]
enum Field {
    Uri,
    DocRef,
    FileUri,
    FileType,
    Title,
    LastModified,
    Summary,
}

/// A summary without its server, in two allocations: this, and all texts together.
#[derive(PartialEq)]
pub(super) struct IndexedDocument {
    /// All fields without anything between them, then each keyword with [`END`] after it.
    text: Box<[u8]>,
    /// Where each field ends.
    ends: [u32; 7],
    has_last_modified: bool,
    has_summary: bool,
    has_keywords: bool,
    page_count: u64,
    changed: Option<Timestamp>,
}

/// The order of documents within a server: last changed first, then by title and URI.
pub(super) type SortKey<'a> = (Reverse<Option<Timestamp>>, &'a [u8], &'a [u8]);

impl IndexedDocument {
    /// `None` if the texts are too large.
    pub(super) fn new(summary: &DpeDocumentSummary) -> Option<Self> {
        let last_modified = summary.last_modified.as_deref();
        let fields = [
            summary.uri.as_str(),
            &summary.doc_ref,
            &summary.file_uri,
            &summary.file_type,
            &summary.title,
            last_modified.unwrap_or_default(),
            summary.summary.as_deref().unwrap_or_default(),
        ];
        let keywords = summary.keywords.as_deref().unwrap_or_default();
        let size = fields.iter().map(|field| field.len()).sum::<usize>()
            + keywords.iter().map(|keyword| keyword.len() + 1).sum::<usize>();
        if size > MAX_BYTES {
            return None;
        }
        let mut text = Vec::with_capacity(size);
        let ends = fields.map(|field| {
            text.extend_from_slice(field.as_bytes());
            text.len() as u32
        });
        for keyword in keywords {
            text.extend_from_slice(keyword.as_bytes());
            text.push(END);
        }
        Some(Self {
            text: text.into_boxed_slice(),
            ends,
            has_last_modified: last_modified.is_some(),
            has_summary: summary.summary.is_some(),
            has_keywords: summary.keywords.is_some(),
            page_count: summary.page_count,
            changed: last_modified.and_then(instant),
        })
    }

    pub(super) fn uri(&self) -> &[u8] {
        self.field(Field::Uri)
    }

    pub(super) fn uri_text(&self) -> &str {
        text(self.uri())
    }

    pub(super) fn file_type(&self) -> &str {
        text(self.field(Field::FileType))
    }

    /// Its position among the documents of its server. No two keys are equal: the URI is part of the key.
    pub(super) fn sort_key(&self) -> SortKey<'_> {
        (Reverse(self.changed), self.field(Field::Title), self.uri())
    }

    /// The whole summary again.
    pub(super) fn summary(&self, server: &str) -> DpeDocumentSummary {
        let string = |field| text(self.field(field)).to_owned();
        let keywords = &self.text[self.ends[Field::Summary as usize] as usize..];
        let keywords =
            || keywords.split_inclusive(|byte| *byte == END).map(|word| text(&word[..word.len() - 1]).to_owned());
        DpeDocumentSummary {
            doc_ref: string(Field::DocRef),
            uri: string(Field::Uri),
            file_uri: string(Field::FileUri),
            file_type: string(Field::FileType),
            title: string(Field::Title),
            page_count: self.page_count,
            keywords: self.has_keywords.then(|| keywords().collect()),
            summary: self.has_summary.then(|| string(Field::Summary)),
            server: server.to_owned(),
            last_modified: self.has_last_modified.then(|| string(Field::LastModified)),
        }
    }

    fn field(&self, field: Field) -> &[u8] {
        let field = field as usize;
        let start = field.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[field] as usize]
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("fields are cut where they were joined")
}

/// The text in which keywords are looked for, with [`END`] after each of its parts.
pub(super) fn folded_text(summary: &DpeDocumentSummary) -> Vec<u8> {
    let parts = searchable(summary);
    let mut folded = Vec::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts {
        folded.extend_from_slice(part.as_bytes());
        folded.push(END);
    }
    folded
}

/// A document that is found by its URI.
pub(super) struct ByUri(pub(super) Arc<IndexedDocument>);

impl Borrow<[u8]> for ByUri {
    fn borrow(&self) -> &[u8] {
        self.0.uri()
    }
}

impl Hash for ByUri {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.uri().hash(state);
    }
}

impl PartialEq for ByUri {
    fn eq(&self, other: &Self) -> bool {
        self.0.uri() == other.0.uri()
    }
}

impl Eq for ByUri {}
