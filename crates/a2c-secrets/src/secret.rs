//! A secret text.

use std::fmt;

use zeroize::Zeroizing;

/// What stands in the place of a secret.
pub const REDACTED: &str = "***";

/// A text that is never printed and is wiped from memory when it is dropped.
///
/// Copies that the caller makes of the exposed text are the caller's to wipe.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a value over.
    pub fn new(value: impl Into<String>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// The value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<Zeroizing<String>> for Secret {
    fn from(value: Zeroizing<String>) -> Self {
        Self(value)
    }
}

impl From<Secret> for Zeroizing<String> {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_exposed_on_request_and_never_printed() {
        for secret in [
            Secret::new("s3cret"),
            "s3cret".into(),
            "s3cret".to_owned().into(),
            Zeroizing::new("s3cret".to_owned()).into(),
        ] {
            assert_eq!(secret.expose(), "s3cret");
            assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "*** Some(***)");
        }
    }
}
