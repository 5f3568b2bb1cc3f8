//! A text with its formatting, piece by piece.

use crate::element::{ReadElement, TextSpan};

/// A piece of a text that is formatted in one way.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// `None` for plain text.
    pub(super) span: Option<&'a TextSpan>,
}

/// The pieces of an element's text. Spans that do not fit the text are passed over.
pub(super) fn pieces<'a>(text: &'a str, element: &'a ReadElement) -> Vec<Piece<'a>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for span in &element.metadata.spans {
        let end = span.start.saturating_add(span.length);
        let (Some(before), Some(formatted)) = (text.get(at..span.start.max(at)), text.get(span.start..end)) else {
            continue;
        };
        if span.start < at || formatted.is_empty() {
            continue;
        }
        if !before.is_empty() {
            pieces.push(Piece { text: before, span: None });
        }
        pieces.push(Piece { text: formatted, span: Some(span) });
        at = end;
    }
    if let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        pieces.push(Piece { text: rest, span: None });
    }
    pieces
}
