//! The styles of a workbook: what is needed of them to show cells.

use std::collections::HashMap;

use a2c_document_model::UnreadableFile;

use super::number_format::{NumberFormat, built_in};
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The styles that are kept; Excel allows 65,490.
const STYLES: usize = 65_536;

/// The styles of the cells of a workbook.
#[derive(Debug, Default)]
pub(super) struct CellStyles {
    formats: Vec<NumberFormat>,
    styles: Vec<CellStyle>,
}

#[derive(Debug, Clone, Copy)]
struct CellStyle {
    format: usize,
    bold: bool,
}

impl CellStyles {
    /// Reads `styles.xml`.
    pub(super) fn parse(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut reader = XmlReader::new(bytes, part, limits);
        let mut own: HashMap<u32, String> = HashMap::new();
        let (mut bold, mut wanted) = (Vec::new(), Vec::new());
        let mut section = Vec::new();
        loop {
            match reader.event()? {
                XmlEvent::Start(tag) => match tag.name() {
                    name @ (b"fonts" | b"cellXfs" | b"cellStyleXfs" | b"dxfs") => section = name.to_vec(),
                    b"numFmt" if section != b"dxfs" && own.len() < STYLES => {
                        let id = tag.attribute("numFmtId").and_then(|id| id.parse().ok());
                        own.extend(id.zip(tag.attribute("formatCode")));
                    }
                    b"font" if section == b"fonts" && bold.len() < STYLES => bold.push(false),
                    b"b" if section == b"fonts" => {
                        let on = tag.attribute("val").is_none_or(|value| value != "0" && value != "false");
                        bold.last_mut().into_iter().for_each(|bold| *bold = on);
                    }
                    b"xf" if section == b"cellXfs" && wanted.len() < STYLES => {
                        let number = |name: &str| tag.attribute(name).and_then(|value| value.parse().ok());
                        wanted.push((number("numFmtId").unwrap_or(0_u32), number("fontId").unwrap_or(0) as usize));
                    }
                    _ => {}
                },
                XmlEvent::Eof => break,
                _ => {}
            }
        }
        let mut styles = Self::default();
        let mut known = HashMap::new();
        for (id, font) in wanted {
            let format = *known.entry(id).or_insert_with(|| {
                let code = own.get(&id).map_or_else(|| built_in(id), String::as_str);
                styles.formats.push(NumberFormat::parse(code));
                styles.formats.len() - 1
            });
            styles.styles.push(CellStyle { format, bold: bold.get(font).copied().unwrap_or(false) });
        }
        Ok(styles)
    }

    /// The number format of a style; `None` where it is the general one.
    pub(super) fn format(&self, style: u32) -> Option<&NumberFormat> {
        let style = self.styles.get(style as usize)?;
        self.formats.get(style.format).filter(|format| !format.is_general())
    }

    /// Whether a style is bold.
    pub(super) fn is_bold(&self, style: u32) -> bool {
        self.styles.get(style as usize).is_some_and(|style| style.bold)
    }

    /// Adds a style of a format, and returns its number.
    pub(super) fn add(&mut self, format: NumberFormat, bold: bool) -> u32 {
        self.styles.push(CellStyle { format: self.formats.len(), bold });
        self.formats.push(format);
        self.styles.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::serial_date::DateSystem;
    use super::*;

    #[test]
    fn formats_come_from_the_file_or_are_known_by_number() {
        let text = r#"<styleSheet><numFmts><numFmt numFmtId="164" formatCode="+0%;-0%"/></numFmts>
            <fonts><font><sz val="11"/></font><font><b/></font></fonts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
            <cellXfs><xf numFmtId="0"/><xf numFmtId="164" fontId="1"/><xf numFmtId="3"/></cellXfs>
            <dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs></styleSheet>"#;
        let styles = CellStyles::parse(text.as_bytes(), "styles.xml", &ReadLimits::default()).unwrap();
        let show = |style| styles.format(style).map(|format| format.number(0.5, DateSystem::Since1900));
        assert_eq!([show(0), show(1), show(2), show(3)], [None, Some("+50%".into()), Some("1".into()), None]);
        assert_eq!([styles.is_bold(0), styles.is_bold(1)], [false, true]);
    }
}
