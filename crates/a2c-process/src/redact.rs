//! Keeping secrets out of texts.

/// Takes out of a text what must not be seen. A closure does, too.
///
/// Errors and lines of standard error pass through this before they are kept or handed out.
pub trait Redact: Send + Sync {
    /// The text without secrets.
    fn redact(&self, text: &str) -> String;
}

impl<F: Fn(&str) -> String + Send + Sync> Redact for F {
    fn redact(&self, text: &str) -> String {
        self(text)
    }
}

/// Leaves every text as it is: for processes that know no secrets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl Redact for NoSecrets {
    fn redact(&self, text: &str) -> String {
        text.to_owned()
    }
}
