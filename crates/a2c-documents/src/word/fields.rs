//! Fields: instructions such as `HYPERLINK "…"` or `PAGE`, and the text that was their last result.

use crate::rich_text::link_address;

/// How many fields may stand in each other.
const DEPTH: usize = 32;

/// The fields that are open. They may reach over paragraphs, as a table of contents does.
#[derive(Debug, Default)]
pub(super) struct OpenFields {
    open: Vec<OpenField>,
}

#[derive(Debug, Default)]
struct OpenField {
    instruction: String,
    shows_result: bool,
}

impl OpenFields {
    /// A field begins.
    pub(super) fn begin(&mut self) {
        if self.open.len() < DEPTH {
            self.open.push(OpenField::default());
        }
    }

    /// A piece of the instruction.
    pub(super) fn instruct(&mut self, text: &str) {
        if let Some(field) = self.open.last_mut().filter(|field| !field.shows_result && field.instruction.len() < 4096)
        {
            field.instruction.push_str(text);
        }
    }

    /// The result follows; the address, where the field is a link.
    pub(super) fn separate(&mut self) -> Option<String> {
        let field = self.open.last_mut()?;
        field.shows_result = true;
        link_address(&field.instruction)
    }

    /// A field ends; whether it was a link.
    pub(super) fn end(&mut self) -> bool {
        self.open.pop().is_some_and(|field| link_address(&field.instruction).is_some())
    }

    /// Whether text that comes now is shown.
    pub(super) fn shows_text(&self) -> bool {
        self.open.iter().all(|field| field.shows_result)
    }

    /// A paragraph ends. An instruction ends with it: a field that lacks its end must not hide the rest of a document.
    pub(super) fn end_paragraph(&mut self) {
        self.open.retain(|field| field.shows_result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_never_ends_hides_one_paragraph_at_most() {
        let mut fields = OpenFields::default();
        fields.begin();
        fields.instruct("PAGE");
        assert!(!fields.shows_text());
        fields.end_paragraph();
        assert!(fields.shows_text());
    }
}
