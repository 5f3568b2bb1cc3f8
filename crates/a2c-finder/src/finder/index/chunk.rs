//! Up to 128 neighbouring documents of a server, with what a search looks at laid out side by side.

use std::sync::Arc;

use super::indexed_document::{IndexedDocument, SortKey};
use super::signature::{Keyword, Signature};
use super::sorted_piece::SortedPiece;

/// The documents of a chunk as bits, the first one lowest.
pub(super) type Mask = u128;

const MAX_DOCUMENTS: usize = Mask::BITS as usize;
/// Keeps the cost of a change in bounds where documents have long summaries.
const MAX_TEXT: usize = 64 * 1024;
/// Less text is searched as it is: a signature would be larger than what it saves.
const MIN_TEXT_FOR_SIGNATURE: usize = 8 * 1024;

/// Documents in the order of their sort keys, and three columns of the same length and order.
#[derive(Clone, Default)]
pub(super) struct Chunk {
    documents: Vec<Arc<IndexedDocument>>,
    /// The folded text of all documents.
    text: Vec<u8>,
    /// Where the text of each document ends.
    ends: Vec<u32>,
    /// Which of `types` each document has.
    type_of: Vec<u8>,
    /// The file types in this chunk. An unused type keeps its slot until another type needs one, so there are never
    /// more slots than the chunk had documents at one time, which a `u8` can count.
    types: Vec<FileType>,
    /// What the text may hold, where it is long.
    signature: Option<Signature>,
    /// How many removed documents the signature still covers.
    removed: usize,
}

#[derive(Clone)]
struct FileType {
    name: Arc<str>,
    /// How many documents of the chunk have it.
    documents: u32,
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn document(&self, at: usize) -> &IndexedDocument {
        &self.documents[at]
    }

    pub(super) fn insert(&mut self, document: Arc<IndexedDocument>, folded: &[u8]) {
        let at = self.position(&document.sort_key());
        let start = self.start(at);
        let slot = self.slot(document.file_type());
        self.types[usize::from(slot)].documents += 1;
        reserve(&mut self.text, folded.len());
        reserve(&mut self.documents, 1);
        reserve(&mut self.ends, 1);
        reserve(&mut self.type_of, 1);
        self.documents.insert(at, document);
        self.type_of.insert(at, slot);
        self.text.splice(start..start, folded.iter().copied());
        self.ends.insert(at, start as u32);
        self.ends[at..].iter_mut().for_each(|end| *end += folded.len() as u32);
        match &mut self.signature {
            Some(signature) => signature.add(folded),
            None => self.rebuild_signature(),
        }
    }

    pub(super) fn remove(&mut self, document: &IndexedDocument) {
        let at = self.position(&document.sort_key());
        debug_assert!(self.documents[at].uri() == document.uri());
        let (start, end) = (self.start(at), self.start(at + 1));
        self.documents.remove(at);
        let slot = self.type_of.remove(at);
        self.types[usize::from(slot)].documents -= 1;
        self.text.drain(start..end);
        self.ends.remove(at);
        self.ends[at..].iter_mut().for_each(|other| *other -= (end - start) as u32);
        self.removed += 1;
        if self.removed >= MAX_DOCUMENTS {
            self.rebuild_signature();
        }
    }

    /// Computes the signature from the text, or drops it where the text is short.
    fn rebuild_signature(&mut self) {
        self.signature = (self.text.len() >= MIN_TEXT_FOR_SIGNATURE).then(|| Signature::of(&self.text));
        self.removed = 0;
    }

    /// All documents.
    pub(super) fn all(&self) -> Mask {
        // Without any documents the shift is as wide as the mask, which is no shift at all.
        Mask::MAX.checked_shr(Mask::BITS - self.len() as u32).unwrap_or_default()
    }

    /// How many documents have a file type.
    pub(super) fn count_of_type(&self, name: &str) -> usize {
        self.types.iter().find(|file_type| &*file_type.name == name).map_or(0, |file_type| file_type.documents as usize)
    }

    /// The documents that have a file type.
    pub(super) fn of_type(&self, name: &str) -> Mask {
        let Some(slot) = self.types.iter().position(|file_type| &*file_type.name == name) else {
            return 0;
        };
        let bits = self.type_of.iter().map(|other| Mask::from(usize::from(*other) == slot));
        bits.enumerate().fold(0, |mask, (at, bit)| mask | bit << at)
    }

    /// Those of the `wanted` documents whose text holds a keyword.
    pub(super) fn containing(&self, keyword: &Keyword<'_>, wanted: Mask) -> Mask {
        if wanted == 0 || keyword.cannot_be_in(self.signature.as_ref()) {
            return 0;
        }
        let mut found = 0;
        let mut at = 0;
        while let Some(next) = self.next_wanted(wanted, at) {
            let start = self.start(next);
            let Some(hit) = keyword.find(&self.text[start..]) else {
                break;
            };
            let hit = (start + hit) as u32;
            at = next + self.ends[next..].iter().take_while(|end| **end <= hit).count();
            found |= 1 << at;
            at += 1;
        }
        found & wanted
    }

    fn next_wanted(&self, wanted: Mask, from: usize) -> Option<usize> {
        let next = from + wanted.checked_shr(from as u32)?.trailing_zeros() as usize;
        (next < self.len()).then_some(next)
    }

