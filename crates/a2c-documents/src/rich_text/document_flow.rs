//! What a document says, in order, before it is divided into pages: elements, notes, breaks and the ends of sections.

use a2c_document_model::{ElementContent, ElementDraft, InlineLink};

use super::budget::MemoryBudget;
use super::list_builder::{ListBuilder, ListItem};

/// One thing in the flow of a document.
#[derive(Debug)]
pub(crate) enum FlowItem {
    /// An element.
    Element(ElementDraft),
    /// What stands at the end of the page where it is mentioned.
    Note(ElementDraft),
    /// A page ends.
    PageBreak,
    /// A section ends.
    SectionEnd,
}

/// The headers and footers of a section, and how it begins.
#[derive(Debug, Default)]
pub(crate) struct SectionBands {
    /// Whether it goes on where the former one ended.
    pub(crate) continues: bool,
    pub(crate) headers: Vec<ElementDraft>,
    pub(crate) footers: Vec<ElementDraft>,
}

/// Whether paragraphs become elements or lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowForm {
    Elements,
    /// Cells of tables, notes, headers: only their words count.
    Lines,
}

/// The flow of a document, or of a part of it.
#[derive(Debug)]
pub(crate) struct DocumentFlow {
    pub(crate) form: FlowForm,
    items: Vec<FlowItem>,
    lines: String,
    links: Vec<InlineLink>,
    list: Option<ListBuilder>,
    code: Option<String>,
    /// A rendered page break within a list waits for its end: the list stays whole.
    break_waits: bool,
}

impl DocumentFlow {
    pub(crate) fn new(form: FlowForm) -> Self {
        Self {
            form,
            items: Vec::new(),
            lines: String::new(),
            links: Vec::new(),
            list: None,
            code: None,
            break_waits: false,
        }
    }

    /// Adds an element.
    pub(crate) fn element(&mut self, draft: ElementDraft) {
        self.close();
        self.items.push(FlowItem::Element(draft));
    }

    /// Adds a line, where only words count.
    pub(crate) fn line(&mut self, text: &str, links: Vec<InlineLink>) {
        if text.is_empty() {
            return;
        }
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.lines.push_str(text);
        self.links.extend(links);
    }

    /// Adds an item of a list.
    pub(crate) fn list_item(&mut self, item: ListItem) {
        self.close_code();
        let begins = match &mut self.list {
            Some(list) => list.add(item),
            None => Some(item),
        };
        if let Some(item) = begins {
            self.close_list();
            self.list = Some(ListBuilder::new(item));
        }
    }

    /// Adds a line of code.
    pub(crate) fn code_line(&mut self, text: &str) {
        self.close_list();
        match &mut self.code {
            Some(code) => {
                code.push('\n');
                code.push_str(text);
            }
            None => self.code = Some(text.to_owned()),
        }
    }

    /// Whether code is open, to which an empty line belongs.
    pub(crate) fn is_in_code(&self) -> bool {
        self.code.is_some()
    }

    /// Whether a list is open.
    pub(crate) fn is_in_list(&self) -> bool {
        self.list.is_some()
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, draft: ElementDraft) {
        self.items.push(FlowItem::Note(draft));
    }

    /// Ends a page, as its author wants it.
    pub(crate) fn page_break(&mut self) {
        self.close();
        self.items.push(FlowItem::PageBreak);
    }

    /// Ends a page where the program that wrote the file did.
    pub(crate) fn rendered_break(&mut self) {
        match self.list.is_some() || self.code.is_some() || self.form == FlowForm::Lines {
            true => self.break_waits = true,
            false => self.items.push(FlowItem::PageBreak),
        }
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.lines.is_empty() && self.list.is_none() && self.code.is_none()
    }

    /// Whether a break waits in these lines.
    pub(crate) fn has_break(&self) -> bool {
        self.break_waits
    }

    /// Ends a section.
    pub(crate) fn section_end(&mut self) {
        self.close();
        self.items.push(FlowItem::SectionEnd);
    }

    fn close_list(&mut self) {
        if let Some(list) = self.list.take() {
            self.items.push(FlowItem::Element(list.finish()));
            self.push_waiting_break();
        }
    }

    fn close_code(&mut self) {
        if let Some(code) = self.code.take() {
            let text = code.trim_end().to_owned();
            self.items.push(FlowItem::Element(ElementContent::Code { language: None, text, truncated: false }.into()));
            self.push_waiting_break();
        }
    }

    fn push_waiting_break(&mut self) {
        if std::mem::take(&mut self.break_waits) {
            self.items.push(FlowItem::PageBreak);
        }
    }

    fn close(&mut self) {
        self.close_list();
        self.close_code();
    }

    /// What was said, as items.
    pub(crate) fn into_items(mut self) -> Vec<FlowItem> {
        self.close();
        self.items
    }

    /// What was said, as lines with their links, and what is no line.
    pub(crate) fn into_lines(self) -> (String, Vec<InlineLink>, Vec<FlowItem>) {
        (self.lines, self.links, self.items)
    }

    /// Takes over what another flow said besides its lines.
    pub(crate) fn take_over(&mut self, items: Vec<FlowItem>) {
        for item in items {
            match item {
                FlowItem::Element(draft) => self.element(draft),
                FlowItem::Note(draft) => self.note(draft),
                FlowItem::PageBreak | FlowItem::SectionEnd => {}
            }
        }
    }
}

/// Takes what a text takes; `false` where there is no memory left for it.
pub(crate) fn afford(budget: &mut MemoryBudget, form: FlowForm, text: usize, spans: usize) -> bool {
    match form {
        FlowForm::Elements => budget.take_element(text, spans),
        FlowForm::Lines => budget.take(text),
    }
}
