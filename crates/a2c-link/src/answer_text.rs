//! An answer that stays a text, because a structure of it would take many times its size.

use std::fmt;
use std::sync::Arc;

/// The text of an answer that was not decoded.
#[derive(Clone, PartialEq, Eq)]
pub struct AnswerText(Arc<str>);

impl AnswerText {
    pub(crate) fn new(json: &str) -> Self {
        Self(json.into())
    }

    /// The JSON, as the hub sent it.
    pub fn json(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AnswerText {
    /// Without the text, which is large.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnswerText({} bytes)", self.0.len())
    }
}
