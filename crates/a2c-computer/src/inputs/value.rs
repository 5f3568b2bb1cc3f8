//! The value of an input: text, or JSON that was set at run time. It is wiped from memory when dropped and never printed.

use std::fmt;

use a2c_link::Secret;
use serde_json::Value;
use zeroize::{Zeroize, Zeroizing};

/// The value of an input. Text from most sources; at run time it may also be a number, `true` or `false`.
#[derive(Clone, PartialEq)]
pub struct InputValue(Value);

impl InputValue {
    /// The value with its type. The copy is the caller's to wipe.
    pub(super) fn json(&self) -> Value {
        self.0.clone()
    }

    /// The value as it reads inside of a longer text.
    pub(super) fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(match &self.0 {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    /// Every text in it, for hiding.
    pub(super) fn texts(&self) -> Vec<Zeroizing<String>> {
        let mut found = vec![self.text()];
        strings(&self.0, &mut |text| found.push(Zeroizing::new(text.to_owned())));
        found
    }
}

impl fmt::Debug for InputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Drop for InputValue {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl From<Value> for InputValue {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl From<String> for InputValue {
    fn from(text: String) -> Self {
        Self(Value::String(text))
    }
}

impl From<&str> for InputValue {
    fn from(text: &str) -> Self {
        Self(Value::String(text.to_owned()))
    }
}

impl From<Zeroizing<String>> for InputValue {
    fn from(mut text: Zeroizing<String>) -> Self {
        // Moved out, not copied: the wrapper wipes an empty string.
        Self(Value::String(std::mem::take(&mut *text)))
    }
}

impl From<&Secret> for InputValue {
    fn from(secret: &Secret) -> Self {
        secret.expose().into()
    }
}

/// Overwrites every text of a JSON value.
pub(super) fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn strings<'a>(value: &'a Value, found: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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

    #[test]
    fn wiping_reaches_every_text() {
        let mut value = json!({"a": ["s3cret", 1], "b": {"c": "s3cret"}});
        wipe(&mut value);
        assert_eq!(value, json!({"a": ["", 1], "b": {"c": ""}}));
    }
}
