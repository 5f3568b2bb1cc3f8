//! A list that is loaded piece by piece: its items so far, the cursor, and the query under way.

use super::query::QueryId;

/// How near to the end of what is loaded the cursor comes before more is asked for.
const NEAR: usize = 5;

/// A list with a cursor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PagedList<T> {
    pub(super) items: Vec<T>,
    pub(super) selected: usize,
    /// How many there are in all; `None` until the first answer.
    pub(super) total: Option<u64>,
    /// The query under way, and where its answer begins.
    pub(super) loading: Option<(QueryId, u64)>,
    /// Something changed while a query was under way: its answer may be out of date.
    pub(super) is_stale: bool,
    /// The last query failed; the next waits until the cursor moves.
    pub(super) has_failed: bool,
}

impl<T> Default for PagedList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), selected: 0, total: None, loading: None, is_stale: false, has_failed: false }
    }
}

impl<T> PagedList<T> {
    pub(super) fn current(&self) -> Option<&T> {
        self.items.get(self.selected)
    }

    /// Moves the cursor, as far as there is something.
    pub(super) fn step(&mut self, by: isize) {
        self.has_failed = false;
        let last = self.items.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Where to go on, if the cursor is near the end and there is more.
    pub(super) fn wants_more(&self) -> Option<u64> {
        let loaded = self.items.len();
        let is_idle = self.loading.is_none() && !self.has_failed;
        let is_near = self.selected + NEAR >= loaded;
        (is_idle && is_near && self.total.is_some_and(|total| (loaded as u64) < total)).then_some(loaded as u64)
    }

    /// Takes what was loaded. A piece from the beginning replaces the list, with the cursor on the same item where it is
    /// still there; another piece is appended. `same` compares two items.
    pub(super) fn take(&mut self, offset: u64, items: Vec<T>, total: u64, same: impl Fn(&T, &T) -> bool) {
        self.loading = None;
        self.has_failed = false;
        let before = if offset == 0 { 0 } else { self.items.len() };
        if offset == 0 {
            let kept = self.current().and_then(|old| items.iter().position(|new| same(old, new)));
            self.items = items;
            self.selected = kept.unwrap_or(self.selected).min(self.items.len().saturating_sub(1));
        } else {
            // What moved from one piece to the next while both were asked for is not shown twice.
            let new: Vec<T> =
                items.into_iter().filter(|item| !self.items.iter().any(|known| same(known, item))).collect();
            self.items.extend(new);
        }
        // A list that says there is more, and has nothing new, is at its end.
        let has_grown = self.items.len() > before;
        self.total = Some(if has_grown { total } else { self.items.len() as u64 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[u8], selected: usize, total: u64) -> PagedList<u8> {
        PagedList { items: items.to_vec(), selected, total: Some(total), ..PagedList::default() }
    }

    #[test]
    fn the_cursor_stays_in_the_list() {
        for (selected, by, expected) in [(0, -1, 0), (0, 1, 1), (2, 1, 2), (1, 100, 2), (2, isize::MIN, 0)] {
            let mut list = list(&[1, 2, 3], selected, 3);
            list.step(by);
            assert_eq!(list.selected, expected, "{selected} {by}");
        }
        let mut empty = list(&[], 0, 0);
        empty.step(1);
        assert_eq!((empty.selected, empty.current()), (0, None));
    }

    #[test]
    fn more_is_wanted_near_the_end_only() {
        let items: Vec<u8> = (0..20).collect();
        for (selected, total, expected) in [(0, 50, None), (14, 50, None), (15, 50, Some(20)), (19, 20, None)] {
            assert_eq!(list(&items, selected, total).wants_more(), expected, "{selected} {total}");
        }
        let loading = PagedList { loading: Some((1, 20)), ..list(&items, 19, 50) };
        assert_eq!(loading.wants_more(), None);
        let mut failed = PagedList { has_failed: true, ..list(&items, 19, 50) };
        assert_eq!(failed.wants_more(), None, "a failure is not asked for again and again");
        failed.step(1);
        assert_eq!(failed.wants_more(), Some(20));
        assert_eq!(PagedList::<u8>::default().wants_more(), None);
    }

    #[test]
    fn pieces_join_without_repeating() {
        let same = |a: &u8, b: &u8| a == b;
        let mut joined = list(&[1, 2, 3], 2, 6);
        joined.take(3, vec![3, 4], 6, same);
        assert_eq!((joined.items.as_slice(), joined.selected, joined.total), (&[1, 2, 3, 4][..], 2, Some(6)));
        joined.take(4, vec![4], 6, same);
        assert_eq!((joined.total, joined.wants_more()), (Some(4), None), "a list that ends early ends");
        joined.take(0, vec![9, 3], 2, same);
        assert_eq!((joined.items.as_slice(), joined.selected), (&[9, 3][..], 1), "the cursor follows");
        joined.take(0, vec![7], 1, same);
        assert_eq!(joined.selected, 0);
    }
}
