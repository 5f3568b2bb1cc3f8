//! A large result of a tool becomes the answer to its call without a tree of it: its text is passed on, or kept for reading in
//! pages. A tree would take up to a hundred times its memory.

use std::time::Instant;

use a2c_mcp::{LargeResult, LargeResultFields};
use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use a2c_protocol::tree_size::TreeSize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::result_limit::{self, LargeParts};
use super::result_store::ResultStore;

/// What a tree may take, besides the size of its text.
const LARGEST_TREE: usize = 16 << 20;

/// Larger metadata is read in pages.
const LARGEST_META: usize = 64 << 10;

/// A call that has run.
#[derive(Debug)]
pub(crate) enum CallOutput {
    /// The result.
    Result(CallToolResult),
    /// The answer with a large result, as it goes out.
    Large(LargeAnswer),
}

/// The answer with a large result, as it goes out.
#[derive(Debug)]
pub(crate) struct LargeAnswer {
    pub(crate) json: Box<RawValue>,
    is_error: bool,
}

impl CallOutput {
    pub(crate) fn is_error(&self) -> bool {
        match self {
            Self::Result(result) => result.is_error,
            Self::Large(answer) => answer.is_error,
        }
    }

    pub(crate) fn error_code(&self) -> Option<ErrorCode> {
        match self {
            Self::Result(result) => result.error_code(),
            Self::Large(answer) => answer.is_error.then_some(ErrorCode::ToolFailed),
        }
    }

    /// The result as a tree, if that is not too large.
    pub(crate) fn into_result(self) -> CallToolResult {
        match self {
            Self::Result(result) => result,
            Self::Large(answer) => build(answer.json.get()).unwrap_or_else(|| {
                let message = "the tool has run, but its result has too many values: ask it for less";
                CallToolResult::failure(ErrorCode::ToolFailed, message)
            }),
        }
    }
}

/// The result of a text as a tree, if that is not too large.
pub(crate) fn build(json: &str) -> Option<CallToolResult> {
    has_small_tree(json).then(|| serde_json::from_str(json).ok()).flatten()
}

fn has_small_tree(json: &str) -> bool {
    TreeSize::of(json).bytes() <= LARGEST_TREE + json.len()
}

/// What the answer to a call is made with.
pub(crate) struct AnswerMaker<'a> {
    /// Sets the metadata that only this Computer sets.
    pub(crate) own_meta: &'a dyn Fn(&mut Map<String, Value>, bool),
    /// How large an answer may be to be sent whole.
    pub(crate) limit: usize,
    pub(crate) store: &'a ResultStore,
}

impl AnswerMaker<'_> {
    /// The answer with a result. It takes as long as the result is long: not for a thread of the runtime.
    pub(crate) fn answer(&self, result: &LargeResult) -> Result<LargeAnswer, serde_json::Error> {
        let Some(fields) = result.fields() else {
            let failure = CallToolResult::failure(ErrorCode::ToolFailed, "the result cannot be passed on");
            return Ok(LargeAnswer { json: to_raw_value(&failure)?, is_error: true });
        };
        let is_error = fields.is_error == Some(true);
        let large_meta = fields.meta.filter(|meta| meta.get().len() > LARGEST_META);
        let mut meta = match fields.meta {
            Some(small) if large_meta.is_none() => serde_json::from_str(small.get())?,
            _ => Map::new(),
        };
        (self.own_meta)(&mut meta, is_error);
        if large_meta.is_none() {
            let whole = written(&fields, is_error, &meta)?;
            if whole.len() <= self.limit {
                return Ok(LargeAnswer { json: RawValue::from_string(whole)?, is_error });
            }
        }
        let content = fields.content.map(RawValue::get).filter(|content| has_small_tree(content));
        let large = LargeParts {
            result: if content.is_none() { Some(result.text()) } else { None },
            structured: fields.structured_content.map(RawValue::get),
            meta: large_meta.map(RawValue::get),
        };
        let content = content.map(serde_json::from_str).transpose()?.unwrap_or_default();
        let small = CallToolResult { content, is_error, meta, ..CallToolResult::default() };
        let bounded = result_limit::bound_large(small, large, self.limit, self.store, Instant::now());
        Ok(LargeAnswer { json: to_raw_value(&bounded)?, is_error })
    }
}

