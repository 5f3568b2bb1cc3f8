//! Items that come one after the other as a nested list. Pure.

use a2c_document_model::{ElementContent, ElementDraft, InlineLink, ListEntry};

/// How deep a list is nested at most; deeper items stand at this depth.
const DEPTH: usize = 12;

/// The sign before an item that is not counted.
pub(crate) const BULLET: &str = "•";

/// One item, as a paragraph declares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListItem {
    pub(crate) text: String,
    pub(crate) links: Vec<InlineLink>,
    /// What stands before it.
    pub(crate) label: String,
    pub(crate) ordered: bool,
    /// Which list it belongs to.
    pub(crate) list: u32,
    /// Its level in that list, from 0.
    pub(crate) level: u8,
    /// Its indentation, which tells where an item of another list stands.
    pub(crate) indent: i32,
}

/// A list under construction.
#[derive(Debug)]
pub(crate) struct ListBuilder {
    /// The items with their depths.
    items: Vec<(usize, String)>,
    labels: Vec<String>,
    links: Vec<InlineLink>,
    ordered: bool,
    /// The list, level and indentation of the items that are open, from the outermost on.
    open: Vec<(u32, u8, i32)>,
}

impl ListBuilder {
    /// A list that begins with an item.
    pub(crate) fn new(item: ListItem) -> Self {
        let (ordered, open) = (item.ordered, vec![(item.list, item.level, item.indent)]);
        let mut list = Self { items: Vec::new(), labels: Vec::new(), links: Vec::new(), ordered, open };
        list.push(0, item);
        list
    }

    fn push(&mut self, depth: usize, item: ListItem) {
        self.items.push((depth.min(DEPTH), item.text));
        self.labels.push(if item.ordered { item.label } else { BULLET.to_owned() });
        self.links.extend(item.links);
    }

    /// Adds an item, or gives it back where it begins another list.
    pub(crate) fn add(&mut self, item: ListItem) -> Option<ListItem> {
        let place = (item.list, item.level, item.indent);
        let same_list = |(list, ..): &(u32, u8, i32)| *list == item.list;
        if self.open.iter().any(same_list) {
            let parent = self.open.iter().rposition(|open| same_list(open) && open.1 <= item.level);
            match parent {
                Some(at) if self.open[at].1 == item.level => self.open.truncate(at + 1),
                Some(at) => {
                    self.open.truncate(at + 1);
                    self.open.push(place);
                }
                // Items of a level above the first one.
                None => self.open = vec![place],
            }
        } else {
            // Another list: nested where it stands further right, else one of its own.
            let Some(outer) = self.open.iter().rposition(|(.., indent)| *indent < item.indent) else {
                return Some(item);
            };
            self.open.truncate(outer + 1);
            self.open.push(place);
        }
        self.push(self.open.len() - 1, item);
        None
    }

    /// The list as an element.
    pub(crate) fn finish(self) -> ElementDraft {
        let plain = is_plain(&self.items, &self.labels, self.ordered);
        let mut items = self.items.into_iter().peekable();
        let mut entries = Vec::new();
        while items.peek().is_some() {
            entries.extend(nested(&mut items, 0));
        }
        let mut draft = ElementDraft::from(ElementContent::List { ordered: self.ordered, items: entries });
        draft.metadata.links = self.links;
        if !plain {
            draft.metadata.labels = self.labels;
        }
        draft
    }
}

/// Whether the labels are those that a renderer gives anyhow.
fn is_plain(items: &[(usize, String)], labels: &[String], ordered: bool) -> bool {
    if !ordered {
        return labels.iter().all(|label| label == BULLET);
    }
    let mut counts = [0_usize; DEPTH + 1];
    items.iter().zip(labels).all(|((depth, _), label)| {
        counts[*depth] += 1;
        counts[depth + 1..].fill(0);
        *label == format!("{}.", counts[*depth])
    })
}

/// The items of a depth and below. An item that skips a depth stands below the last one.
fn nested(items: &mut std::iter::Peekable<impl Iterator<Item = (usize, String)>>, depth: usize) -> Vec<ListEntry> {
    let mut entries = Vec::new();
    while let Some((_, text)) = items.next_if(|(at, _)| *at >= depth) {
        let below = match items.peek() {
            Some((at, _)) if *at > depth && depth < DEPTH => nested(items, depth + 1),
            _ => Vec::new(),
        };
        entries.push(ListEntry::new(text, below));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, list: u32, level: u8, indent: i32, label: &str) -> ListItem {
        let ordered = label != BULLET;
        ListItem { text: text.into(), label: label.into(), ordered, list, level, indent, links: Vec::new() }
    }

    fn shown(entries: &[ListEntry]) -> String {
        let one = |entry: &ListEntry| match entry.items() {
            [] => entry.text().to_owned(),
            below => format!("{}({})", entry.text(), shown(below)),
        };
        entries.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn built(items: Vec<ListItem>) -> Vec<(String, Vec<String>)> {
        let (mut lists, mut open): (Vec<ElementDraft>, Option<ListBuilder>) = (Vec::new(), None);
        for item in items {
            let rest = match &mut open {
                Some(list) => list.add(item),
                None => Some(item),
            };
            if let Some(item) = rest {
                lists.extend(open.replace(ListBuilder::new(item)).map(ListBuilder::finish));
            }
        }
        lists.extend(open.map(ListBuilder::finish));
        let shown = |draft: ElementDraft| match draft.content {
            ElementContent::List { items, .. } => (shown(&items), draft.metadata.labels),
            _ => panic!("a list"),
        };
        lists.into_iter().map(shown).collect()
    }

    #[test]
    fn levels_and_indentations_nest() {
        let lists = built(vec![
            item("a", 1, 0, 0, "1."),
            item("b", 1, 2, 0, "1."),
            item("c", 1, 0, 0, "2."),
            item("d", 2, 0, 360, "•"),
            item("e", 1, 0, 0, "3."),
            item("f", 3, 0, 0, "1."),
        ]);
        assert_eq!(lists[0].0, "a(b) c(d) e");
        assert_eq!(lists[0].1, ["1.", "1.", "2.", "•", "3."]);
        assert_eq!(lists[1], ("f".to_owned(), vec![]));
    }

    #[test]
    fn labels_are_kept_where_they_are_not_plain() {
        let lists = built(vec![item("a", 1, 0, 0, "1."), item("b", 1, 1, 0, "1."), item("c", 1, 0, 0, "2.")]);
        assert!(lists[0].1.is_empty());
        let lists = built(vec![item("a", 1, 0, 0, "4."), item("b", 1, 0, 0, "5.")]);
        assert_eq!(lists[0].1, ["4.", "5."]);
        let lists = built(vec![item("inner", 1, 1, 0, "•"), item("outer", 1, 0, 0, "•")]);
        assert_eq!(lists[0], ("inner outer".to_owned(), vec![]));
    }

    #[test]
    fn endless_nesting_stays_bounded() {
        let lists = built((0..1000).map(|n| item("x", n as u32, 0, n, "•")).collect());
        assert_eq!(lists.len(), 1);
    }
}
