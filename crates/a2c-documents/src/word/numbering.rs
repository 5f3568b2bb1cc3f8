//! The lists of a document: how their levels are counted, and where each of them stands.

use std::collections::{HashMap, HashSet};

use a2c_document_model::UnreadableFile;

use super::paragraph_properties::indent;
use crate::limits::ReadLimits;
use crate::rich_text::{CountFormat, number_label};
use crate::xml::{XmlEvent, XmlReader};

/// The levels of a list.
pub(super) const LEVELS: usize = 9;

/// How a level of a list is counted and shown.
#[derive(Debug, Clone, Default)]
pub(super) struct ListLevel {
    pub(super) format: CountFormat,
    /// The text of a label, with `%1` for the count of the first level and so on.
    text: String,
    start: i64,
    /// Whether the count goes on when a higher level is counted.
    never_restarts: bool,
    /// Whether all counts in the label are shown in digits.
    in_digits: bool,
    /// The indentation at the left.
    pub(super) indent: Option<i32>,
}

/// A definition of a list that several lists share.
#[derive(Debug, Default)]
struct ListTemplate {
    levels: Vec<ListLevel>,
    /// The name of the style that it defines, or that defines it.
    defines_style: Option<String>,
    defined_by_style: Option<String>,
}

/// A list.
#[derive(Debug, Default)]
struct ListDefinition {
    template: u32,
    /// Levels that begin anew with this list, and levels of its own.
    starts: HashMap<u8, i64>,
    levels: HashMap<u8, ListLevel>,
}

/// The lists of a document with their counts so far.
#[derive(Debug, Default)]
pub(super) struct WordNumbering {
    templates: HashMap<u32, ListTemplate>,
    lists: HashMap<u32, ListDefinition>,
    /// Lists of one template count together.
    counts: HashMap<u32, [Option<i64>; LEVELS]>,
    started: HashSet<(u32, u8)>,
}

impl WordNumbering {
    pub(super) fn read(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut xml = XmlReader::new(bytes, part, limits);
        let mut numbering = Self::default();
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"abstractNum" => {
                    let id = tag.number("abstractNumId").unwrap_or_default();
                    numbering.templates.insert(id, read_template(&mut xml)?);
                }
                b"num" => {
                    let id = tag.number("numId").unwrap_or_default();
                    numbering.lists.insert(id, read_list(&mut xml)?);
                }
                b"numPicBullet" => xml.skip()?,
                _ => {}
            }
        }
        Ok(numbering)
    }

    /// The template of a list: its own, or the one that defines the style which its own refers to.
    fn template(&self, list: &ListDefinition) -> Option<&ListTemplate> {
        let template = self.templates.get(&list.template)?;
        match &template.defined_by_style {
            Some(style) => self.templates.values().find(|one| one.defines_style.as_ref() == Some(style)),
            None => Some(template),
        }
    }

    /// A level of a list.
    pub(super) fn level(&self, list: u32, level: u8) -> Option<&ListLevel> {
        let list = self.lists.get(&list)?;
        list.levels.get(&level).or_else(|| self.template(list)?.levels.get(usize::from(level)))
    }

    /// Counts an item and gives its label.
    pub(super) fn count(&mut self, list: u32, level: u8) -> Option<String> {
        let at = usize::from(level).min(LEVELS - 1);
        let definition = self.lists.get(&list)?;
        let levels: Vec<ListLevel> =
            (0..=at).map(|at| self.level(list, at as u8).cloned().unwrap_or_default()).collect();
        let restarts: Vec<bool> =
            (0..LEVELS).map(|at| self.level(list, at as u8).is_none_or(|level| !level.never_restarts)).collect();
        let anew = definition.starts.get(&level).copied().filter(|_| !self.started.contains(&(list, level)));
        self.started.insert((list, level));
        let counts = self.counts.entry(definition.template).or_default();
        counts[at] = Some(match (anew, counts[at]) {
            (Some(start), _) => start,
            (None, Some(count)) => count.saturating_add(1),
            (None, None) => levels[at].start,
        });
        for deeper in at + 1..LEVELS {
            if restarts[deeper] {
                counts[deeper] = None;
            }
        }
        let shown: Vec<(CountFormat, i64)> = levels
            .iter()
            .zip(counts.iter())
            .map(|(one, count)| {
                let format = if levels[at].in_digits { CountFormat::Decimal } else { one.format };
                (format, count.unwrap_or(one.start))
            })
            .collect();
        Some(number_label(&levels[at].text, levels[at].format, &shown))
    }
}

fn read_template(xml: &mut XmlReader<'_>) -> Result<ListTemplate, UnreadableFile> {
    let (depth, mut template) = (xml.depth(), ListTemplate::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"lvl" => {
                let at: usize = tag.number("ilvl").unwrap_or(template.levels.len());
                let level = read_level(xml)?;
                if at < LEVELS {
                    template.levels.resize_with(template.levels.len().max(at + 1), ListLevel::default);
                    template.levels[at] = level;
                }
            }
            b"styleLink" => template.defines_style = tag.attribute("val"),
            b"numStyleLink" => template.defined_by_style = tag.attribute("val"),
            _ => {}
        }
    }
    Ok(template)
}

fn read_level(xml: &mut XmlReader<'_>) -> Result<ListLevel, UnreadableFile> {
    let (depth, mut level) = (xml.depth(), ListLevel::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"start" => level.start = tag.number("val").unwrap_or(0),
            b"numFmt" => level.format = CountFormat::of_name(&tag.attribute("val").unwrap_or_default()),
            b"lvlText" => level.text = tag.attribute("val").unwrap_or_default(),
            b"lvlRestart" => level.never_restarts = tag.number("val") == Some(0),
            b"isLgl" => level.in_digits = tag.is_on("val"),
            b"ind" => level.indent = indent(&tag),
            _ => {}
        }
    }
    Ok(level)
}

fn read_list(xml: &mut XmlReader<'_>) -> Result<ListDefinition, UnreadableFile> {
    let (depth, mut list, mut at) = (xml.depth(), ListDefinition::default(), 0);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"abstractNumId" => list.template = tag.number("val").unwrap_or_default(),
            b"lvlOverride" => at = tag.number("ilvl").unwrap_or_default(),
            b"startOverride" => {
                list.starts.insert(at, tag.number("val").unwrap_or(1));
            }
            b"lvl" => {
                let level = read_level(xml)?;
                list.levels.insert(at, level);
            }
            _ => {}
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_restart_and_start_anew() {
        let level = |at: u8, format: &str, text: &str| {
            format!(
                "<w:lvl w:ilvl=\"{at}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/></w:lvl>"
            )
        };
        let text = format!(
            "<w:numbering><w:abstractNum w:abstractNumId=\"0\">{}{}</w:abstractNum>\
             <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>\
             <w:num w:numId=\"2\"><w:abstractNumId w:val=\"0\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"5\"/></w:lvlOverride></w:num>\
             </w:numbering>",
            level(0, "decimal", "%1."),
            level(1, "lowerLetter", "%1.%2)")
        );
        let mut numbering = WordNumbering::read(text.as_bytes(), "p", &ReadLimits::default()).unwrap();
        let labels: Vec<String> = [(1, 0), (1, 1), (1, 1), (1, 0), (1, 1), (2, 0), (2, 0), (1, 0)]
            .into_iter()
            .map(|(list, level)| numbering.count(list, level).unwrap())
            .collect();
        assert_eq!(labels, ["1.", "1.a)", "1.b)", "2.", "2.a)", "5.", "6.", "7."]);
        assert_eq!(numbering.count(99, 0), None);
    }
}
