//! A failure in the words of another library.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use a2c_process::cut;
use a2c_secrets::Redactor;

/// How much of a text is repeated that a server may have written.
const LONGEST: usize = 4 << 10;

/// What another library, or the server through it, says about a failure: a text, and the error that it comes from.
#[derive(Clone)]
pub struct Detail {
    text: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Detail {
    /// The text of an error with all its causes, of which the last one tells most.
    pub(crate) fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self::boxed(Box::new(error))
    }

    pub(crate) fn boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let more = error.to_string();
            if !text.ends_with(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        Self { text: cut(&text, LONGEST), source: Some(error.into()) }
    }

    /// The text without secrets. The error behind it goes with them.
    pub(crate) fn redacted(self, secrets: &Redactor) -> Self {
        match secrets.redact(&self.text) {
            text if text == self.text => self,
            text => Self { text, source: None },
        }
    }

    /// A text alone.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: cut(text, LONGEST), source: None }
    }
}

impl PartialEq for Detail {
    /// By the text: errors of other libraries cannot be compared.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl Error for Detail {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
