//! Summaries of JSON that show the types of values and not the values.
//!
//! The summary of `{"path": "/etc/hosts", "lines": [1, 2, 3]}` is `{"path":"string:9-64","lines":["integer","3 items"]}`:
//! the same JSON with the name of its type in place of each value. One pass over the text makes it; depth, number of
//! keys and total size are bounded.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The nesting depth that is shown; deeper objects and arrays are only named.
const MAX_DEPTH: usize = 4;

/// The number of keys that are shown of one object.
const MAX_KEYS: usize = 32;

/// The number of bytes that are shown of a key.
const MAX_KEY: usize = 64;

/// The size of a summary, in bytes.
const MAX_SUMMARY: usize = 2 << 10;

/// The bytes that are reserved for closing brackets.
const RESERVE: usize = 256;

/// The types of a JSON value; itself JSON, at most 2 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSummary(String);

impl TypeSummary {
    pub(crate) fn too_large() -> Self {
        Self("\"over 64 KiB, not looked at\"".into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TypeSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for TypeSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_str(&self.0),
        }
    }
}

/// The types of the values in a JSON text.
///
/// ```
/// let summary = a2c_hub::audit::summarize_types(r#"{"user": "ada", "password": "correct horse", "tries": 3, "tags": []}"#);
/// assert_eq!(
///     summary.as_str(),
///     r#"{"user":"string:1-8","password":"string:9-64","tries":"integer","tags":[]}"#
/// );
/// ```
pub fn summarize_types(raw: &str) -> TypeSummary {
    let mut out = String::new();
    let mut json = serde_json::Deserializer::from_str(raw);
    let read = SummaryWriter { out: &mut out, depth: 0 }.deserialize(&mut json).and_then(|()| json.end());
    match read {
        Ok(()) => TypeSummary(out),
        Err(_) => TypeSummary("\"unreadable\"".into()),
    }
}

/// Writes the types of the value that it reads.
struct SummaryWriter<'a> {
    out: &'a mut String,
    depth: usize,
}

impl SummaryWriter<'_> {
    fn word<E>(self, word: &str) -> Result<(), E> {
        self.out.push('"');
        self.out.push_str(word);
        self.out.push('"');
        Ok(())
    }

    fn inner(&mut self) -> SummaryWriter<'_> {
        SummaryWriter { out: self.out, depth: self.depth + 1 }
    }

    fn has_room_for(&self, more: usize) -> bool {
        self.out.len() + more <= MAX_SUMMARY - RESERVE
    }
}

impl<'de> DeserializeSeed<'de> for SummaryWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SummaryWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.word("null")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.word("bool")
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.word("integer")
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.word("integer")
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.word("number")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.word(match text.len() {
            0 => "string:0",
            1..=8 => "string:1-8",
            9..=64 => "string:9-64",
            65..=512 => "string:65-512",
            513..=4096 => "string:513-4096",
            _ => "string:4097+",
        })
    }

    /// Shows an array by its first item and the number of items.
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return self.word("array");
        }
        self.out.push('[');
        let mut count = usize::from(items.next_element_seed(self.inner())?.is_some());
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        if count > 1 {
            self.out.push_str(&format!(",\"{count} items\""));
        }
        self.out.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return self.word("object");
        }
        self.out.push('{');
        let (mut shown, mut more) = (0, 0_usize);
        while let Some(key) = entries.next_key_seed(KeyReader)? {
            let key = serde_json::to_string(&key).map_err(A::Error::custom)?;
            if more > 0 || shown == MAX_KEYS || !self.has_room_for(key.len()) {
                entries.next_value::<IgnoredAny>()?;
                more += 1;
                continue;
            }
            if shown > 0 {
                self.out.push(',');
            }
            self.out.push_str(&key);
            self.out.push(':');
            entries.next_value_seed(self.inner())?;
            shown += 1;
        }
        if more > 0 {
            let comma = if shown > 0 { "," } else { "" };
            self.out.push_str(&format!("{comma}\"…\":\"{more} more keys\""));
        }
        self.out.push('}');
        Ok(())
    }
}

/// Reads a key and truncates it.
struct KeyReader;

