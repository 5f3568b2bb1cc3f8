//! What a paragraph is, once a reader has found it out, and how it goes into the flow of its document.

use a2c_document_model::{ElementContent, ElementDraft, ElementMetadata, InlineLink};

use super::budget::MemoryBudget;
use super::document_flow::{DocumentFlow, FlowForm, afford};
use super::list_builder::ListItem;

/// A paragraph that is known for what it is.
#[derive(Debug)]
pub(crate) enum PlacedParagraph {
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
    pub(crate) fn afford(&self, budget: &mut MemoryBudget, form: FlowForm) -> bool {
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
    pub(crate) fn put(self, flow: &mut DocumentFlow) {
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
