//! The ids of elements: from their content, numbered where two are alike, and carried over when a file is read again.
//!
//! An id is the prefix of the category and a digest of what makes the element itself: the words of a paragraph, the headers
//! of a table. The page's key is part of it, so that pages can be read alone. [`carry_over`] compares with the former
//! version of the file: an unchanged element keeps its id wherever it moved, and one that was changed in place, between
//! unchanged neighbours, keeps it too. Pure.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::category::ElementCategory;
use crate::content::{ElementContent, ListEntry};
use crate::element::{ElementDraft, ReadElement};
use crate::page::{PageDraft, ReadPage};

/// Gives ids to the elements of pages, in their order.
#[derive(Debug, Default)]
pub struct IdAssigner {
    /// How often an id was given without its number.
    given: HashMap<String, usize>,
}

impl IdAssigner {
    /// Makes a page of a draft. Pages without a key belong to one text: all of them, from the first on, must go through the
    /// same assigner.
    pub fn page(&mut self, page_index: usize, draft: PageDraft) -> ReadPage {
        let PageDraft { title, elements, key, hidden, partial } = draft;
        let elements = elements.into_iter().map(|element| self.element(&key, element)).collect();
        ReadPage { page_index, title, elements, hidden, partial }
    }

    fn element(&mut self, page_key: &str, draft: ElementDraft) -> ReadElement {
        let category = draft.content.category();
        let mut identity = Sha256::new();
        identity.update(page_key);
        identity.update([0]);
        match &draft.identity {
            Some(given) => identity.update(given),
            None => add_identity(&draft.content, &mut identity),
        }
        let id = format!("{}-{}", category.id_prefix(), letters(&identity.finalize()[..5]));
        let count = self.given.entry(id.clone()).or_default();
        *count += 1;
        let element_id = match *count {
            1 => id,
            twin => format!("{id}-{twin}"),
        };
        let ElementDraft { content, summary, metadata, blob, .. } = draft;
        ReadElement { element_id, content, summary, metadata, blob }
    }
}

/// Five bits a letter, without the letters that look alike.
fn letters(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let count = bytes.len() * 8 / 5;
    (0..count).rev().map(|n| char::from(LETTERS[(bits >> (n * 5)) as usize & 31])).collect()
}

/// What makes an element itself.
fn add_identity(content: &ElementContent, identity: &mut Sha256) {
    let mut add = |text: &str| {
        identity.update(text.split_whitespace().collect::<Vec<_>>().join(" "));
        identity.update([0]);
    };
    match content {
        ElementContent::Text { text, .. }
        | ElementContent::Heading { text, .. }
        | ElementContent::Header { text }
        | ElementContent::Footer { text }
        | ElementContent::Widget { text, .. } => add(text),
        ElementContent::Annotation { text, target, .. } => {
            add(text);
            add(target.as_deref().unwrap_or_default());
        }
        // Blanks count in code.
        ElementContent::Code { text, .. } => identity.update(text),
        ElementContent::List { items, .. } | ElementContent::Diagram { items } => add_items(items, &mut add),
        // Not the data: a table that gets a row, or another value in a cell, is the same table.
        ElementContent::Table(table) => {
            let head = if table.headers.is_empty() { table.rows.first() } else { Some(&table.headers) };
            head.into_iter().flatten().for_each(|cell| add(cell));
        }
        ElementContent::PivotTable { name, .. } => add(name),
        ElementContent::Chart { chart_type, title, .. } => {
            add(chart_type);
            add(title);
        }
        ElementContent::Image { alt, url, description, .. } => {
            [alt, url, description].into_iter().for_each(|text| add(text.as_deref().unwrap_or_default()));
        }
        ElementContent::Formula { expression, .. } => add(expression),
        ElementContent::Link { text, url } => {
            add(text);
            add(url);
        }
        ElementContent::Separator {} => {}
        ElementContent::Audio { name, .. } | ElementContent::Video { name, .. } => add(name),
        ElementContent::Form { fields } => fields.iter().for_each(|field| add(&field.name)),
    }
}

fn add_items(items: &[ListEntry], add: &mut impl FnMut(&str)) {
    for item in items {
        add(item.text());
        add_items(item.items(), add);
    }
}

