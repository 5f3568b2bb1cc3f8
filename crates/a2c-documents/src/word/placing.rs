//! What a paragraph is: a heading, an item of a list, code, an equation, a link, or plain text.

use super::numbering::WordNumbering;
use super::paragraph::ReadParagraph;
use super::styles::{WordStyle, WordStyles};
use crate::rich_text::{BULLET, ListItem, PlacedParagraph, heading_level};

/// Lists that stand in no part of the file: a table of contents, and lists by the names of their styles alone.
const CONTENTS_LIST: u32 = u32::MAX;
const BULLET_STYLE_LIST: u32 = u32::MAX - 1;
const NUMBER_STYLE_LIST: u32 = u32::MAX - 2;

/// Finds out what a paragraph is. Items of lists, and numbered headings, are counted.
pub(super) fn classify(read: ReadParagraph<'_>, styles: &WordStyles, numbering: &mut WordNumbering) -> PlacedParagraph {
    let style = read.properties.style.as_deref().and_then(|id| styles.get(id));
    let in_code_style = style.is_some_and(|style| {
        style.code || (style.run.code == Some(true) && !styles.all_fixed_width && style.heading.is_none())
    });
    if read.text.text().trim().is_empty() {
        return match read.properties.rule_below {
            true => PlacedParagraph::Separator,
            false if in_code_style => PlacedParagraph::EmptyLine,
            false => PlacedParagraph::Nothing,
        };
    }
    if read.is_only_equations() {
        return PlacedParagraph::Formulas(read.equations);
    }
    let heading = match read.properties.outline {
        Some(level) => (level < 9).then_some(level + 1),
        None => match style {
            Some(style) => style.heading,
            None => read.properties.style.as_deref().and_then(heading_level),
        },
    };
    let (list, level) = list_place(&read, style);
    let label = list.and_then(|list| numbering.count(list, level));
    if let Some(heading) = heading {
        let (text, metadata) = read.text.finish();
        let label = label.filter(|label| label != BULLET).unwrap_or_default();
        return PlacedParagraph::Heading { level: heading, label, text: one_line(text), metadata };
    }
    if in_code_style || read.text.is_all_code() {
        return PlacedParagraph::Code(read.text.into_plain().0.trim_end().to_owned());
    }
    if let Some(item) = list_item(&read, style, label, list, level, numbering) {
        let (text, metadata) = read.text.finish();
        return PlacedParagraph::Item(ListItem { text, links: metadata.links, ..item });
    }
    if let Some(link) = read.text.sole_link() {
        return PlacedParagraph::Link(link.clone());
    }
    let (text, metadata) = read.text.finish();
    PlacedParagraph::Text(text, metadata)
}

/// The list and the level that a paragraph declares, itself or by its style.
fn list_place(read: &ReadParagraph<'_>, style: Option<&WordStyle>) -> (Option<u32>, u8) {
    let list = read.properties.list.or_else(|| style?.paragraph.list).filter(|list| *list != 0);
    let level = read.properties.list_level.or_else(|| style?.paragraph.list_level).unwrap_or(0);
    (list, level)
}

/// The place of an item, where a paragraph is one.
fn list_item(
    read: &ReadParagraph<'_>,
    style: Option<&WordStyle>,
    label: Option<String>,
    list: Option<u32>,
    level: u8,
    numbering: &WordNumbering,
) -> Option<ListItem> {
    if let (Some(label), Some(list)) = (label, list) {
        let found = numbering.level(list, level);
        let ordered = found.is_some_and(|level| level.format.is_counted());
        // Formatting of the paragraph counts most, then that of the list where the paragraph names it itself.
        let (of_style, of_list) =
            (style.and_then(|style| style.paragraph.indent), found.and_then(|level| level.indent));
        let inherited = if read.properties.list.is_some() { of_list.or(of_style) } else { of_style.or(of_list) };
        let indent = read.properties.indent.or(inherited).unwrap_or(0);
        if label.is_empty() {
            return None;
        }
        return Some(ListItem { label, ordered, list, level, indent, ..ListItem::default() });
    }
    let style = style?;
    if let Some(level) = style.contents_level {
        let label = BULLET.to_owned();
        return Some(ListItem { label, list: CONTENTS_LIST, level, ..ListItem::default() });
    }
    // Files of other programs may name the style and lack the list.
    let (ordered, number) = match style.name.strip_prefix("list ")? {
        name if name.starts_with("bullet") => (false, name.trim_start_matches("bullet")),
        name if name.starts_with("number") => (true, name.trim_start_matches("number")),
        _ => return None,
    };
    let level = number.trim().parse::<u8>().unwrap_or(1).saturating_sub(1);
    let list = if ordered { NUMBER_STYLE_LIST } else { BULLET_STYLE_LIST };
    Some(ListItem { label: BULLET.to_owned(), list, level, ..ListItem::default() })
}

/// A heading in one line, of the same length, so that its spans still fit.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\t']) { text.replace(['\n', '\t'], " ") } else { text }
}
