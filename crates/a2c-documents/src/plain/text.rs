//! Plain text: paragraphs between empty lines, headings that are underlined, lists that are marked.

use a2c_document_model::{DocumentProperties, ElementContent, ElementDraft, ListEntry, UnreadableFile};

use crate::encoding::decoded;
use crate::flow::{FlowDocument, divide_at_headings};
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let pages = divide_at_headings(elements(&decoded(&bytes)), limits.page_elements);
    Ok(Box::new(FlowDocument::new(DocumentProperties::default(), pages)))
}

/// The elements of a plain text.
pub(crate) fn elements(text: &str) -> Vec<ElementDraft> {
    let mut elements = Vec::new();
    for block in blocks(text) {
        add_block(&block, &mut elements);
    }
    elements
}

/// The lines between empty lines.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_new = true;
        } else if is_new {
            blocks.push(vec![line]);
            is_new = false;
        } else if let Some(block) = blocks.last_mut() {
            block.push(line);
        }
    }
    blocks
}

fn add_block(lines: &[&str], elements: &mut Vec<ElementDraft>) {
    match lines {
        [title, rule, rest @ ..] if rule_level(rule).is_some() && title.chars().count() <= 200 => {
            let level = rule_level(rule).unwrap_or(1);
            elements.push(ElementContent::Heading { level, text: title.trim().to_owned() }.into());
            if !rest.is_empty() {
                add_block(rest, elements);
            }
        }
        [rule] if rule_level(rule).is_some() => elements.push(ElementContent::Separator {}.into()),
        lines if lines.iter().all(|line| list_item(line).is_some()) => {
            let items: Vec<(bool, &str)> = lines.iter().filter_map(|line| list_item(line)).collect();
            let ordered = items.iter().all(|(ordered, _)| *ordered);
            let items = items.into_iter().map(|(_, text)| ListEntry::Plain(text.to_owned())).collect();
            elements.push(ElementContent::List { ordered, items }.into());
        }
        lines => elements.push(ElementContent::text(lines.join("\n").trim_end()).into()),
    }
}

/// The level of a heading that is underlined so: `===` is higher than `---`.
fn rule_level(line: &str) -> Option<u8> {
    let line = line.trim();
    let rules = |mark: char| line.len() >= 3 && line.chars().all(|c| c == mark);
    match () {
        () if rules('=') => Some(1),
        () if rules('-') || rules('~') => Some(2),
        () => None,
    }
}

/// Whether a line is an item of a counted list, and its words.
fn list_item(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    if let Some(text) = ["- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some((false, text.trim()));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).filter(|_| (1..=3).contains(&digits))?;
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    Some((true, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_headings_lists_rules_and_paragraphs() {
        let text = "Title\n=====\nFirst line\nsecond line\n\n- a\n- b\n\n1. x\n2) y\n\n---\n\nlast\n";
        let found: Vec<ElementContent> = elements(text).into_iter().map(|element| element.content).collect();
        let list = |ordered, items: [&str; 2]| ElementContent::List {
            ordered,
            items: items.map(|text| ListEntry::Plain(text.to_owned())).to_vec(),
        };
        assert_eq!(
            found,
            [
                ElementContent::Heading { level: 1, text: "Title".into() },
                ElementContent::text("First line\nsecond line"),
                list(false, ["a", "b"]),
                list(true, ["x", "y"]),
                ElementContent::Separator {},
                ElementContent::text("last"),
            ]
        );
    }
}
