//! The properties of paragraphs and of the sections that end with them.

use a2c_document_model::UnreadableFile;

use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// What a paragraph, or a style of paragraphs, declares.
#[derive(Debug, Clone, Default)]
pub(super) struct ParagraphProperties {
    /// The id of its style.
    pub(super) style: Option<String>,
    /// The level of the outline, from 0; 9 is that of ordinary text.
    pub(super) outline: Option<u8>,
    /// The list that it belongs to; 0 is none.
    pub(super) list: Option<u32>,
    /// The level in its list, from 0.
    pub(super) list_level: Option<u8>,
    /// The indentation at the left, in twentieths of a point.
    pub(super) indent: Option<i32>,
    /// Whether it begins a page.
    pub(super) page_break_before: Option<bool>,
    /// Whether there is a rule below it.
    pub(super) rule_below: bool,
    /// The section that ends with it.
    pub(super) section: Option<SectionProperties>,
}

impl ParagraphProperties {
    /// Takes over what is not said here.
    pub(super) fn inherit(&mut self, base: &Self) {
        self.outline = self.outline.or(base.outline);
        self.list = self.list.or(base.list);
        self.list_level = self.list_level.or(base.list_level);
        self.indent = self.indent.or(base.indent);
        self.page_break_before = self.page_break_before.or(base.page_break_before);
    }
}

/// What the end of a section declares of it.
#[derive(Debug, Clone, Default)]
pub(super) struct SectionProperties {
    /// Whether it goes on where the former one ended instead of beginning a page.
    pub(super) continues: bool,
    /// Its headers and footers: `default`, `first` or `even`, and their relationships.
    pub(super) bands: Vec<BandReference>,
    /// Whether its first page has a header and a footer of its own.
    pub(super) first_differs: bool,
}

/// A header or a footer that a section refers to.
#[derive(Debug, Clone)]
pub(super) struct BandReference {
    pub(super) is_header: bool,
    pub(super) which: String,
    pub(super) relation: String,
}

/// Reads the paragraph properties that began last.
pub(super) fn read_paragraph_properties(xml: &mut XmlReader<'_>) -> Result<ParagraphProperties, UnreadableFile> {
    let (depth, mut read) = (xml.depth(), ParagraphProperties::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"pStyle" => read.style = tag.attribute("val"),
            b"outlineLvl" => read.outline = tag.number("val"),
            b"numId" => read.list = tag.number("val"),
            b"ilvl" => read.list_level = tag.number::<u8>("val").map(|level| level.min(8)),
            b"ind" => read.indent = indent(&tag),
            b"pageBreakBefore" => read.page_break_before = Some(tag.is_on("val")),
            b"bottom" => read.rule_below = tag.is_on("val") && tag.attribute("val").as_deref() != Some("nil"),
            b"sectPr" => read.section = Some(read_section(xml)?),
            b"rPr" => xml.skip()?,
            b"pPrChange" | b"numberingChange" => xml.skip()?,
            _ => {}
        }
    }
    Ok(read)
}

/// The indentation at the left that a tag declares.
pub(super) fn indent(tag: &XmlTag<'_>) -> Option<i32> {
    tag.number("left").or_else(|| tag.number("start"))
}

/// Reads the section properties that began last.
pub(super) fn read_section(xml: &mut XmlReader<'_>) -> Result<SectionProperties, UnreadableFile> {
    let (depth, mut section) = (xml.depth(), SectionProperties::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            name @ (b"headerReference" | b"footerReference") if section.bands.len() < 6 => {
                let is_header = name == b"headerReference";
                let which = tag.attribute("type").unwrap_or_else(|| "default".to_owned());
                section.bands.extend(tag.attribute("id").map(|relation| BandReference { is_header, which, relation }));
            }
            b"type" => {
                section.continues = matches!(tag.attribute("val").as_deref(), Some("continuous" | "nextColumn"));
            }
            b"titlePg" => section.first_differs = tag.is_on("val"),
            b"sectPrChange" => xml.skip()?,
            _ => {}
        }
    }
    Ok(section)
}
