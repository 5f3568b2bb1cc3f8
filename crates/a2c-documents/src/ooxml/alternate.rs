//! Contents that a file has in several forms for programs of different age: the first form counts.

/// Where reading stands in the forms of a content.
#[derive(Debug, Default)]
pub(crate) struct AlternateForms {
    /// Whether a form was taken.
    taken: bool,
}

impl AlternateForms {
    /// Whether an element that begins is a form to pass over.
    pub(crate) fn passes_over(&mut self, name: &[u8]) -> bool {
        match name {
            b"AlternateContent" => {
                self.taken = false;
                false
            }
            b"Choice" | b"Fallback" => std::mem::replace(&mut self.taken, true),
            _ => false,
        }
    }

    /// An element ends. What follows the inner one of two contents is in a form that was taken.
    pub(crate) fn end(&mut self, name: &[u8]) {
        if name == b"AlternateContent" {
            self.taken = true;
        }
    }
}
