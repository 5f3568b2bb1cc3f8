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
    /// The whole text until it is redacted: a secret that a cut goes through would not be recognised any more.
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
        Self { text, source: Some(error.into()) }
    }

    /// The text without secrets. Where there are any, the error behind it is dropped: its own text cannot be redacted.
    pub(crate) fn redacted(self, secrets: &Redactor) -> Self {
        let source = if secrets.is_empty() { self.source } else { None };
        Self { text: cut(&secrets.redact(&self.text), LONGEST), source }
    }

    /// A text alone.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.to_owned(), source: None }
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
        f.write_str(&cut(&self.text, LONGEST))
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", cut(&self.text, LONGEST))
    }
}

impl Error for Detail {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const SECRET: &str = "canary-0123456789";

    #[test]
    fn a_secret_at_the_cut_or_behind_it_is_not_shown_in_part() {
        let secrets = Redactor::new([SECRET]);
        for before in [0, LONGEST - SECRET.len() - 8, LONGEST - 8, LONGEST, 2 * LONGEST] {
            let text = format!("{}{SECRET} and more", "x".repeat(before));
            let shown = Detail::new(io::Error::other(text.clone())).redacted(&secrets);
            assert!(!format!("{shown} {shown:?}").contains("canary"), "{before}: {shown}");
            assert!(shown.to_string().len() <= LONGEST, "{before}");
            assert!(shown.source().is_none(), "{before}");
            assert!(!Detail::text(&text).redacted(&secrets).to_string().contains("canary"), "{before}");
        }
    }

    #[test]
    fn without_secrets_the_error_is_kept() {
        let detail = Detail::new(io::Error::other("x".repeat(2 * LONGEST)));
        assert!(detail.to_string().len() <= LONGEST && format!("{detail:?}").len() <= LONGEST + 2);
        let detail = detail.redacted(&Redactor::default());
        assert!(detail.source().is_some_and(|source| source.to_string().len() == 2 * LONGEST));
    }
}
