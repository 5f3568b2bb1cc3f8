//! Lists: items that begin with a sign or a number, nested by their indentation.

use a2c_document_model::{ElementContent, ElementDraft, InlineLink, ListEntry};

/// Signs that stand before items and nowhere else.
const SIGNS: &str = "•●◦○▪▫■□‣⁃∙➢➤►▸✓✔❖◆◇\u{f0b7}\u{f0a7}\u{f0d8}";
/// Signs that also stand elsewhere: before items only as a word of their own.
const DASHES: [&str; 6] = ["-", "–", "—", "*", "·", "o"];
/// The sign before an item that is not counted.
const BULLET: &str = "•";
/// How deep lists are nested at most.
const DEPTH: usize = 12;
/// How far items of one level differ in their indentation.
const LEVEL: f32 = 3.0;

/// What stands before an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListMarker {
    Sign,
    Counted {
        label: String,
        /// Its place in the count.
        number: u32,
    },
}

impl ListMarker {
    /// Reads the marker that a word is.
    pub(crate) fn read(word: &str) -> Option<Self> {
        if Self::is_plain_sign(word) || DASHES.contains(&word) {
            return Some(Self::Sign);
        }
        let inner = word.strip_prefix('(').unwrap_or(word);
        let inner = inner.strip_suffix(')').or_else(|| inner.strip_suffix('.').filter(|_| !word.starts_with('(')))?;
        Some(Self::Counted { label: word.to_owned(), number: count_of(inner)? })
    }

    /// Whether an item with this marker follows one with another.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sign, Self::Sign) => true,
            (Self::Counted { number, label }, Self::Counted { number: before, label: label_before }) => {
                *number == before + 1 && label.ends_with(')') == label_before.ends_with(')')
            }
            _ => false,
        }
    }

    /// Whether a word is a sign that stands before items and nowhere else.
    pub(crate) fn is_plain_sign(word: &str) -> bool {
        let mut characters = word.chars();
        characters.next().is_some_and(|c| SIGNS.contains(c)) && characters.next().is_none()
    }

    /// Whether items with these markers, at one indentation, belong to one list.
    fn shares_list(&self, first: &Self) -> bool {
        match (self, first) {
            (Self::Sign, Self::Sign) => true,
            (Self::Counted { number, .. }, Self::Counted { .. }) => *number > 1,
            _ => false,
        }
    }
}

/// Whether a word may stand before an item.
pub(crate) fn is_marker(word: &str) -> bool {
    word.len() <= 8 && ListMarker::read(word).is_some()
}

/// The rest of a word that begins with the sign of an item.
pub(crate) fn without_sign(word: &str) -> Option<&str> {
    let first = word.chars().next().filter(|c| SIGNS.contains(*c))?;
    Some(&word[first.len_utf8()..]).filter(|rest| !rest.is_empty())
}

/// The number that digits, a letter or a Roman number stand for.
fn count_of(text: &str) -> Option<u32> {
    match text.as_bytes() {
        [b'0'..=b'9', ..] if text.len() <= 3 => text.parse().ok(),
        b"i" | b"I" => Some(1),
        [b'i' | b'v' | b'x' | b'I' | b'V' | b'X', _, ..] => roman(text),
        [letter @ (b'a'..=b'z' | b'A'..=b'Z')] => Some(u32::from(letter.to_ascii_lowercase() - b'a') + 1),
        _ => None,
    }
}

fn roman(text: &str) -> Option<u32> {
    const NUMBERS: [&str; 20] = [
        "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii",
        "xviii", "xix", "xx",
    ];
    let text = text.to_ascii_lowercase();
    NUMBERS.iter().position(|number| *number == text).map(|place| place as u32 + 1)
}

/// An item of a list.
#[derive(Debug, Clone)]
pub(crate) struct MarkedItem {
    pub(crate) marker: ListMarker,
    pub(crate) indent: f32,
    pub(crate) text: String,
    pub(crate) links: Vec<InlineLink>,
}

/// Whether an item begins another list than the items before it are.
pub(crate) fn begins_list(items: &[MarkedItem], item: &MarkedItem) -> bool {
    items
        .first()
        .is_some_and(|first| (first.indent - item.indent).abs() <= LEVEL && !item.marker.shares_list(&first.marker))
}

/// Items one after the other as a nested list.
pub(crate) fn list_draft(items: Vec<MarkedItem>) -> ElementDraft {
    let ordered = matches!(items.first().map(|item| &item.marker), Some(ListMarker::Counted { .. }));
    let mut open: Vec<f32> = Vec::new();
    let (mut labels, mut links, mut flat) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        while open.len() > 1 && open.last().is_some_and(|indent| item.indent < indent - LEVEL) {
            open.pop();
        }
        if open.last().is_none_or(|indent| item.indent > indent + LEVEL) && open.len() < DEPTH {
            open.push(item.indent);
        }
        labels.push(match item.marker {
            ListMarker::Sign => BULLET.to_owned(),
            ListMarker::Counted { label, .. } => label,
        });
        links.extend(item.links);
        flat.push((open.len() - 1, item.text));
    }
    let plain = is_plain(&flat, &labels, ordered);
    let mut flat = flat.into_iter().peekable();
    let mut draft = ElementDraft::from(ElementContent::List { ordered, items: nested(&mut flat, 0) });
    draft.metadata.links = links;
    if !plain {
        draft.metadata.labels = labels;
    }
    draft
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

/// The items of a depth, each with those below it. The depth is bounded by [`DEPTH`].
fn nested(items: &mut std::iter::Peekable<impl Iterator<Item = (usize, String)>>, depth: usize) -> Vec<ListEntry> {
    let mut entries = Vec::new();
    while let Some((_, text)) = items.next_if(|(at, _)| *at >= depth) {
        let below = match items.peek() {
            Some((at, _)) if *at > depth => nested(items, depth + 1),
            _ => Vec::new(),
        };
        entries.push(ListEntry::new(text, below));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_numbers_are_markers() {
        for (word, expected) in [
            ("•", Some(None)),
            ("-", Some(None)),
            ("1.", Some(Some(1))),
            ("12)", Some(Some(12))),
            ("(b)", Some(Some(2))),
            ("iv.", Some(Some(4))),
            ("C.", Some(Some(3))),
            ("2019.", None),
            ("1.5", None),
            ("word.", None),
            ("", None),
            (".", None),
        ] {
            let read = ListMarker::read(word).map(|marker| match marker {
                ListMarker::Sign => None,
                ListMarker::Counted { number, .. } => Some(number),
            });
            assert_eq!(read, expected, "{word}");
        }
        assert_eq!(without_sign("•text"), Some("text"));
        assert_eq!(without_sign("-text"), None);
    }

    #[test]
    fn items_are_nested_by_their_indentation() {
        let item = |word: &str, indent: f32, text: &str| MarkedItem {
            marker: ListMarker::read(word).unwrap(),
            indent,
            text: text.into(),
            links: Vec::new(),
        };
        let items = vec![item("1.", 10.0, "a"), item("•", 30.0, "b"), item("•", 30.5, "c"), item("2.", 10.0, "d")];
        let draft = list_draft(items);
        let ElementContent::List { ordered, items } = draft.content else { panic!("a list") };
        assert!(ordered);
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].items().iter().map(ListEntry::text).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(draft.metadata.labels, ["1.", "•", "•", "2."]);
    }
}
