//! How far lists are counted, and which list an item belongs to. Pure.

use std::collections::HashMap;

use super::list_styles::LEVELS;

/// The lists that others may go on with.
const REMEMBERED: usize = 10_000;

/// A list as it is counted.
#[derive(Debug, Clone, Default)]
struct CountedList {
    number: u32,
    counts: Vec<i64>,
}

/// The counts of the lists of a document.
#[derive(Debug, Default)]
pub(super) struct ListCounts {
    last: CountedList,
    by_id: HashMap<String, CountedList>,
    lists: u32,
}

impl ListCounts {
    /// A list begins that is in no other. It goes on with the last one, or with one of an id, where it says so.
    pub(super) fn begin(&mut self, goes_on: bool, with: Option<&str>) {
        match with.and_then(|id| self.by_id.get(id)) {
            Some(known) => self.last = known.clone(),
            None if goes_on => {}
            None => {
                self.lists += 1;
                self.last = CountedList { number: self.lists, counts: Vec::new() };
            }
        }
    }

    /// A list of this level begins within an item.
    pub(super) fn begin_level(&mut self, level: usize) {
        self.last.counts.truncate(level);
    }

    /// An item begins: its level, from 0, the count that it wants, and the first count of its level.
    pub(super) fn item(&mut self, level: usize, wanted: Option<i64>, start: i64) {
        let level = level.min(LEVELS - 1);
        let counts = &mut self.last.counts;
        counts.truncate(level + 1);
        let is_first = counts.len() <= level;
        counts.resize(level + 1, 1);
        counts[level] = wanted.unwrap_or(if is_first { start } else { counts[level].saturating_add(1) });
    }

    /// A list ends that others may go on with.
    pub(super) fn end(&mut self, id: Option<String>) {
        if let Some(id) = id.filter(|_| self.by_id.len() < REMEMBERED) {
            self.by_id.insert(id, self.last.clone());
        }
    }

    /// The counts of the item that is open, from the highest level on.
    pub(super) fn counts(&self) -> &[i64] {
        &self.last.counts
    }

    /// The number of the list that is open.
    pub(super) fn list(&self) -> u32 {
        self.last.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_count_restart_and_go_on() {
        let mut lists = ListCounts::default();
        lists.begin(false, None);
        lists.item(0, None, 1);
        lists.begin_level(1);
        lists.item(1, None, 4);
        lists.item(1, None, 4);
        assert_eq!(lists.counts(), [1, 5]);
        lists.item(0, None, 1);
        lists.begin_level(1);
        lists.item(1, None, 4);
        assert_eq!(lists.counts(), [2, 4]);
        lists.end(Some("a".into()));
        let first = lists.list();
        lists.begin(false, None);
        lists.item(0, Some(9), 1);
        assert_eq!((lists.counts(), lists.list() == first), (&[9][..], false));
        lists.begin(true, None);
        lists.item(0, None, 1);
        assert_eq!(lists.counts(), [10]);
        lists.begin(false, Some("a"));
        lists.item(0, None, 1);
        assert_eq!((lists.counts(), lists.list()), (&[3][..], first));
        lists.item(99, None, 1);
        assert_eq!(lists.counts().len(), LEVELS);
    }
}
