//! A secret JSON value.

use std::fmt;

use serde_json::Value;
use zeroize::{Zeroize as _, Zeroizing};

use crate::secret::REDACTED;

/// A JSON value that is never printed; every text in it is wiped from memory when it is dropped.
///
/// Numbers and the names of fields are not wiped.
#[derive(Clone, PartialEq)]
pub struct SecretJson(Value);

impl SecretJson {
    /// The value, for the one place that needs it. Copies are the caller's to wipe.
    pub fn expose(&self) -> &Value {
        &self.0
    }

    /// The value, to be changed in place.
    pub fn expose_mut(&mut self) -> &mut Value {
        &mut self.0
    }

    /// The value as it reads inside of a longer text: a text without quotation marks, anything else as JSON.
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(match &self.0 {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    /// [`text`](Self::text) and every text inside of the value, for a [`Redactor`](crate::Redactor).
    pub fn texts(&self) -> Vec<Zeroizing<String>> {
        let mut found = vec![self.text()];
        collect_texts(&self.0, &mut found);
        found
    }
}

impl From<Value> for SecretJson {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl From<String> for SecretJson {
    fn from(text: String) -> Self {
        Self(Value::String(text))
    }
}

impl From<Zeroizing<String>> for SecretJson {
    fn from(mut text: Zeroizing<String>) -> Self {
        // Moved out, not copied: the wrapper wipes an empty string.
        Self(Value::String(std::mem::take(&mut *text)))
    }
}

impl fmt::Debug for SecretJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Drop for SecretJson {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Overwrites every text of a JSON value.
fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn collect_texts(value: &Value, found: &mut Vec<Zeroizing<String>>) {
    match value {
        Value::String(text) => found.push(Zeroizing::new(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, found)),
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
            let value = SecretJson::from(value);
            assert_eq!(*value.text(), text);
            assert_eq!(format!("{value:?}"), "***");
        }
    }

    #[test]
    fn every_text_is_found() {
        let value = SecretJson::from(json!({"a": ["one", 1], "b": {"c": "two"}}));
        let texts: Vec<_> = value.texts().iter().map(|text| text.to_string()).collect();
        assert_eq!(texts, [r#"{"a":["one",1],"b":{"c":"two"}}"#, "one", "two"]);
    }

    #[test]
    fn wiping_reaches_every_text() {
        let mut value = json!({"a": ["s3cret", 1], "b": {"c": "s3cret"}});
        wipe(&mut value);
        assert_eq!(value, json!({"a": ["", 1], "b": {"c": ""}}));
    }
}
