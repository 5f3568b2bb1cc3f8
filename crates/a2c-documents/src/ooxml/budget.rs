//! How much memory the elements of a document may take. What is built is charged before it is kept, so that a small file
//! that stands for millions of tiny elements is cut instead of filling the memory.

use a2c_document_model::{ElementDraft, TextSpan};

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

    /// Takes what cells of a table with a text of this length take.
    pub(crate) fn take_cells(&mut self, count: usize, text: usize) -> bool {
        self.take(count.saturating_mul(size_of::<String>()).saturating_add(text))
    }

    /// Whether nothing more may be kept.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
