//! The result of a tool call that stays a text, because a tree of it would take many times its memory.

use a2c_secrets::Redactor;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A large result, as the text that the server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeResult(String);

/// The members of a large result, each as its text.
#[derive(Debug, Deserialize)]
pub struct LargeResultFields<'a> {
    /// The list of content blocks.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
    /// The structured result.
    #[serde(borrow, default, rename = "structuredContent")]
    pub structured_content: Option<&'a RawValue>,
    /// Whether the tool failed.
    #[serde(default, rename = "isError")]
    pub is_error: Option<bool>,
    /// Metadata, an object.
    #[serde(borrow, default, rename = "_meta")]
    pub meta: Option<&'a RawValue>,
}

impl LargeResult {
    /// Takes the text of a result; `None` if it is not a tool's.
    pub fn of(text: String) -> Option<Self> {
        let result = Self(text);
        let fields = result.fields()?;
        let is = |member: Option<&RawValue>, first: char| member.is_none_or(|raw| raw.get().starts_with(first));
        let fits = is(fields.content, '[') && is(fields.meta, '{');
        (fits && (fields.content.is_some() || fields.structured_content.is_some())).then_some(result)
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Its members; `None` if it has none twice.
    pub fn fields(&self) -> Option<LargeResultFields<'_>> {
        serde_json::from_str(&self.0).ok()
    }

    /// Redacts every text in it, names of fields included. It takes a while: not for a thread of the runtime.
    pub fn redact(&mut self, secrets: &Redactor) {
        secrets.redact_json_text(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_of_tools_are_taken() {
        for (text, taken) in [
            (r#"{"content":[{"type":"text","text":"a"}]}"#, true),
            (r#"{"structuredContent":{"a":1},"_meta":{}}"#, true),
            (r#"{"content":{}}"#, false),
            (r#"{"content":[],"_meta":[]}"#, false),
            (r#"{"content":[],"content":[]}"#, false),
            (r#"{"tools":[]}"#, false),
            ("[]", false),
            ("text", false),
        ] {
            assert_eq!(LargeResult::of(text.into()).is_some(), taken, "{text}");
        }
    }

    #[test]
    fn its_members_are_texts() {
        let text = r#"{"content": [1, {}], "isError": true, "_meta": {"a": 1}, "other": 1}"#;
        let result = LargeResult::of(text.into()).unwrap();
        let fields = result.fields().unwrap();
        assert_eq!((fields.content.unwrap().get(), fields.is_error), ("[1, {}]", Some(true)));
        assert_eq!((fields.meta.unwrap().get(), fields.structured_content.is_none()), (r#"{"a": 1}"#, true));
    }
}
