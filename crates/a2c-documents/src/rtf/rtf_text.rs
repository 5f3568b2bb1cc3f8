//! A text that is put together paragraph by paragraph: the body, or a note, a header, a comment beside it.

use std::collections::HashMap;

use a2c_document_model::{ElementDraft, InlineLink};

use super::group_state::ParagraphState;
use super::rtf_table::{CellBound, RtfRow, RtfTable};
use crate::rich_text::{BULLET, DocumentFlow, FlowForm, ListItem, MemoryBudget, PlacedParagraph, RichText, TableGrid};

/// The lists that are told by their indentation alone have numbers from here on.
const INDENTED_LISTS: u32 = 1 << 31;

/// A label before an item is at most so long, in characters.
const LABEL: usize = 12;

/// What a style of paragraphs stands for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RtfStyle {
    pub(super) heading: Option<u8>,
    pub(super) code: bool,
}

/// A text under construction.
pub(super) struct RtfText {
    pub(super) flow: DocumentFlow,
    pub(super) text: RichText,
    /// The label that the program wrote before the paragraph.
    pub(super) label: String,
    /// The pictures in the paragraph, which stand after it.
    pub(super) drawn: Vec<ElementDraft>,
    pub(super) bounds: Vec<CellBound>,
    pub(super) next_bound: CellBound,
    pub(super) is_header_row: bool,
    table: RtfTable,
    row: Vec<(String, Vec<InlineLink>)>,
    cell: DocumentFlow,
}

impl RtfText {
    pub(super) fn new(form: FlowForm) -> Self {
        Self {
            flow: DocumentFlow::new(form),
            text: RichText::default(),
            label: String::new(),
            drawn: Vec::new(),
            bounds: Vec::new(),
            next_bound: CellBound::default(),
            is_header_row: false,
            table: RtfTable::default(),
            row: Vec::new(),
            cell: DocumentFlow::new(FlowForm::Lines),
        }
    }

    /// A paragraph ends.
    pub(super) fn end_paragraph(
        &mut self,
        state: &ParagraphState,
        styles: &HashMap<i32, RtfStyle>,
        budget: &mut MemoryBudget,
    ) {
        if !state.in_table {
            self.end_table(budget);
        }
        let label = std::mem::take(&mut self.label);
        let style = state.style.and_then(|style| styles.get(&style)).copied().unwrap_or_default();
        let placed = placed(std::mem::take(&mut self.text), &label, state, style);
        let flow = if state.in_table { &mut self.cell } else { &mut self.flow };
        if state.page_break_before && flow.form == FlowForm::Elements {
            flow.page_break();
        }
        if placed.afford(budget, flow.form) {
            placed.put(flow);
        }
        self.drawn.drain(..).for_each(|draft| flow.element(draft));
    }

    /// Whether a paragraph has begun.
    pub(super) fn is_open(&self) -> bool {
        !self.text.text().trim().is_empty() || !self.drawn.is_empty()
    }

    /// A cell ends, and with it the paragraph.
    pub(super) fn end_cell(
        &mut self,
        state: &ParagraphState,
        styles: &HashMap<i32, RtfStyle>,
        budget: &mut MemoryBudget,
    ) {
        self.end_paragraph(&ParagraphState { in_table: true, ..*state }, styles, budget);
        let cell = std::mem::replace(&mut self.cell, DocumentFlow::new(FlowForm::Lines));
        let (text, links, items) = cell.into_lines();
        self.flow.take_over(items);
        if self.row.len() < TableGrid::COLUMNS && budget.take_cell(1, text.capacity()) {
            self.row.push((text, links));
        }
    }

    /// A row ends.
    pub(super) fn end_row(&mut self, budget: &mut MemoryBudget) {
        let cells = std::mem::take(&mut self.row);
        let bounds = self.bounds.clone();
        if !cells.is_empty() && budget.take_row() && budget.take(bounds.len() * size_of::<CellBound>()) {
            self.table.push(RtfRow { bounds, cells, is_header: self.is_header_row });
        }
    }

