//! The pinned part of a tool: everything that an Agent, or the person who confirms a call, sees of it.
//!
//! The hash is SHA-256 over the canonical JSON (keys in order, no spaces), so that the same definition sent in another
//! order is the same definition. The text is for people: it is what a diff compares.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use a2c_mcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::invisible::escaped;

/// How much text of one definition is stored. The hash always covers all of it.
pub(super) const MAX_TEXT: usize = 64 * 1024;

/// A definition as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Definition {
    /// 64 hexadecimal digits.
    pub(super) hash: String,
    /// For people, with every invisible character escaped.
    pub(super) text: String,
    /// Whether the text is only the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) cut: bool,
}

/// What a server lists under one name: all definitions, by their canonical JSON. Repetitions and the order of the list make
/// no difference, and a second definition is not hidden by the first.
pub(super) struct NewDefinition {
    pub(super) hash: String,
    by_canonical: BTreeMap<String, Value>,
}

/// The tools that a server lists, hashed. Making it is the slow part, and needs no lock.
pub(crate) struct ListedDefinitions<'a> {
    pub(super) by_name: BTreeMap<&'a str, NewDefinition>,
}

impl<'a> ListedDefinitions<'a> {
    /// All tools that a server lists.
    pub(crate) fn of(tools: &'a [Tool]) -> Self {
        let mut by_name: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
        for tool in tools {
            let shown = shown_of(tool);
            by_name.entry(&tool.name).or_default().insert(shown.to_string(), shown);
        }
        let hashed =
            |by_canonical: BTreeMap<String, Value>| NewDefinition { hash: hash(by_canonical.keys()), by_canonical };
        Self { by_name: by_name.into_iter().map(|(name, by_canonical)| (name, hashed(by_canonical))).collect() }
    }
}

fn hash<'a>(canonical: impl Iterator<Item = &'a String>) -> String {
    let mut digest = Sha256::new();
    for one in canonical {
        digest.update(one);
        digest.update(b"\n");
    }
    digest.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What Agents see of a tool. Icons do not count: Agents do not get them.
fn shown_of(tool: &Tool) -> Value {
    let mut shown = Map::new();
    shown.insert("name".into(), (*tool.name).into());
    shown.insert("inputSchema".into(), Value::Object((*tool.input_schema).clone()));
    let mut add = |key: &str, value: Option<Value>| value.map(|value| shown.insert(key.into(), value));
    add("title", tool.title.clone().map(Value::from));
    add("description", tool.description.as_deref().map(Value::from));
    add("outputSchema", tool.output_schema.as_deref().cloned().map(Value::Object));
    add("annotations", tool.annotations.as_ref().and_then(|own| serde_json::to_value(own).ok()));
    add("_meta", tool.meta.as_ref().map(|own| Value::Object(own.0.clone())));
    let mut shown = Value::Object(shown);
    shown.sort_all_objects();
    shown
}

impl NewDefinition {
    /// The definition to store. Made only for new definitions: most lists are as they were.
    pub(super) fn into_definition(self) -> Definition {
        let mut text = self.by_canonical.values().map(for_people).collect::<Vec<_>>().join("\n");
        let cut = text.len() > MAX_TEXT;
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        Definition { hash: self.hash, text, cut }
    }
}

/// A field per section; a description reads as its author wrote it, everything else as indented JSON.
fn for_people(shown: &Value) -> String {
    let mut text = String::new();
    // In the order of what a reader looks at first.
    for key in ["name", "title", "description", "annotations", "inputSchema", "outputSchema", "_meta"] {
        let section = match &shown[key] {
            Value::Null => continue,
            Value::String(own) if key == "description" => own.clone(),
            Value::String(own) => own.replace('\n', "\\n"),
            // A map of strings always becomes JSON.
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let separator = if section.contains('\n') { "\n" } else { " " };
        let _ = writeln!(text, "{key}:{separator}{}", escaped(&section));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(json: Value) -> Tool {
        serde_json::from_value(json).unwrap()
    }

    fn hash(json: Value) -> String {
        let tools = [tool(json)];
        ListedDefinitions::of(&tools).by_name.into_values().next().unwrap().hash
    }

    #[test]
    fn every_part_that_is_shown_counts_and_the_order_of_keys_does_not() {
        let plain = json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "required": ["a"]}});
        let same: Value = serde_json::from_str(
            r#"{"inputSchema": {"required": ["a"], "type": "object"}, "description": "d", "name": "t"}"#,
        )
        .unwrap();
        assert_eq!(hash(plain.clone()), hash(same));
        assert_eq!(hash(plain.clone()).len(), 64);
        let changes = [
            ("name", json!("u")),
            ("description", json!("d ")),
            ("title", json!("T")),
            ("inputSchema", json!({"type": "object", "required": ["b"]})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
            ("_meta", json!({"k": 1})),
        ];
        let mut seen = vec![hash(plain.clone())];
        for (key, value) in changes {
            let mut changed = plain.clone();
            changed[key] = value;
            let hash = hash(changed);
            assert!(!seen.contains(&hash), "{key}");
            seen.push(hash);
        }
        let mut icon = plain;
        icon["icons"] = json!([{"src": "https://example.org/i.png"}]);
        assert_eq!(hash(icon), seen[0], "an icon is not shown");
    }

    #[test]
    fn a_name_listed_twice_is_defined_by_both() {
        let good = json!({"name": "t", "description": "good", "inputSchema": {}});
        let bad = json!({"name": "t", "description": "bad", "inputSchema": {}});
        let of = |list: &[&Value]| {
            let tools: Vec<_> = list.iter().map(|json| tool((*json).clone())).collect();
            ListedDefinitions::of(&tools).by_name["t"].hash.clone()
        };
        assert_ne!(of(&[&good, &bad]), of(&[&good]));
        assert_eq!(of(&[&good, &bad]), of(&[&bad, &good]));
        assert_eq!(of(&[&good, &good]), of(&[&good]), "a list that repeats itself says nothing new");
    }

    #[test]
    fn the_text_is_for_people_and_bounded() {
        let kept = |tool: &Tool| {
            ListedDefinitions::of(std::slice::from_ref(tool)).by_name.remove("t").unwrap().into_definition()
        };
        let short = tool(json!({"name": "t", "description": "one\ntwo\u{202e}", "inputSchema": {"type": "object"}}));
        let expected = "name: t\ndescription:\none\ntwo\\u{202e}\ninputSchema:\n{\n  \"type\": \"object\"\n}\n";
        assert_eq!(kept(&short).text, expected);
        let long = tool(json!({"name": "t", "description": "é".repeat(MAX_TEXT), "inputSchema": {}}));
        let kept = kept(&long);
        assert!(kept.cut && kept.text.len() <= MAX_TEXT);
    }
}
