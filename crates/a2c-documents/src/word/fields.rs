//! Fields: instructions such as `HYPERLINK "…"` or `PAGE`, and the text that was their last result.

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

/// The address that an instruction links to.
pub(super) fn link_address(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start();
    let word = rest.get(..9).filter(|word| word.eq_ignore_ascii_case("HYPERLINK"))?;
    let (mut address, mut anchor, mut of_anchor) = (None, None, false);
    for token in tokens(&rest[word.len()..]) {
        match token.as_str() {
            "\\l" => of_anchor = true,
            switch if switch.starts_with('\\') && switch.len() == 2 => of_anchor = false,
            _ if of_anchor => anchor = anchor.or(Some(token)),
            _ => address = address.or(Some(token)),
        }
    }
    match (address, anchor) {
        (Some(address), Some(anchor)) => Some(format!("{address}#{anchor}")),
        (Some(address), None) => Some(address),
        (None, Some(anchor)) => Some(format!("#{anchor}")),
        (None, None) => None,
    }
}

/// Words, and what stands within quotation marks.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() && tokens.len() < 16 {
        let (token, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        tokens.push(token.to_owned());
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_link_is_found() {
        for (instruction, expected) in [
            (" HYPERLINK \"http://a/b c\" ", Some("http://a/b c")),
            ("hyperlink http://a \\o \"tip\"", Some("http://a")),
            ("HYPERLINK \\l \"part\"", Some("#part")),
            ("HYPERLINK \"http://a\" \\l \"part\" \\h", Some("http://a#part")),
            ("PAGE", None),
            ("HYPERLINK", None),
            ("", None),
        ] {
            assert_eq!(link_address(instruction).as_deref(), expected, "{instruction}");
        }
    }

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