    /// The index of the document with this key, or the index at which it would be inserted.
    fn position(&self, key: &SortKey<'_>) -> usize {
        self.documents.partition_point(|other| other.sort_key() < *key)
    }

    /// Where the text of a document begins.
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    fn slot(&mut self, name: &str) -> u8 {
        let known = self.types.iter().position(|file_type| &*file_type.name == name);
        let slot = known.or_else(|| {
            let unused = self.types.iter().position(|file_type| file_type.documents == 0)?;
            self.types[unused].name = name.into();
            Some(unused)
        });
        let slot = slot.unwrap_or_else(|| {
            self.types.push(FileType { name: name.into(), documents: 0 });
            self.types.len() - 1
        });
        u8::try_from(slot).expect("a chunk has no more types than documents")
    }

    /// The documents of a range as a chunk of their own.
    fn part(&self, range: std::ops::Range<usize>) -> Self {
        let start = self.start(range.start);
        let mut part = Self {
            documents: self.documents[range.clone()].to_vec(),
            text: self.text[start..self.start(range.end)].to_vec(),
            ends: self.ends[range.clone()].iter().map(|end| end - start as u32).collect(),
            ..Self::default()
        };
        part.take_types(self, range);
        part.rebuild_signature();
        part
    }

    /// Adds the types of another chunk's documents, which are already there but for their types.
    fn take_types(&mut self, other: &Self, range: std::ops::Range<usize>) {
        for slot in &other.type_of[range] {
            let own = self.slot(&other.types[usize::from(*slot)].name);
            self.types[usize::from(own)].documents += 1;
            self.type_of.push(own);
        }
    }
}

impl SortedPiece for Chunk {
    fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn is_too_large(&self) -> bool {
        self.len() > MAX_DOCUMENTS || (self.text.len() > MAX_TEXT && self.len() > 1)
    }

    fn split(&mut self) -> Self {
        let middle = if self.len() > MAX_DOCUMENTS {
            self.len() / 2
        } else {
            let half = self.text.len() as u32 / 2;
            self.ends.partition_point(|end| *end <= half).clamp(1, self.len() - 1)
        };
        let second = self.part(middle..self.len());
        *self = self.part(0..middle);
        second
    }

    fn fits_with(&self, next: &Self) -> bool {
        self.len() + next.len() <= MAX_DOCUMENTS / 2 && self.text.len() + next.text.len() <= MAX_TEXT / 2
    }

    fn absorb(&mut self, next: &Self) {
        let end = self.text.len() as u32;
        self.documents.extend_from_slice(&next.documents);
        self.text.extend_from_slice(&next.text);
        self.ends.extend(next.ends.iter().map(|other| end + other));
        self.take_types(next, 0..next.len());
        self.rebuild_signature();
    }

    fn last(&self) -> Option<SortKey<'_>> {
        self.documents.last().map(|document| document.sort_key())
    }
}

/// Reserves room without doubling the capacity: most chunks rarely change.
fn reserve<T>(column: &mut Vec<T>, more: usize) {
    if column.capacity() - column.len() < more {
        column.reserve_exact(more + column.len() / 8);
    }
}

#[cfg(test)]
mod tests {
    use a2c_protocol::context::DpeDocumentSummary;

    use super::super::indexed_document::folded_text;
    use super::*;

    fn document(name: &str, word: &str) -> DpeDocumentSummary {
        DpeDocumentSummary {
            doc_ref: name.into(),
            uri: format!("dpe://h/{name}"),
            file_uri: String::new(),
            file_type: name.into(),
            title: name.into(),
            page_count: 1,
            keywords: None,
            summary: Some(format!("{word} {}", "filler ".repeat(20))),
            server: "s".into(),
            last_modified: None,
        }
    }

    /// A chunk whose documents keep changing drops old words from its signature and reuses the slots of old types.
    #[test]
    fn removed_documents_leave_signature_and_type_slots() {
        let mut chunk = Chunk::default();
        let put = |chunk: &mut Chunk, n: usize, word: &str| {
            let summary = document(&format!("d{n}"), word);
            let document = Arc::new(IndexedDocument::new(&summary).unwrap());
            chunk.insert(Arc::clone(&document), &folded_text(&summary));
            document
        };
        let mut kept: Vec<_> = (0..MAX_DOCUMENTS).map(|n| put(&mut chunk, n, "zebra")).collect();
        let zebra = Keyword::new("zebra");
        assert_eq!(chunk.containing(&zebra, chunk.all()), Mask::MAX);
        for n in MAX_DOCUMENTS..4 * MAX_DOCUMENTS {
            chunk.remove(&kept.remove(0));
            kept.push(put(&mut chunk, n, "walrus"));
        }
        assert!(zebra.cannot_be_in(chunk.signature.as_ref()));
        assert_eq!(chunk.containing(&Keyword::new("walrus"), chunk.all()), Mask::MAX);
        assert_eq!((chunk.count_of_type("d0"), chunk.count_of_type("d500")), (0, 1));
        assert!(chunk.types.len() <= MAX_DOCUMENTS, "{}", chunk.types.len());
    }
}
