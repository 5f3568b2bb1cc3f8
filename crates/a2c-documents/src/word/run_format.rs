//! The formatting that runs of text and styles declare.

use a2c_document_model::UnreadableFile;

use crate::rich_text::{RunFormat, is_fixed_width};
use crate::xml::{XmlEvent, XmlReader};

/// What is declared of a run; `None` where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunToggles {
    pub(super) bold: Option<bool>,
    pub(super) italic: Option<bool>,
    pub(super) underline: Option<bool>,
    pub(super) strike: Option<bool>,
    /// In a font of fixed width.
    pub(super) code: Option<bool>,
    /// Not shown.
    pub(super) hidden: Option<bool>,
}

impl RunToggles {
    /// What holds where `self` is said on top of `base`.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            bold: self.bold.or(base.bold),
            italic: self.italic.or(base.italic),
            underline: self.underline.or(base.underline),
            strike: self.strike.or(base.strike),
            code: self.code.or(base.code),
            hidden: self.hidden.or(base.hidden),
        }
    }

    /// The format that is meant.
    pub(super) fn format(self) -> RunFormat {
        RunFormat {
            bold: self.bold == Some(true),
            italic: self.italic == Some(true),
            underline: self.underline == Some(true),
            strike: self.strike == Some(true),
            code: self.code == Some(true),
        }
    }
}

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
