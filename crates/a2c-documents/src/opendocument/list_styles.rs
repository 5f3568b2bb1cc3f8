//! The styles of lists: how the items of each level are labelled.

use a2c_document_model::UnreadableFile;

use crate::rich_text::{BULLET, CountFormat};
use crate::xml::{XmlEvent, XmlReader};

/// The most levels of a list.
pub(super) const LEVELS: usize = 10;

/// How the items of a level are labelled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OpenListLevel {
    pub(super) format: CountFormat,
    before: String,
    after: String,
    /// How many levels the label shows, this one included.
    shown_levels: usize,
    pub(super) start: i64,
}

/// The levels of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenListStyle {
    levels: Vec<OpenListLevel>,
}

impl OpenListStyle {
    /// The level of a number, from 0; `None` where the style says nothing of it.
    pub(super) fn level(&self, level: usize) -> Option<&OpenListLevel> {
        self.levels.get(level)
    }

    /// The label of an item whose level and the ones above have these counts; empty where it has none.
    pub(super) fn label(&self, counts: &[i64]) -> String {
        let Some(level) = counts.len().checked_sub(1).and_then(|at| self.levels.get(at)) else { return String::new() };
        match level.format {
            CountFormat::Bullet => return BULLET.to_owned(),
            CountFormat::None => return String::new(),
            _ => {}
        }
        let first = counts.len().saturating_sub(level.shown_levels.max(1));
        let counted = counts.iter().zip(&self.levels).skip(first).filter(|(_, level)| level.format.is_counted());
        let numbers: Vec<String> = counted.map(|(count, level)| level.format.show(*count)).collect();
        format!("{}{}{}", level.before, numbers.join("."), level.after).trim().to_owned()
    }
}

/// Reads the style of a list that began last.
pub(super) fn read_list_style(xml: &mut XmlReader<'_>) -> Result<OpenListStyle, UnreadableFile> {
    let (depth, mut style) = (xml.depth(), OpenListStyle::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        let mut level = match tag.name() {
            b"list-level-style-number" | b"outline-level-style" => {
                let format = number_format(&tag.attribute("num-format").unwrap_or_default());
                OpenListLevel { format, ..OpenListLevel::default() }
            }
            b"list-level-style-bullet" | b"list-level-style-image" => {
                OpenListLevel { format: CountFormat::Bullet, ..OpenListLevel::default() }
            }
            _ => continue,
        };
        level.before = tag.attribute("num-prefix").unwrap_or_default();
        level.after = tag.attribute("num-suffix").unwrap_or_default();
        level.shown_levels = tag.number("display-levels").unwrap_or(1);
        level.start = tag.number("start-value").unwrap_or(1);
        let at = tag.number::<usize>("level").and_then(|level| level.checked_sub(1)).filter(|at| *at < LEVELS);
        if let Some(at) = at {
            let none = OpenListLevel { format: CountFormat::None, start: 1, ..OpenListLevel::default() };
            if style.levels.len() <= at {
                style.levels.resize(at + 1, none);
            }
            style.levels[at] = level;
        }
    }
    Ok(style)
}

fn number_format(name: &str) -> CountFormat {
    match name {
        "" => CountFormat::None,
        "a" => CountFormat::LowerLetter,
        "A" => CountFormat::UpperLetter,
        "i" => CountFormat::LowerRoman,
        "I" => CountFormat::UpperRoman,
        "1st" => CountFormat::Ordinal,
        name if name.starts_with('一') => CountFormat::Chinese,
        name if name.starts_with('①') => CountFormat::Circled,
        _ => CountFormat::Decimal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ReadLimits;

    #[test]
    fn labels_show_the_levels_that_they_are_told_to() {
        let text = "<text:list-style><text:list-level-style-number text:level=\"1\" style:num-format=\"1\" style:num-suffix=\".\"/>\
            <text:list-level-style-number text:level=\"2\" style:num-format=\"a\" style:num-prefix=\"(\" style:num-suffix=\")\" text:display-levels=\"2\"/>\
            <text:list-level-style-bullet text:level=\"3\"/><text:list-level-style-number text:level=\"99\"/></text:list-style>";
        let limits = ReadLimits::default();
        let mut xml = XmlReader::new(text.as_bytes(), "s", &limits);
        xml.event().unwrap();
        let style = read_list_style(&mut xml).unwrap();
        for (counts, expected) in
            [(&[3][..], "3."), (&[3, 2], "(3.b)"), (&[1, 1, 1], BULLET), (&[1, 1, 1, 1], ""), (&[], "")]
        {
            assert_eq!(style.label(counts), expected, "{counts:?}");
        }
    }
}