/// What is remembered of an element of a former version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownElement {
    /// The id it had.
    pub element_id: String,
    /// Its category.
    pub category: ElementCategory,
    /// The digest of its content.
    pub digest: u64,
    /// Its page.
    pub page_index: usize,
}

impl KnownElement {
    /// What to remember of the elements of a page.
    pub fn of_page(page: &ReadPage) -> impl Iterator<Item = Self> + '_ {
        page.elements.iter().map(|element| Self {
            element_id: element.element_id.clone(),
            category: element.content.category(),
            digest: content_digest(&element.content),
            page_index: page.page_index,
        })
    }
}

/// A digest of all that an element says.
pub fn content_digest(content: &ElementContent) -> u64 {
    let text = serde_json::to_vec(content).unwrap_or_default();
    let digest = Sha256::digest(text);
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Gives the elements of a new version the ids of a former one. Both are in reading order, over all pages.
pub fn carry_over(former: &[KnownElement], pages: &mut [ReadPage]) {
    let now: Vec<KnownElement> = pages.iter().flat_map(KnownElement::of_page).collect();
    let kept = matches(former, &now);
    let mut taken: HashSet<String> = kept.iter().flatten().map(|at| former[*at].element_id.clone()).collect();
    let elements = pages.iter_mut().flat_map(|page| &mut page.elements);
    let mut fresh = Vec::new();
    for (element, kept) in elements.zip(&kept) {
        match kept {
            Some(at) => element.element_id.clone_from(&former[*at].element_id),
            None => fresh.push(element),
        }
    }
    // A new element must not have the id that an old one keeps.
    for element in fresh {
        let (own, mut number) = (element.element_id.clone(), 1);
        while !taken.insert(element.element_id.clone()) {
            number += 1;
            element.element_id = format!("{own}-{number}");
        }
    }
}

/// For each element of now, the former one that it is.
fn matches(former: &[KnownElement], now: &[KnownElement]) -> Vec<Option<usize>> {
    let mut matched: Vec<Option<usize>> = vec![None; now.len()];
    let mut by_content: HashMap<(ElementCategory, u64), Vec<usize>> = HashMap::new();
    for (at, element) in former.iter().enumerate() {
        by_content.entry((element.category, element.digest)).or_default().push(at);
    }
    // Twins: first those that stayed on their page, in order; then the others, in order.
    for same_page in [true, false] {
        for (element, matched) in now.iter().zip(&mut matched).filter(|(_, matched)| matched.is_none()) {
            let Some(places) = by_content.get_mut(&(element.category, element.digest)) else { continue };
            let found = places.iter().position(|at| !same_page || former[*at].page_index == element.page_index);
            if let Some(found) = found {
                *matched = Some(places.remove(found));
            }
        }
    }
    let used: Vec<bool> = {
        let mut used = vec![false; former.len()];
        matched.iter().flatten().for_each(|at| used[*at] = true);
        used
    };
    // Gaps between neighbours that did not change: what stands there now is what stood there, changed.
    let mut start = 0;
    while start < now.len() {
        if matched[start].is_some() {
            start += 1;
            continue;
        }
        let end = (start..now.len()).find(|at| matched[*at].is_some()).unwrap_or(now.len());
        let before = start.checked_sub(1).and_then(|at| matched[at]).map_or(0, |at| at + 1);
        let after = match end < now.len() {
            true => matched[end].unwrap_or(before),
            false => former.len(),
        };
        if before <= after && after - before == end - start && !used[before..after].contains(&true) {
            for (at, old) in (start..end).zip(before..after) {
                if now[at].category == former[old].category {
                    matched[at] = Some(old);
                }
            }
        }
        start = end;
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableContent;

    fn page(key: &str, texts: &[&str]) -> PageDraft {
        let elements = texts.iter().map(|text| ElementContent::text(*text).into()).collect();
        PageDraft { elements, key: key.to_owned(), ..PageDraft::default() }
    }

    fn read(pages: &[PageDraft]) -> Vec<ReadPage> {
        let mut ids = IdAssigner::default();
        pages.iter().enumerate().map(|(index, draft)| ids.page(index, draft.clone())).collect()
    }

    fn ids(pages: &[ReadPage]) -> Vec<String> {
        pages.iter().flat_map(|page| &page.elements).map(|element| element.element_id.clone()).collect()
    }

    fn known(pages: &[ReadPage]) -> Vec<KnownElement> {
        pages.iter().flat_map(KnownElement::of_page).collect()
    }

    #[test]
    fn an_id_is_a_prefix_and_a_digest_and_twins_are_numbered() {
        let ids = ids(&read(&[page("", &["one", "two", "one", "one"])]));
        assert!(ids[0].starts_with("txt-") && ids[0].len() == 12, "{}", ids[0]);
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids[2], format!("{}-2", ids[0]));
        assert_eq!(ids[3], format!("{}-3", ids[0]));
    }

    #[test]
    fn a_page_with_a_key_has_the_same_ids_when_read_alone() {
        let pages = [page("Sheet1", &["total"]), page("Sheet2", &["total"])];
        let all = ids(&read(&pages));
        let alone = ids(&read(&pages[1..]));
        assert_eq!(all[1], alone[0]);
        assert_ne!(all[0], all[1]);
    }

    #[test]
    fn a_table_is_known_by_its_headers() {
        let table = |rows: usize| {
            let rows = (0..rows).map(|n| vec![n.to_string()]).collect();
            let content = ElementContent::Table(TableContent::whole(vec!["n".into()], rows));
            PageDraft { elements: vec![content.into()], ..PageDraft::default() }
        };
        assert_eq!(ids(&read(&[table(1)])), ids(&read(&[table(1000)])));
    }

    /// What becomes of ids `a b c …` of the former texts, in the new ones; `_` for a new id.
    fn carried(former: &[&str], now: &[&str]) -> String {
        let before = read(&[page("", former)]);
        let mut after = read(&[page("", now)]);
        carry_over(&known(&before), &mut after);
        let (before, after) = (ids(&before), ids(&after));
        let unique: std::collections::BTreeSet<_> = after.iter().collect();
        assert_eq!(unique.len(), after.len(), "{after:?}");
        let letter =
            |id: &String| before.iter().position(|old| old == id).map_or('_', |at| char::from(b'a' + at as u8));
        after.iter().map(letter).collect()
    }

    #[test]
    fn unchanged_elements_keep_their_ids_wherever_they_moved() {
        assert_eq!(carried(&["1", "2", "3"], &["1", "2", "3"]), "abc");
        assert_eq!(carried(&["1", "2", "3"], &["3", "1", "2"]), "cab");
        assert_eq!(carried(&["1", "2", "3"], &["0", "1", "2", "3"]), "_abc");
        assert_eq!(carried(&["1", "2", "3"], &["1", "3"]), "ac");
        assert_eq!(carried(&["1", "1", "2"], &["2", "1", "1"]), "cab");
    }

    #[test]
    fn an_element_changed_between_unchanged_neighbours_keeps_its_id() {
        assert_eq!(carried(&["1", "2", "3"], &["1", "two", "3"]), "abc");
        assert_eq!(carried(&["1", "2", "3"], &["one", "2", "3"]), "abc");
        assert_eq!(carried(&["1", "2", "3"], &["1", "2", "three"]), "abc");
        assert_eq!(carried(&["1", "2", "3", "4"], &["1", "two", "three", "4"]), "abcd");
        assert_eq!(carried(&["1", "2", "3"], &["1", "two", "new", "3"]), "a__c", "which of them it was is not known");
        assert_eq!(carried(&["1"], &["other"]), "a");
    }

    #[test]
    fn a_new_element_does_not_take_the_id_of_one_that_keeps_it() {
        let before = read(&[page("", &["1", "2", "3"])]);
        let mut changed = read(&[page("", &["1", "two", "3"])]);
        carry_over(&known(&before), &mut changed);
        let mut after = read(&[page("", &["2", "1", "two", "3"])]);
        carry_over(&known(&changed), &mut after);
        let after = ids(&after);
        assert_eq!(after[2], ids(&before)[1], "it was changed in place before");
        assert_ne!(after[0], after[2]);
    }

    #[test]
    fn an_element_keeps_its_id_on_another_page() {
        let before = read(&[page("", &["1", "2"]), page("", &["3"])]);
        let mut after = read(&[page("", &["1"]), page("", &["2", "3"])]);
        carry_over(&known(&before), &mut after);
        assert_eq!(ids(&before), ids(&after));
    }
}
