//! The bookmarks of a file, as titles of pages.

use std::collections::HashSet;

use hayro_syntax::object::{Dict, ObjectIdentifier};

use crate::destinations::{NamedPlaces, PageNumbers, target_page};
use crate::text_string::text_entry;

/// The most bookmarks that are read, and how deep they are nested.
const ENTRIES: usize = 20_000;
const DEPTH: usize = 8;
/// The longest title, in characters.
const TITLE: usize = 200;

/// The title of each page that a bookmark leads to: that of the first one.
pub(crate) fn page_titles(
    catalog: &Dict<'_>,
    count: usize,
    numbers: &PageNumbers,
    names: &NamedPlaces,
) -> Vec<Option<String>> {
    let mut titles = vec![None; count];
    let Some(root) = catalog.get::<Dict<'_>>("Outlines") else { return titles };
    let mut open: Vec<(Dict<'_>, usize)> = root.get::<Dict<'_>>("First").map(|first| (first, 0)).into_iter().collect();
    let mut seen: HashSet<ObjectIdentifier> = HashSet::new();
    let mut read = 0;
    while let Some((entry, depth)) = open.pop() {
        read += 1;
        if read > ENTRIES || entry.obj_id().is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        if let Some(title) = target_page(&entry, numbers, names).and_then(|page| titles.get_mut(page))
            && title.is_none()
        {
            *title = text_entry(&entry, "Title").map(|title| title.chars().take(TITLE).collect());
        }
        if let Some(next) = entry.get::<Dict<'_>>("Next") {
            open.push((next, depth));
        }
        if depth < DEPTH
            && let Some(first) = entry.get::<Dict<'_>>("First")
        {
            open.push((first, depth + 1));
        }
    }
    titles
}
