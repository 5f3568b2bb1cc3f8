//! The formatting that runs of text and styles declare.

use a2c_document_model::UnreadableFile;

use crate::rich_text::{RunToggles, is_fixed_width};
use crate::xml::{XmlEvent, XmlReader};

/// Reads the run properties that began last: what they declare, and the character style that they name.
pub(super) fn read_run_properties(xml: &mut XmlReader<'_>) -> Result<(RunToggles, Option<String>), UnreadableFile> {
    let (depth, mut toggles, mut style) = (xml.depth(), RunToggles::default(), None);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"b" => toggles.bold = Some(tag.is_on("val")),
            b"i" => toggles.italic = Some(tag.is_on("val")),
            b"u" => toggles.underline = Some(tag.is_on("val")),
            b"strike" | b"dstrike" => toggles.strike = Some(toggles.strike == Some(true) || tag.is_on("val")),
            b"vanish" => toggles.hidden = Some(tag.is_on("val")),
            b"rFonts" => {
                if let Some(font) = tag.attribute("ascii") {
                    toggles.code = Some(is_fixed_width(&font));
                }
            }
            b"rStyle" => style = tag.attribute("val"),
            // The formatting before a change that is not accepted yet.
            b"rPrChange" => xml.skip()?,
            _ => {}
        }
    }
    Ok((toggles, style))
}