    /// A table ends where something else begins.
    fn end_table(&mut self, budget: &mut MemoryBudget) {
        if !self.row.is_empty() {
            self.end_row(budget);
        }
        if self.table.is_empty() {
            return;
        }
        let table = std::mem::take(&mut self.table);
        match self.flow.form {
            FlowForm::Lines => self.flow.line(&table.lines(), Vec::new()),
            FlowForm::Elements => {
                if let Some(draft) = table.finish() {
                    budget.take_element(0, 0);
                    self.flow.element(draft);
                }
            }
        }
    }

    /// All that was said.
    pub(super) fn finish(
        mut self,
        state: &ParagraphState,
        styles: &HashMap<i32, RtfStyle>,
        budget: &mut MemoryBudget,
    ) -> DocumentFlow {
        if self.is_open() {
            match state.in_table {
                true => self.end_cell(state, styles, budget),
                false => self.end_paragraph(state, styles, budget),
            }
        }
        self.end_table(budget);
        self.flow
    }
}

/// What a paragraph is.
fn placed(text: RichText, label: &str, state: &ParagraphState, style: RtfStyle) -> PlacedParagraph {
    if text.text().trim().is_empty() {
        return match state.rule_below {
            true => PlacedParagraph::Separator,
            false if style.code => PlacedParagraph::EmptyLine,
            false => PlacedParagraph::Nothing,
        };
    }
    let label = label.trim();
    let heading = state.outline.filter(|level| *level < 9).map(|level| level + 1).or(style.heading);
    if let Some(level) = heading {
        let (text, mut metadata) = text.finish();
        // That all of a heading is bold goes without saying.
        metadata.spans.retain(|span| span.length < text.len() || span.url.is_some());
        let label = if is_counted(label) { label.to_owned() } else { String::new() };
        return PlacedParagraph::Heading { level, label, text: text.replace(['\n', '\t'], " "), metadata };
    }
    if style.code || text.is_all_code() {
        return PlacedParagraph::Code(text.into_plain().0.trim_end().to_owned());
    }
    if !label.is_empty() || state.list.is_some() {
        let list = state.list.and_then(|list| u32::try_from(list).ok()).unwrap_or(0);
        let (text, metadata) = text.finish();
        let ordered = is_counted(label);
        let label = if ordered { label.to_owned() } else { BULLET.to_owned() };
        let (level, indent) = (state.list_level, state.indent);
        return PlacedParagraph::Item(ListItem { text, links: metadata.links, label, ordered, list, level, indent });
    }
    if let Some(link) = text.sole_link() {
        return PlacedParagraph::Link(link.clone());
    }
    let (text, metadata) = text.finish();
    match written_label(&text, state) {
        Some((label, words)) => {
            let ordered = is_counted(label);
            let label = if ordered { label.to_owned() } else { BULLET.to_owned() };
            let list = INDENTED_LISTS.saturating_add_signed(state.indent);
            let (text, links) = (words.to_owned(), metadata.links);
            PlacedParagraph::Item(ListItem { text, links, label, ordered, list, level: 0, indent: state.indent })
        }
        None => PlacedParagraph::Text(text, metadata),
    }
}

/// The label of an item that is written as text, before a tab and left of the indentation.
fn written_label<'t>(text: &'t str, state: &ParagraphState) -> Option<(&'t str, &'t str)> {
    let (label, words) = text.split_once('\t').filter(|_| state.first_indent < 0)?;
    let label = label.trim();
    let is_bullet = label.chars().count() == 1 && !label.chars().all(char::is_alphanumeric);
    let is_count = label.chars().count() <= LABEL && is_counted(label) && label.ends_with(['.', ')', ':']);
    (is_bullet || is_count).then(|| (label, words.trim()))
}

fn is_counted(label: &str) -> bool {
    // Letters of symbol fonts are bullets.
    label.chars().any(char::is_alphanumeric) && label != "o" && label != "§"
}
