//! What a paragraph is: a heading, an item of a list, code, an equation, a link, or plain text.

use a2c_document_model::{ElementContent, ElementDraft, ElementMetadata, InlineLink};

use super::flow::{DocumentFlow, FlowForm, afford};
use super::numbering::WordNumbering;
use super::paragraph::ReadParagraph;
use super::styles::{WordStyle, WordStyles, heading_level};
use crate::ooxml::{BULLET, ListItem, MemoryBudget};

/// Lists that stand in no part of the file: a table of contents, and lists by the names of their styles alone.
const CONTENTS_LIST: u32 = u32::MAX;
const BULLET_STYLE_LIST: u32 = u32::MAX - 1;
const NUMBER_STYLE_LIST: u32 = u32::MAX - 2;

/// A paragraph that is known for what it is.
#[derive(Debug)]
pub(super) enum PlacedParagraph {
    Nothing,
    /// An empty paragraph with a rule below it.
    Separator,
    /// An empty line, which counts within code.
    EmptyLine,
    Heading {
        level: u8,
        /// The number before it.
        label: String,
        text: String,
        metadata: ElementMetadata,
    },
    Item(ListItem),
    Code(String),
    Formulas(Vec<String>),
    Link(InlineLink),
    Text(String, ElementMetadata),
}

impl PlacedParagraph {
    /// Takes the memory for it; `false` where there is none left.
    pub(super) fn afford(&self, budget: &mut MemoryBudget, form: FlowForm) -> bool {
        let (text, spans) = match self {
            Self::Nothing | Self::EmptyLine => return true,
            Self::Separator => (0, 0),
            Self::Heading { text, metadata, .. } | Self::Text(text, metadata) => {
                (text.capacity(), metadata.spans.len() + metadata.links.len())
            }
            Self::Item(item) => (item.text.capacity() + item.label.capacity(), item.links.len()),
            Self::Code(text) => return budget.take(text.len() + 1),
            Self::Formulas(formulas) => (formulas.iter().map(String::len).sum(), 0),
            Self::Link(link) => (link.text.len() + link.url.len(), 0),
        };
        // Items are kept as words until their list ends.
        let form = if matches!(self, Self::Item(_)) { FlowForm::Lines } else { form };
        afford(budget, form, text + size_of::<ListItem>(), spans)
    }

    /// Puts it into a flow.
    pub(super) fn put(self, flow: &mut DocumentFlow) {
        match flow.form {
            FlowForm::Elements => self.put_element(flow),
            FlowForm::Lines => self.put_line(flow),
        }
    }

    fn put_element(self, flow: &mut DocumentFlow) {
        match self {
            Self::Nothing => {}
            Self::EmptyLine if flow.is_in_code() => flow.code_line(""),
            Self::EmptyLine => {}
            Self::Separator => flow.element(ElementContent::Separator {}.into()),
            Self::Heading { level, label, text, mut metadata } => {
                let mut draft = ElementDraft::from(ElementContent::Heading { level, text: labelled(&label, &text) });
                if !label.is_empty() {
                    // A chapter before it changes its number, but not the heading.
                    draft.identity = Some(text);
                    metadata.spans.iter_mut().for_each(|span| span.start += label.len() + 1);
                }
                draft.metadata = metadata;
                flow.element(draft);
            }
            Self::Item(item) => flow.list_item(item),
            Self::Code(text) => flow.code_line(&text),
            Self::Formulas(formulas) => {
                for expression in formulas {
                    flow.element(ElementContent::Formula { expression, value: None }.into());
                }
            }
            Self::Link(link) => flow.element(ElementContent::Link { text: link.text, url: link.url }.into()),
            Self::Text(text, metadata) => {
                let mut draft = ElementDraft::from(ElementContent::text(text));
                draft.metadata = metadata;
                flow.element(draft);
            }
        }
    }

    fn put_line(self, flow: &mut DocumentFlow) {
        match self {
            Self::Nothing | Self::EmptyLine | Self::Separator => {}
            Self::Heading { label, text, metadata, .. } => flow.line(&labelled(&label, &text), metadata.links),
            Self::Item(item) => flow.line(&labelled(&item.label, &item.text), item.links),
            Self::Code(text) => flow.line(&text, Vec::new()),
            Self::Formulas(formulas) => {
                formulas.iter().for_each(|formula| flow.line(&format!("${formula}$"), Vec::new()));
            }
            Self::Link(link) => {
                let text = link.text.clone();
                flow.line(&text, vec![link]);
            }
            Self::Text(text, metadata) => flow.line(&text, metadata.links),
        }
    }
}

fn labelled(label: &str, text: &str) -> String {
    if label.is_empty() { text.to_owned() } else { format!("{label} {text}") }
}

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