impl<'de> DeserializeSeed<'de> for KeyReader {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyReader {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<String, E> {
        if key.len() <= MAX_KEY {
            return Ok(key.to_owned());
        }
        Ok(format!("{}…", &key[..key.floor_char_boundary(MAX_KEY)]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: &str) {
        assert_eq!(summarize_types(raw).as_str(), expected);
    }

    #[test]
    fn each_value_becomes_a_word() {
        check("null", r#""null""#);
        check("[true]", r#"["bool"]"#);
        check("[-1, 2, 3.5]", r#"["integer","3 items"]"#);
        check(r#"{"a": 1.5, "b": 1e400}"#, r#""unreadable""#);
        check(r#"{"a": 1.5, "b": 18446744073709551616}"#, r#"{"a":"number","b":"number"}"#);
        check(r#"["", 1]"#, r#"["string:0","2 items"]"#);
        check("{}", "{}");
        check("[]", "[]");
        check("", r#""unreadable""#);
        check("{} {}", r#""unreadable""#);
    }

    #[test]
    fn lengths_are_told_by_class() {
        let class = |length: usize| summarize_types(&json!("x".repeat(length)).to_string()).0;
        let of = |lengths: &[usize]| lengths.iter().map(|l| class(*l)).collect::<Vec<_>>().join(" ");
        assert_eq!(of(&[1, 8, 9, 64]), r#""string:1-8" "string:1-8" "string:9-64" "string:9-64""#);
        assert_eq!(of(&[65, 512, 513]), r#""string:65-512" "string:65-512" "string:513-4096""#);
        assert_eq!(of(&[4096, 4097]), r#""string:513-4096" "string:4097+""#);
    }

    #[test]
    fn deep_values_are_only_named() {
        check(r#"{"a":{"b":{"c":{"d":{"e":1},"f":[1]}}}}"#, r#"{"a":{"b":{"c":{"d":"object","f":"array"}}}}"#);
        check(&format!("{}{}", "[".repeat(30_000), "]".repeat(30_000)), r#"[[[["array"]]]]"#);
    }

    #[test]
    fn keys_are_bounded_in_number_and_length() {
        let many: Map<String, Value> = (0..40).map(|n| (format!("k{n:02}"), json!(n))).collect();
        let seen = summarize_types(&Value::Object(many).to_string());
        assert!(seen.0.ends_with(r#""k31":"integer","…":"8 more keys"}"#), "{seen}");
        check(&json!({"é".repeat(33): 1}).to_string(), &json!({format!("{}…", "é".repeat(32)): "integer"}).to_string());
    }

    #[test]
    fn a_full_summary_is_still_valid_json() {
        let key = |n: usize| format!("{n:02}{}", "\u{1}".repeat(80));
        // Each level is full, the deepest first.
        let wide = |first: Value| -> Value {
            let others = (1..40).map(|n| (key(n), json!([[1, 2], 3])));
            [(key(0), first)].into_iter().chain(others).collect::<Map<_, _>>().into()
        };
        let nested = wide(wide(wide(wide(json!([[1, 2], 3])))));
        let seen = summarize_types(&nested.to_string());
        assert!(seen.0.len() <= MAX_SUMMARY, "{} bytes", seen.0.len());
        assert!(serde_json::from_str::<Value>(&seen.0).is_ok_and(|v| v.is_object()), "{seen}");
        assert!(seen.0.contains("more keys"));
    }

    /// Values are upper-case and keys lower-case, so that neither is part of the notation or of the other.
    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (100_000..i64::MAX).prop_map(Value::from),
            "[A-Z][A-Z0-9 \"\\\\\n世é]{3,80}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-z_]{1,80}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn scalars(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
            Value::Object(map) => map.values().for_each(|item| scalars(item, found)),
            Value::String(text) => found.push(text.clone()),
            Value::Number(number) => found.push(number.to_string()),
            Value::Bool(_) | Value::Null => {}
        }
    }

    proptest! {
        #[test]
        fn no_value_is_in_a_summary(value in json_value()) {
            let seen = summarize_types(&value.to_string());
            prop_assert!(seen.0.len() <= MAX_SUMMARY);
            prop_assert!(serde_json::from_str::<Value>(&seen.0).is_ok());
            let mut values = Vec::new();
            scalars(&value, &mut values);
            for secret in values {
                // As it is, and as JSON would spell it; any five characters of it in a row.
                let spelt = Value::from(secret.as_str()).to_string();
                for text in [secret.as_str(), spelt.trim_matches('"')] {
                    let chars: Vec<char> = text.chars().collect();
                    let parts = chars.windows(5).map(String::from_iter).chain([text.to_owned()]);
                    for part in parts {
                        prop_assert!(!seen.0.contains(&part), "{part:?} of {secret:?} is in {seen}");
                    }
                }
            }
        }

        #[test]
        fn every_text_has_a_summary(text in "\\PC{0,200}") {
            let seen = summarize_types(&text);
            prop_assert!(serde_json::from_str::<Value>(&seen.0).is_ok());
        }
    }
}