/// The whole result as it goes out. Metadata is written twice, as with any other result.
fn written(
    fields: &LargeResultFields<'_>,
    is_error: bool,
    meta: &Map<String, Value>,
) -> Result<String, serde_json::Error> {
    let content = fields.content.map_or("[]", RawValue::get);
    let structured = fields.structured_content.map_or("", RawValue::get);
    let meta = if meta.is_empty() { String::new() } else { serde_json::to_string(meta)? };
    // The names of the fields, and the braces around them.
    const FRAME: usize = 80;
    let mut text = String::with_capacity(content.len() + structured.len() + 2 * meta.len() + FRAME);
    text.push_str("{\"content\":");
    text.push_str(content);
    if !structured.is_empty() {
        text.push_str(",\"structuredContent\":");
        text.push_str(structured);
    }
    text.push_str(if is_error { ",\"isError\":true" } else { ",\"isError\":false" });
    if !meta.is_empty() {
        for name in [",\"_meta\":", ",\"meta\":"] {
            text.push_str(name);
            text.push_str(&meta);
        }
    }
    text.push('}');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::result_limit::{A2C_RESULT, MIN_LIMIT};
    use serde_json::json;

    fn answer(sent: &Value, limit: usize, store: &ResultStore) -> CallToolResult {
        let own_meta = |meta: &mut Map<String, Value>, is_error: bool| {
            meta.remove("forged");
            if is_error {
                meta.insert(CallToolResult::ERROR_CODE.into(), ErrorCode::ToolFailed.number().into());
            }
        };
        let result = LargeResult::of(sent.to_string()).unwrap();
        let answer = AnswerMaker { own_meta: &own_meta, limit, store }.answer(&result).unwrap();
        assert!(answer.json.get().len() <= limit, "{}", answer.json.get().len());
        serde_json::from_str(answer.json.get()).unwrap()
    }

    fn read(store: &ResultStore, uri: &str) -> Value {
        store.read(uri, Instant::now()).unwrap().contents.remove(0)
    }

    #[test]
    fn a_result_within_the_limit_is_passed_on_whole() {
        let sent = json!({
            "content": [{"type": "text", "text": "x"}], "structuredContent": {"rows": [[1, 2], [3]]}, "isError": true,
            "_meta": {"forged": 1, "own": 2},
        });
        let whole = answer(&sent, MIN_LIMIT, &ResultStore::default());
        assert_eq!(whole.content, *sent["content"].as_array().unwrap());
        assert_eq!(whole.structured_content.as_ref(), Some(&sent["structuredContent"]));
        assert_eq!(json!(whole.meta), json!({"own": 2, "error_code": ErrorCode::ToolFailed.number()}));
        assert!(whole.is_error);
    }

    #[test]
    fn a_larger_one_shows_its_ends_and_can_be_read() {
        let store = ResultStore::default();
        let rows = json!({"rows": vec![json!({"": 0}); MIN_LIMIT]});
        let sent = json!({"content": [{"type": "text", "text": "summary"}], "structuredContent": rows});
        let bounded = answer(&sent, MIN_LIMIT, &store);
        assert!(bounded.text().starts_with("summary"), "{}", bounded.text());
        let uri = bounded.meta[A2C_RESULT]["uri"].as_str().unwrap();
        let page = read(&store, &format!("{uri}/structured"));
        assert_eq!(serde_json::from_str::<Value>(page["text"].as_str().unwrap()).unwrap(), rows);
    }

    #[test]
    fn content_of_very_many_values_is_read_as_one_document() {
        let store = ResultStore::default();
        let sent = json!({"content": vec![json!({"type": "text", "text": ""}); LARGEST_TREE / 500]});
        let bounded = answer(&sent, MIN_LIMIT, &store);
        assert!(bounded.text().starts_with("{\"content\":["), "{}", bounded.text());
        let uri = bounded.meta[A2C_RESULT]["uri"].as_str().unwrap();
        assert!(read(&store, uri)["text"].as_str().unwrap().starts_with("{\"content\":["));
    }

    #[test]
    fn large_metadata_is_read_by_itself() {
        let store = ResultStore::default();
        let sent = json!({"content": [{"type": "text", "text": "x"}], "_meta": {"own": "y".repeat(LARGEST_META)}});
        let bounded = answer(&sent, 1 << 20, &store);
        let uri = bounded.meta[A2C_RESULT]["uri"].as_str().unwrap();
        let page = read(&store, &format!("{uri}/meta"));
        assert!(page["text"].as_str().unwrap().starts_with("{\"own\":\"yyy"));
    }
}
