//! All elements of a sheet, in their order.

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft};

use super::sheet_tables::PlacedElement;

/// The elements of a sheet.
pub(super) struct SheetElements {
    /// What is printed above its pages.
    pub(super) header: Option<String>,
    /// What stands at a cell, in reading order.
    pub(super) placed: Vec<PlacedElement>,
    /// What is printed below its pages.
    pub(super) footer: Option<String>,
    /// Comments.
    pub(super) after: Vec<ElementDraft>,
}

impl SheetElements {
    /// The element at a place of the page, if it stands at a cell.
    pub(super) fn placed_at(&mut self, at: usize) -> Option<&mut PlacedElement> {
        let at = at.checked_sub(usize::from(self.header.is_some()))?;
        self.placed.get_mut(at)
    }

    /// The elements of the page, not more than `most`: a sheet is one page, so that comments beyond become one element.
    pub(super) fn drafts(self, most: usize) -> Vec<ElementDraft> {
        let Self { header, placed, footer, mut after } = self;
        let mut drafts: Vec<ElementDraft> = Vec::new();
        drafts.extend(header.map(|text| ElementContent::Header { text }.into()));
        drafts.extend(placed.into_iter().map(|element| element.draft));
        drafts.extend(footer.map(|text| ElementContent::Footer { text }.into()));
        let room = most.saturating_sub(drafts.len()).max(1);
        if after.len() > room {
            let rest = after.split_off(room - 1);
            after.push(together(&rest).into());
        }
        drafts.extend(after);
        drafts
    }
}

/// Comments as the lines of one.
fn together(comments: &[ElementDraft]) -> ElementContent {
    let line = |comment: &ElementDraft| match &comment.content {
        ElementContent::Annotation { text, author, target, .. } => {
            let author = author.as_ref().map(|author| format!("{author}: ")).unwrap_or_default();
            format!("{}: {author}{text}", target.as_deref().unwrap_or_default())
        }
        _ => String::new(),
    };
    let text = comments.iter().map(line).collect::<Vec<_>>().join("\n");
    let kind = AnnotationKind::Comment;
    ElementContent::Annotation { kind, text, author: None, date: None, target: None, error: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_beyond_the_limit_become_one() {
        let comment = |cell: &str| {
            let kind = AnnotationKind::Comment;
            let target = Some(cell.to_owned());
            ElementContent::Annotation { kind, text: "x".into(), author: None, date: None, target, error: None }.into()
        };
        let after = vec![comment("A1"), comment("A2"), comment("A3")];
        let elements = SheetElements { header: Some("h".into()), placed: Vec::new(), footer: None, after };
        let drafts = elements.drafts(3);
        assert_eq!(drafts.len(), 3);
        assert!(matches!(&drafts[2].content, ElementContent::Annotation { text, .. } if text == "A2: x\nA3: x"));
    }
}
