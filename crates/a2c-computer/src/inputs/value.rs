//! The value of an input: text, or JSON that was set at run time. It is wiped from memory when dropped and never printed.

use std::fmt;

use a2c_secrets::{Secret, SecretJson};
use serde_json::Value;
use zeroize::Zeroizing;

/// The value of an input. Text from most sources; at run time it may also be a number, `true` or `false`.
#[derive(Clone, PartialEq)]
pub struct InputValue(SecretJson);

impl InputValue {
    /// The value with its type. The copy is the caller's to wipe.
    pub(super) fn json(&self) -> Value {
        self.0.expose().clone()
    }

    /// The value as it reads inside of a longer text.
    pub(super) fn text(&self) -> Zeroizing<String> {
        self.0.text()
    }

    /// Every text in it, for redaction.
    pub(super) fn texts(&self) -> Vec<Zeroizing<String>> {
        self.0.texts()
    }
}

impl fmt::Debug for InputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Value> for InputValue {
    fn from(value: Value) -> Self {
        Self(value.into())
    }
}

impl From<String> for InputValue {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for InputValue {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Zeroizing<String>> for InputValue {
    fn from(text: Zeroizing<String>) -> Self {
        Self(text.into())
    }
}

impl From<&Secret> for InputValue {
    fn from(secret: &Secret) -> Self {
        secret.expose().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_text_inside_of_text_and_is_never_printed() {
        for (value, text) in [(json!("s3cret"), "s3cret"), (json!(8080), "8080"), (json!(true), "true")] {
            let value = InputValue::from(value);
            assert_eq!(*value.text(), text);
            assert_eq!(format!("{value:?}"), "***");
        }
    }
}
