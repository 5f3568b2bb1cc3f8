//! [`ToolSchema`]: the JSON Schema of a tool, kept as text.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The JSON Schema of a tool's parameters or result, as the text in which it travelled.
///
/// A list of tools is mostly schemas, and most of them are handed on (to a model, to another program) without being looked
/// at. So a schema is one piece of text until [`ToolSchema::parse`] reads it.
///
/// ```
/// use a2c_protocol::tool::ToolSchema;
/// use serde_json::json;
///
/// let schema = ToolSchema::from(json!({"type": "object", "required": ["text"]}));
/// assert_eq!(schema.text(), r#"{"required":["text"],"type":"object"}"#);
/// assert_eq!(schema.value()?["required"], json!(["text"]));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct ToolSchema(Box<RawValue>);

impl ToolSchema {
    /// The schema as JSON text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the schema as a `T`.
    ///
    /// The text is JSON, but it comes from elsewhere: it may be nested more deeply than a parser goes.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// Reads the schema as any JSON.
    pub fn value(&self) -> Result<Value, serde_json::Error> {
        self.parse()
    }
}

/// Schemas are equal when they say the same, however they are written.
impl PartialEq for ToolSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || matches!((self.value(), other.value()), (Ok(one), Ok(two)) if one == two)
    }
}

impl fmt::Debug for ToolSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<Value> for ToolSchema {
    fn from(value: Value) -> Self {
        Self(to_raw_value(&value).expect("JSON can be written as JSON"))
    }
}

impl From<&Map<String, Value>> for ToolSchema {
    fn from(object: &Map<String, Value>) -> Self {
        Self(to_raw_value(object).expect("a JSON object can be written as JSON"))
    }
}

impl Serialize for ToolSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_keeps_its_text() {
        let text = r#"{ "type":"object",  "b":1.0, "a":1 }"#;
        let schema: ToolSchema = serde_json::from_str(text).unwrap();
        assert_eq!(schema.text(), text);
        assert_eq!(serde_json::to_string(&schema).unwrap(), text);
        assert_eq!(format!("{schema:?}"), text);
    }

    #[test]
    fn a_schema_becomes_a_value_and_comes_from_one() {
        let value = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let schema: ToolSchema = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(schema.value().unwrap(), value);
        assert_eq!(serde_json::to_value(&schema).unwrap(), value);
        assert_eq!(ToolSchema::from(value.as_object().unwrap()), schema);
    }

    #[test]
    fn schemas_are_equal_when_they_say_the_same() {
        let read = |text| serde_json::from_str::<ToolSchema>(text).unwrap();
        assert_eq!(read(r#"{"a":1,"b":2}"#), read(r#"{ "b": 2, "a": 1 }"#));
        assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":2}"#));
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        assert_eq!(read(&deep), read(&deep));
        assert!(read(&deep).value().is_err());
    }
}
