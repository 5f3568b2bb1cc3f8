//! The documents of one server: rows of chunks of documents, all in order.
//!
//! Two levels, because a writer copies the list that it changes while a view holds it: with a million documents in one
//! list of chunks that would be ten thousand pointers, with rows it is two hundred.

use std::sync::Arc;

use super::chunk::Chunk;
use super::document::{Document, Place};

const MOST_CHUNKS: usize = 128;

/// All documents of a server. A copy shares everything with the original.
#[derive(Clone, Default)]
pub(super) struct Shelf {
    rows: Arc<Vec<Arc<Row>>>,
    documents: usize,
}

/// Up to 128 neighbouring chunks.
#[derive(Clone, Default)]
pub(super) struct Row {
    chunks: Vec<Arc<Chunk>>,
    documents: usize,
}

impl Shelf {
    pub(super) fn len(&self) -> usize {
        self.documents
    }

    pub(super) fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.rows.iter().flat_map(|row| row.chunks())
    }

    /// Puts a document in its place. It must not be there yet.
    pub(super) fn insert(&mut self, document: &Arc<Document>, folded: &[u8]) {
        self.documents += 1;
        let place = document.place();
        change(Arc::make_mut(&mut self.rows), &place, |row| {
            row.documents += 1;
            change(&mut row.chunks, &place, |chunk| chunk.insert(Arc::clone(document), folded));
        });
    }

    /// Takes a document away. It must be there.
    pub(super) fn remove(&mut self, document: &Document) {
        self.documents -= 1;
        change(Arc::make_mut(&mut self.rows), &document.place(), |row| {
            row.documents -= 1;
            change(&mut row.chunks, &document.place(), |chunk| chunk.remove(document));
        });
    }
}

impl Row {
    pub(super) fn len(&self) -> usize {
        self.documents
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().map(AsRef::as_ref)
    }
}

/// A part of an ordered list that is split when it is too large and joined with a neighbour when it is small.
pub(super) trait Piece: Clone + Default {
    fn is_empty(&self) -> bool;
    fn is_too_large(&self) -> bool;
    /// Keeps the first half and returns the second.
    fn split(&mut self) -> Self;
    /// Whether both together are so small that they will not soon be split again.
    fn fits_with(&self, next: &Self) -> bool;
    /// Adds all that is in the next piece.
    fn absorb(&mut self, next: &Self);
    /// Where the last document belongs.
    fn last(&self) -> Option<Place<'_>>;
}

/// Changes the one piece that a place belongs to, and keeps the pieces at a good size.
fn change<P: Piece>(pieces: &mut Vec<Arc<P>>, place: &Place<'_>, change: impl FnOnce(&mut P)) {
    if pieces.is_empty() {
        pieces.push(Arc::default());
    }
    // What comes after all others belongs to the last piece.
    let at = pieces.partition_point(|piece| piece.last().is_some_and(|last| last < *place)).min(pieces.len() - 1);
    let piece = Arc::make_mut(&mut pieces[at]);
    change(piece);
    if piece.is_too_large() {
        let second = piece.split();
        pieces.insert(at + 1, Arc::new(second));
    } else if piece.is_empty() {
        pieces.remove(at);
    } else if pieces.get(at + 1).is_some_and(|next| pieces[at].fits_with(next)) {
        join_with_next(pieces, at);
    } else if at > 0 && pieces[at - 1].fits_with(&pieces[at]) {
        join_with_next(pieces, at - 1);
    }
}

fn join_with_next<P: Piece>(pieces: &mut Vec<Arc<P>>, at: usize) {
    let next = pieces.remove(at + 1);
    Arc::make_mut(&mut pieces[at]).absorb(&next);
}

impl Piece for Row {
    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn is_too_large(&self) -> bool {
        self.chunks.len() > MOST_CHUNKS
    }

    fn split(&mut self) -> Self {
        let chunks = self.chunks.split_off(self.chunks.len() / 2);
        let documents = chunks.iter().map(|chunk| chunk.len()).sum();
        self.documents -= documents;
        Self { chunks, documents }
    }

    fn fits_with(&self, next: &Self) -> bool {
        self.chunks.len() + next.chunks.len() <= MOST_CHUNKS / 2
    }

    fn absorb(&mut self, next: &Self) {
        self.chunks.extend_from_slice(&next.chunks);
        self.documents += next.documents;
    }

    fn last(&self) -> Option<Place<'_>> {
        self.chunks.last()?.last()
    }
}
