//! How much memory the elements of a document may take. What is built is charged before it is kept, so that a small file
//! that stands for millions of tiny elements is cut instead of filling the memory.

use a2c_document_model::{ElementContent, ElementDraft, TextSpan};

/// What the list of a row's cells, and a cell while its row is read, take besides their texts.
const ROW: usize = 96;
const CELL: usize = 64;

/// What is left of the memory that a document may take.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    left: usize,
}

impl MemoryBudget {
    /// A budget of this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Takes bytes; `false` where there are not enough, and none from then on.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                false
            }
        }
    }

    /// Takes what an element with a text of this length and this many spans takes.
    pub(crate) fn take_element(&mut self, text: usize, spans: usize) -> bool {
        self.take(size_of::<ElementDraft>() + text + spans * size_of::<TextSpan>())
    }

    /// Takes what a row of a table takes besides its cells.
    pub(crate) fn take_row(&mut self) -> bool {
        self.take(ROW)
    }

    /// Takes what a cell of a table takes that covers this many columns and has a text of this length.
    pub(crate) fn take_cell(&mut self, columns: usize, text: usize) -> bool {
        self.take(CELL + columns.saturating_mul(size_of::<String>()).saturating_add(text))
    }

    /// Takes what an element takes that has no text of its own, or one that came from elsewhere: a chart, a note.
    pub(crate) fn take_draft(&mut self, draft: &ElementDraft) -> bool {
        let text = match &draft.content {
            ElementContent::Annotation { text, .. } => text.capacity(),
            ElementContent::Chart { series, .. } => {
                let values = series.iter().flat_map(|one| one.values.iter().chain(&one.categories));
                values.map(|value| size_of::<String>() + value.capacity()).sum()
            }
            ElementContent::Diagram { items } => items.len() * CELL,
            _ => 0,
        };
        self.take_element(text, draft.metadata.links.len())
    }

    /// Whether nothing more may be kept.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
