//! Pages that are pictures of paper.

use a2c_document_model::{ElementContent, ElementDraft};

use crate::content::DrawnPage;
use crate::geometry::PageFrame;

/// A page with more letters than this is a text.
const LETTERS: usize = 8;
/// How much of the page its pictures cover.
const COVERED: f32 = 0.5;

/// A page that was scanned and has no text.
pub(crate) struct ScannedPage;

/// Whether a page is a scan.
pub(crate) fn mark_scan(content: &DrawnPage, frame: &PageFrame) -> Option<ScannedPage> {
    let letters = content.words.iter().flat_map(|word| word.text.chars()).filter(|c| c.is_alphanumeric());
    let covered: f32 = content.pictures.iter().map(|picture| picture.place.width() * picture.place.height()).sum();
    let is_scan = letters.take(LETTERS + 1).count() <= LETTERS && covered > COVERED * frame.width * frame.height;
    is_scan.then_some(ScannedPage)
}

impl ScannedPage {
    /// Says so of the pictures of the page.
    pub(crate) fn describe(&self, elements: &mut [ElementDraft]) {
        for draft in elements {
            if let ElementContent::Image { description, .. } = &mut draft.content {
                *description = Some("a scanned page: its words are in the picture only".to_owned());
                draft.metadata.error = Some("no_text_layer".to_owned());
            }
        }
    }
}
