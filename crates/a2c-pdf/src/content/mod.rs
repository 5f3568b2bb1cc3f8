//! What a page draws: words with their places, rules, and pictures.
//!
//! The interpreter is our own and reads only what text needs: no colour, no clip, no outline. Everything it does is counted,
//! so that a page that would draw for ever ends.

mod budget;
mod form_stack;
mod glyph_text;
mod interpreter;
mod marked;
mod paths;
mod state;
mod words;

use crate::geometry::PageBox;

pub(crate) use self::budget::PageBudget;
pub(crate) use self::interpreter::{ContentSource, read_content};
pub(crate) use self::marked::ContentRole;
pub(crate) use self::paths::PageRule;
pub(crate) use self::words::{PageWord, ReadingFrame};

/// What a page draws.
#[derive(Default)]
pub(crate) struct DrawnPage {
    /// In the order in which they are drawn.
    pub(crate) words: Vec<PageWord>,
    pub(crate) rules: Vec<PageRule>,
    pub(crate) pictures: Vec<DrawnPicture>,
    /// Glyphs whose text nothing tells.
    pub(crate) unknown_glyphs: usize,
    /// Why not all of it is here.
    pub(crate) cut: Option<a2c_document_model::UnreadableFile>,
}

/// A picture on a page.
#[derive(Debug, Clone)]
pub(crate) struct DrawnPicture {
    pub(crate) place: PageBox,
    pub(crate) facts: crate::pictures::PictureObject,
}
