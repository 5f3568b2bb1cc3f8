//! Fonts, as far as reading needs them: what the bytes of a string stand for, how wide it is, and how it looks.

mod composite;
mod simple;
mod style;

use std::collections::HashMap;
use std::sync::Arc;

use hayro_syntax::object::{Dict, Name, ObjectIdentifier, Rect};

use self::composite::CompositeFont;
use self::simple::SimpleFont;
pub(crate) use self::style::FontStyle;

/// The most fonts that are kept over pages.
const KEPT: usize = 2_000;

/// A font that was read.
pub(crate) struct TextFont {
    pub(crate) style: FontStyle,
    /// How high its letters are where its size is 1.
    pub(crate) em: f64,
    kind: FontKind,
}

enum FontKind {
    Simple(SimpleFont),
    Composite(Box<CompositeFont>),
}

/// What one code of a string stands for.
pub(crate) struct TextCode<'f> {
    /// How many bytes of the string it takes.
    pub(crate) bytes: usize,
    /// Its text; empty where nothing tells.
    pub(crate) text: CodeText<'f>,
    /// How far it goes, in thousandths of the size: to the right, or down in a font that is written so.
    pub(crate) advance: f32,
    /// Whether it is the blank that word spacing widens.
    pub(crate) is_blank: bool,
}

/// The text of a code.
pub(crate) enum CodeText<'f> {
    One(char),
    Several(&'f str),
    Owned(String),
    Unknown,
}

impl TextFont {
    /// Reads a font. A font that cannot be read still shows its bytes as letters.
    fn read(dict: &Dict<'_>, most: usize) -> Self {
        let style = FontStyle::of(dict);
        let is_composite = dict.get::<Name<'_>>("Subtype").is_some_and(|name| name.as_str() == "Type0");
        let composite = is_composite.then(|| CompositeFont::read(dict, most)).flatten();
        let kind = match composite {
            Some(font) => FontKind::Composite(Box::new(font)),
            None => FontKind::Simple(SimpleFont::read(dict, most)),
        };
        Self { style, em: letter_height(dict), kind }
    }

    /// The font that stands for one that is missing.
    pub(crate) fn missing() -> Self {
        Self { style: FontStyle::default(), em: 1.0, kind: FontKind::Simple(SimpleFont::missing()) }
    }

    /// Whether lines run downwards.
    pub(crate) fn is_vertical(&self) -> bool {
        matches!(&self.kind, FontKind::Composite(font) if font.is_vertical())
    }

    /// The first code of some bytes, of which there is one.
    pub(crate) fn code<'f>(&'f self, bytes: &[u8]) -> TextCode<'f> {
        match &self.kind {
            FontKind::Simple(font) => font.code(bytes[0]),
            FontKind::Composite(font) => font.code(bytes),
        }
    }
}

/// How high letters are where the size is 1: fonts that draw their own letters choose.
fn letter_height(dict: &Dict<'_>) -> f64 {
    let is_drawn = dict.get::<Name<'_>>("Subtype").is_some_and(|name| name.as_str() == "Type3");
    let matrix = dict.get::<[f64; 6]>("FontMatrix").filter(|_| is_drawn);
    let frame = dict.get::<Rect>("FontBBox");
    match (matrix, frame) {
        (Some(matrix), Some(frame)) => {
            let height = (matrix[3] * (frame.y1 - frame.y0)).abs();
            if (0.01..100.0).contains(&height) { height } else { 1.0 }
        }
        _ => 1.0,
    }
}

/// The fonts of a document that were read so far.
#[derive(Default)]
pub(crate) struct FontShelf {
    fonts: HashMap<ObjectIdentifier, Arc<TextFont>>,
}

impl FontShelf {
    /// The font of a dictionary, whose streams unpack to at most so many bytes.
    pub(crate) fn font(&mut self, id: Option<ObjectIdentifier>, dict: &Dict<'_>, most: usize) -> Arc<TextFont> {
        let Some(id) = id else { return Arc::new(TextFont::read(dict, most)) };
        if let Some(font) = self.fonts.get(&id) {
            return font.clone();
        }
        if self.fonts.len() >= KEPT {
            self.fonts.clear();
        }
        let font = Arc::new(TextFont::read(dict, most));
        self.fonts.insert(id, font.clone());
        font
    }
}
