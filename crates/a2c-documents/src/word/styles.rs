//! The styles of a document, resolved along what they are based on.

use std::collections::HashMap;

use a2c_document_model::UnreadableFile;

use super::paragraph_properties::{ParagraphProperties, read_paragraph_properties};
use super::run_format::read_run_properties;
use crate::limits::ReadLimits;
use crate::rich_text::{RunToggles, contents_level, heading_level, is_code_name};
use crate::xml::{XmlEvent, XmlReader};

/// The most styles that are read. Word itself allows 4,079.
const STYLES: usize = 20_000;

/// How many styles may be based on each other in a row.
const CHAIN: usize = 16;

/// A style with what it inherits.
#[derive(Debug, Clone, Default)]
pub(super) struct WordStyle {
    /// Its name, in lower case; Word keeps the English names of its own styles in every language.
    pub(super) name: String,
    /// The level of a heading, from 1.
    pub(super) heading: Option<u8>,
    /// The level of an entry in a table of contents, from 0.
    pub(super) contents_level: Option<u8>,
    /// Whether its paragraphs are code.
    pub(super) code: bool,
    /// The properties of its paragraphs.
    pub(super) paragraph: ParagraphProperties,
    /// What it declares of its runs.
    pub(super) run: RunToggles,
    /// Whether tables of this style have a first row that looks different.
    pub(super) marks_first_row: bool,
}

/// A style as the file has it.
#[derive(Default)]
struct RawStyle {
    style: WordStyle,
    based_on: Option<String>,
}

/// The styles by their ids.
#[derive(Debug, Default)]
pub(super) struct WordStyles {
    by_id: HashMap<String, WordStyle>,
    /// Whether everything is in a font of fixed width, which then tells nothing.
    pub(super) all_fixed_width: bool,
}

impl WordStyles {
    pub(super) fn read(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut xml = XmlReader::new(bytes, part, limits);
        let (mut raw, mut defaults, mut default_id) = (HashMap::new(), RunToggles::default(), None);
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"style" if raw.len() >= STYLES => xml.skip()?,
                b"style" => {
                    let id = tag.attribute("styleId").unwrap_or_default();
                    let of_paragraphs = tag.attribute("type").as_deref() == Some("paragraph");
                    if of_paragraphs && tag.attribute("default").is_some() && tag.is_on("default") {
                        default_id = Some(id.clone());
                    }
                    raw.insert(id, read_style(&mut xml)?);
                }
                b"rPrDefault" => defaults = read_run_properties(&mut xml)?.0,
                b"latentStyles" => xml.skip()?,
                _ => {}
            }
        }
        let by_id: HashMap<String, WordStyle> = raw.keys().map(|id| (id.clone(), resolve(id, &raw))).collect();
        let normal = default_id.and_then(|id| by_id.get(&id)).map(|style| style.run).unwrap_or_default();
        let all_fixed_width = normal.over(defaults).code == Some(true);
        Ok(Self { by_id, all_fixed_width })
    }

    /// The style of an id.
    pub(super) fn get(&self, id: &str) -> Option<&WordStyle> {
        self.by_id.get(id)
    }
}

fn read_style(xml: &mut XmlReader<'_>) -> Result<RawStyle, UnreadableFile> {
    let (depth, mut raw) = (xml.depth(), RawStyle::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"name" => raw.style.name = tag.attribute("val").unwrap_or_default().to_lowercase(),
            b"basedOn" => raw.based_on = tag.attribute("val"),
            b"pPr" => raw.style.paragraph = read_paragraph_properties(xml)?,
            b"rPr" => raw.style.run = read_run_properties(xml)?.0,
            b"tblStylePr" => {
                raw.style.marks_first_row |= tag.attribute("type").as_deref() == Some("firstRow");
                xml.skip()?;
            }
            _ => {}
        }
    }
    Ok(raw)
}

/// A style with what it inherits.
fn resolve(id: &str, raw: &HashMap<String, RawStyle>) -> WordStyle {
    let mut resolved = WordStyle::default();
    let mut next = Some(id);
    for _ in 0..CHAIN {
        let Some(RawStyle { style, based_on }) = next.and_then(|id| raw.get(id)) else { break };
        if resolved.name.is_empty() {
            resolved.name.clone_from(&style.name);
        }
        resolved.heading = resolved.heading.or_else(|| heading_level(&style.name));
        resolved.contents_level = resolved.contents_level.or_else(|| contents_level(&style.name));
        resolved.code |= is_code_name(&style.name);
        resolved.marks_first_row |= style.marks_first_row;
        resolved.run = resolved.run.over(style.run);
        resolved.paragraph.inherit(&style.paragraph);
        next = based_on.as_deref();
    }
    // What the style says counts more than the name that it is based on.
    match resolved.paragraph.outline {
        Some(level) if level < 9 => resolved.heading = Some(level + 1),
        Some(_) => resolved.heading = None,
        None => {}
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_inherit_and_circles_end() {
        let styles = WordStyles::read(
            b"<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii=\"Courier New\"/></w:rPr></w:rPrDefault></w:docDefaults>\
              <w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"N\"><w:name w:val=\"Normal\"/></w:style>\
              <w:style w:styleId=\"berschrift2\"><w:name w:val=\"heading 2\"/><w:basedOn w:val=\"N\"/><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style>\
              <w:style w:styleId=\"Mine\"><w:name w:val=\"Mine\"/><w:basedOn w:val=\"berschrift2\"/><w:rPr><w:b/></w:rPr></w:style>\
              <w:style w:styleId=\"A\"><w:name w:val=\"toc 3\"/><w:basedOn w:val=\"B\"/></w:style>\
              <w:style w:styleId=\"B\"><w:name w:val=\"b\"/><w:basedOn w:val=\"A\"/></w:style></w:styles>",
            "word/styles.xml",
            &ReadLimits::default(),
        )
        .unwrap();
        let mine = styles.get("Mine").unwrap();
        assert_eq!((mine.heading, mine.run.bold, mine.name.as_str()), (Some(2), Some(true), "mine"));
        assert_eq!(styles.get("A").unwrap().contents_level, Some(2));
        assert!(styles.all_fixed_width);
    }
}
