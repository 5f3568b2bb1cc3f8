//! The documents of one server: rows of chunks of documents, all in order.
//!
//! Two levels, because a writer copies the list that it changes while a view holds it: with a million documents in one
//! list of chunks that would be ten thousand pointers, with rows it is two hundred.

use std::sync::Arc;

use super::chunk::Chunk;
use super::indexed_document::{IndexedDocument, SortKey};
use super::sorted_piece::{SortedPiece, change};

const MAX_CHUNKS: usize = 128;

/// All documents of a server. A copy shares everything with the original.
#[derive(Clone, Default)]
pub(super) struct ServerDocuments {
    rows: Arc<Vec<Arc<ChunkRow>>>,
    documents: usize,
}

/// Up to 128 neighbouring chunks.
#[derive(Clone, Default)]
pub(super) struct ChunkRow {
    chunks: Vec<Arc<Chunk>>,
    documents: usize,
}

impl ServerDocuments {
    pub(super) fn len(&self) -> usize {
        self.documents
    }

    pub(super) fn rows(&self) -> &[Arc<ChunkRow>] {
        &self.rows
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.rows.iter().flat_map(|row| row.chunks())
    }

    /// Inserts a document at its sorted position. It must not be there yet.
    pub(super) fn insert(&mut self, document: &Arc<IndexedDocument>, folded: &[u8]) {
        self.documents += 1;
        let key = document.sort_key();
        change(Arc::make_mut(&mut self.rows), &key, |row| {
            row.documents += 1;
            change(&mut row.chunks, &key, |chunk| chunk.insert(Arc::clone(document), folded));
        });
    }

    /// Removes a document. It must be there.
    pub(super) fn remove(&mut self, document: &IndexedDocument) {
        self.documents -= 1;
        change(Arc::make_mut(&mut self.rows), &document.sort_key(), |row| {
            row.documents -= 1;
            change(&mut row.chunks, &document.sort_key(), |chunk| chunk.remove(document));
        });
    }
}

impl ChunkRow {
    pub(super) fn len(&self) -> usize {
        self.documents
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().map(AsRef::as_ref)
    }
}

impl SortedPiece for ChunkRow {
    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn is_too_large(&self) -> bool {
        self.chunks.len() > MAX_CHUNKS
    }

    fn split(&mut self) -> Self {
        let chunks = self.chunks.split_off(self.chunks.len() / 2);
        let documents = chunks.iter().map(|chunk| chunk.len()).sum();
        self.documents -= documents;
        Self { chunks, documents }
    }

    fn fits_with(&self, next: &Self) -> bool {
        self.chunks.len() + next.chunks.len() <= MAX_CHUNKS / 2
    }

    fn absorb(&mut self, next: &Self) {
        self.chunks.extend_from_slice(&next.chunks);
        self.documents += next.documents;
    }

    fn last(&self) -> Option<SortKey<'_>> {
        self.chunks.last()?.last()
    }
}
