//! The formatting that runs of text and styles declare.

use a2c_document_model::UnreadableFile;

use crate::ooxml::RunFormat;
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

/// Whether a font is one that programs are written in.
fn is_fixed_width(font: &str) -> bool {
    const KNOWN: &[&str] = &[
        "courier",
        "consolas",
        "menlo",
        "monaco",
        "inconsolata",
        "lucida console",
        "source code",
        "fira code",
        "cascadia",
        "monospace",
    ];
    let font = font.to_ascii_lowercase();
    font.ends_with("mono") || KNOWN.iter().any(|known| font.contains(known))
}

/// Whether a style is made for code, by its name.
pub(super) fn is_code_name(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        matches!(word, "code" | "preformatted" | "verbatim" | "listing" | "macro" | "snippet" | "sourcecode" | "代码")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_and_names_tell_code() {
        for (font, expected) in [
            ("Courier New", true),
            ("DejaVu Sans Mono", true),
            ("Monotype Corsiva", false),
            ("Calibri", false),
            ("宋体", false),
        ] {
            assert_eq!(is_fixed_width(font), expected, "{font}");
        }
        for (name, expected) in
            [("source code", true), ("html preformatted", true), ("postcode", false), ("normal", false)]
        {
            assert_eq!(is_code_name(name), expected, "{name}");
        }
    }
}
