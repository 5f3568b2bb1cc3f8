//! Fonts whose codes are single bytes. The library knows their encodings; all 256 codes are read at once, so that nothing of
//! it has to be kept.

use std::sync::{Arc, LazyLock};

use hayro_cmap::{BfString, load_embedded};
use hayro_font::{CMapResolverFn, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId};
use hayro_syntax::object::{Dict, Stream};

use super::{CodeText, TextCode};
use crate::unpack::unpack;

/// Nothing is drawn, so any font will do where none is embedded; its widths are in the file or known.
static FONTS: LazyLock<FontResolverFn> = LazyLock::new(|| {
    Arc::new(|query| match query {
        FontQuery::Standard(font) => Some(font.get_font_data()),
        FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
    })
});
static CODES: LazyLock<CMapResolverFn> = LazyLock::new(|| Arc::new(load_embedded));

/// The width of a code of which nothing is known.
const WIDTH: f32 = 500.0;

/// A font of 256 codes.
pub(super) struct SimpleFont {
    codes: Vec<SimpleCode>,
    /// Texts of more than one character.
    texts: String,
}

#[derive(Clone, Copy)]
struct SimpleCode {
    text: SimpleText,
    advance: f32,
}

#[derive(Clone, Copy)]
enum SimpleText {
    One(char),
    Several(u32, u32),
    Unknown,
}

impl SimpleFont {
    /// The codes as letters.
    pub(super) fn missing() -> Self {
        let code = |code: u8| SimpleCode { text: letter(code), advance: WIDTH };
        Self { codes: (0..=255).map(code).collect(), texts: String::new() }
    }

    pub(super) fn read(dict: &Dict<'_>, most: usize) -> Self {
        if !is_bounded(dict, most) {
            return Self::missing();
        }
        let Some(font) = FontCache::new().font(dict, &FONTS, &CODES) else { return Self::missing() };
        let mut texts = String::new();
        let mut codes = Vec::with_capacity(256);
        for code in 0..=255_u8 {
            let text = match font.glyph(GlyphId::NOTDEF, u32::from(code)) {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let text = match text {
                Some(BfString::Char(c)) if c != '\0' => SimpleText::One(c),
                Some(BfString::String(text)) if texts.len() < 1 << 16 => {
                    let start = texts.len();
                    texts.extend(text.chars().take(32));
                    SimpleText::Several(start as u32, texts.len() as u32)
                }
                _ => letter(code),
            };
            let advance = font.code_advance(u32::from(code)).x as f32;
            codes.push(SimpleCode { text, advance: if advance.is_finite() { advance } else { WIDTH } });
        }
        Self { codes, texts }
    }

    pub(super) fn code(&self, byte: u8) -> TextCode<'_> {
        let SimpleCode { text, advance } = self.codes[usize::from(byte)];
        let text = match text {
            SimpleText::One(c) => CodeText::One(c),
            SimpleText::Several(from, to) => {
                CodeText::Several(self.texts.get(from as usize..to as usize).unwrap_or_default())
            }
            SimpleText::Unknown => CodeText::Unknown,
        };
        TextCode { bytes: 1, text, advance, is_blank: byte == b' ' }
    }
}

fn letter(code: u8) -> SimpleText {
    match code {
        b' '..=b'~' => SimpleText::One(char::from(code)),
        _ => SimpleText::Unknown,
    }
}

/// Whether what the library unpacks of a font has bounds.
fn is_bounded(dict: &Dict<'_>, most: usize) -> bool {
    let descriptor = dict.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
    let programs = ["FontFile", "FontFile2", "FontFile3"].map(|key| descriptor.get::<Stream<'_>>(key));
    let streams = programs.into_iter().chain([dict.get::<Stream<'_>>("ToUnicode")]).flatten();
    streams.into_iter().all(|stream| unpack(&stream, most).is_ok())
}
