//! An ordered list in pieces of bounded size, each shared until it changes.

use std::sync::Arc;

use super::indexed_document::SortKey;

/// A part of an ordered list that is split when it is too large and joined with a neighbour when it is small.
pub(super) trait SortedPiece: Clone + Default {
    fn is_empty(&self) -> bool;
    fn is_too_large(&self) -> bool;
    /// Keeps the first half and returns the second.
    fn split(&mut self) -> Self;
    /// Whether both together are so small that they will not soon be split again.
    fn fits_with(&self, next: &Self) -> bool;
    /// Adds all that is in the next piece.
    fn absorb(&mut self, next: &Self);
    /// The sort key of the last document.
    fn last(&self) -> Option<SortKey<'_>>;
}

/// Changes the one piece that a sort key belongs to, then splits or joins pieces to keep their size in bounds.
pub(super) fn change<P: SortedPiece>(pieces: &mut Vec<Arc<P>>, key: &SortKey<'_>, change: impl FnOnce(&mut P)) {
    if pieces.is_empty() {
        pieces.push(Arc::default());
    }
    // A key after all others belongs to the last piece.
    let at = pieces.partition_point(|piece| piece.last().is_some_and(|last| last < *key)).min(pieces.len() - 1);
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

fn join_with_next<P: SortedPiece>(pieces: &mut Vec<Arc<P>>, at: usize) {
    let next = pieces.remove(at + 1);
    Arc::make_mut(&mut pieces[at]).absorb(&next);
}
