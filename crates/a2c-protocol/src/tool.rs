//! Tools: how they are listed, called and answered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ErrorCode;
use crate::event;
use crate::request::Request;
use crate::seconds::Seconds;
pub use crate::tool_schema::ToolSchema;

/// `client:get_tools`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetToolsReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
}

impl Request for GetToolsReq {
    const EVENT: &'static str = event::GET_TOOLS;
}

/// The answer to `client:get_tools`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetToolsRet {
    /// Every tool an Agent may call.
    pub tools: Vec<SmcpTool>,
    /// The key of the request.
    pub req_id: String,
}

/// One tool as an Agent sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmcpTool {
    /// What to call it by: the alias where one is set.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the parameters.
    pub params_schema: ToolSchema,
    /// JSON Schema of the structured result, where the tool declares one.
    #[serde(default)]
    pub return_schema: Option<ToolSchema>,
    /// Flat metadata: strings, booleans, numbers and lists of strings; structured values are JSON strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

impl SmcpTool {
    /// The key of the configured [`ToolMeta`], a JSON string.
    pub const TOOL_META: &'static str = "a2c_tool_meta";
    /// The key of the MCP annotations, a JSON string.
    pub const ANNOTATIONS: &'static str = "MCP_TOOL_ANNOTATION";

    /// The configured metadata, where there is any.
    pub fn tool_meta(&self) -> Option<ToolMeta> {
        serde_json::from_str(self.meta.as_ref()?.get(Self::TOOL_META)?.as_str()?).ok()
    }
}

/// Flattens a metadata value: what is neither a scalar nor a list of strings becomes its JSON text.
pub fn flat_meta(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
        Value::Array(ref items) if items.iter().all(Value::is_string) => Some(value),
        structured => Some(Value::String(structured.to_string())),
    }
}

/// What a computer's owner says about a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(default)]
pub struct ToolMeta {
    /// Run without asking.
    pub auto_apply: Option<bool>,
    /// The name an Agent sees.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-zA-Z0-9_-]{1,64}$")))]
    pub alias: Option<String>,
    /// Labels for sorting tools.
    pub tags: Option<Vec<String>>,
    /// How a front end maps the result's fields.
    pub ret_object_mapper: Option<Value>,
}

impl ToolMeta {
    /// This metadata with the fields it leaves open taken from `default`.
    pub fn or(self, default: Option<&Self>) -> Self {
        let default = default.cloned().unwrap_or_default();
        Self {
            auto_apply: self.auto_apply.or(default.auto_apply),
            alias: self.alias.or(default.alias),
            tags: self.tags.or(default.tags),
            ret_object_mapper: self.ret_object_mapper.or(default.ret_object_mapper),
        }
    }
}

/// `client:tool_call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// Which tool.
    pub tool_name: String,
    /// Its arguments.
    pub params: Map<String, Value>,
    /// How long it may run.
    pub timeout: Seconds,
}

impl Request for ToolCallReq {
    const EVENT: &'static str = event::TOOL_CALL;
}

/// The answer to `client:tool_call`: MCP's result, open for fields this version does not know.
///
/// Peers in the field disagree on `_meta` and `meta`: both are read, both are written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "CallToolResultWire", into = "CallToolResultWire")]
pub struct CallToolResult {
    /// MCP content blocks.
    pub content: Vec<Value>,
    /// The structured result, where the tool has one.
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Metadata: [`CallToolResult::ERROR_CODE`] and others.
    pub meta: Map<String, Value>,
    /// Fields this version does not know.
    pub extra: Map<String, Value>,
}

impl CallToolResult {
    /// Meta: the code of a failure, 4001…4007.
    pub const ERROR_CODE: &'static str = "error_code";
    /// Meta: the MCP server that failed.
    pub const MCP_SERVER: &'static str = "mcp_server";
    /// Meta: the call ran into its time limit.
    pub const TIMEOUT: &'static str = "timeout";
    /// Meta: the call was given up by the Agent.
    pub const CANCELLED: &'static str = "a2c_cancelled";

    /// A failure with its code and its words.
    pub fn failure(code: ErrorCode, message: &str) -> Self {
        let mut failure = Self {
            content: vec![serde_json::json!({"type": "text", "text": message})],
            is_error: true,
            ..Self::default()
        };
        failure.meta.insert(Self::ERROR_CODE.into(), code.number().into());
        failure
    }

    /// Adds metadata.
    pub fn with_meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// The code of a failure.
    pub fn error_code(&self) -> Option<ErrorCode> {
        Some(ErrorCode::from_number(self.meta.get(Self::ERROR_CODE)?.as_i64()?))
    }

    /// All text content, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .content
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect();
        texts.join("\n")
    }
}

#[derive(Serialize, Deserialize)]
struct CallToolResultWire {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(
        default,
        rename = "structuredContent",
        alias = "structured_content",
        skip_serializing_if = "Option::is_none"
    )]
    structured_content: Option<Value>,
    #[serde(default, rename = "isError", alias = "is_error")]
    is_error: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    _meta: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meta: Option<Map<String, Value>>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl From<CallToolResultWire> for CallToolResult {
    fn from(wire: CallToolResultWire) -> Self {
        let mut meta = wire.meta.unwrap_or_default();
        meta.extend(wire._meta.unwrap_or_default());
        Self {
            content: wire.content,
            structured_content: wire.structured_content,
            is_error: wire.is_error.unwrap_or(false),
            meta,
            extra: wire.extra,
        }
    }
}

impl From<CallToolResult> for CallToolResultWire {
    fn from(result: CallToolResult) -> Self {
        let meta = (!result.meta.is_empty()).then_some(result.meta);
        Self {
            content: result.content,
            structured_content: result.structured_content,
            is_error: Some(result.is_error),
            _meta: meta.clone(),
            meta,
            extra: result.extra,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_read_either_meta_and_write_both() {
        let read = |value| serde_json::from_value::<CallToolResult>(value).unwrap();
        let plain = read(
            json!({"content": [{"type": "text", "text": "hi"}], "isError": false, "meta": null, "structuredContent": null}),
        );
        assert_eq!((plain.text().as_str(), plain.is_error, plain.meta.len()), ("hi", false, 0));
        for key in ["meta", "_meta"] {
            let mut value = json!({"content": [], "isError": true, "later": 7});
            value[key] = json!({"error_code": 4004, "timeout": true});
            let result = read(value);
            assert_eq!(result.error_code(), Some(ErrorCode::ToolTimeout));
            let written = serde_json::to_value(&result).unwrap();
            assert_eq!(written["meta"], written["_meta"]);
            assert_eq!(written["later"], 7);
            assert_eq!(read(written), result);
        }
    }

    #[test]
    fn a_tool_without_metadata_has_no_meta_key() {
        let tool = SmcpTool {
            name: "echo".into(),
            description: "Echoes".into(),
            params_schema: json!({"type": "object"}).into(),
            return_schema: None,
            meta: None,
        };
        let expected = json!({"name": "echo", "description": "Echoes", "params_schema": {"type": "object"}, "return_schema": null});
        assert_eq!(serde_json::to_value(&tool).unwrap(), expected);
    }

    #[test]
    fn tool_meta_is_a_json_string_with_nulls_where_unset() {
        let meta = ToolMeta { auto_apply: Some(true), ..ToolMeta::default() };
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(text, r#"{"auto_apply":true,"alias":null,"tags":null,"ret_object_mapper":null}"#);
    }

    #[test]
    fn a_tools_own_metadata_wins_field_by_field() {
        let default = ToolMeta { auto_apply: Some(true), tags: Some(vec!["d".into()]), ..ToolMeta::default() };
        let own = ToolMeta { auto_apply: Some(false), alias: Some("x".into()), ..ToolMeta::default() };
        let merged = own.or(Some(&default));
        assert_eq!(merged.auto_apply, Some(false));
        assert_eq!(merged.alias.as_deref(), Some("x"));
        assert_eq!(merged.tags, default.tags);
    }

    #[test]
    fn meta_values_are_flat() {
        assert_eq!(flat_meta(json!(null)), None);
        assert_eq!(flat_meta(json!(["a", "b"])), Some(json!(["a", "b"])));
        assert_eq!(flat_meta(json!([1, "b"])), Some(json!("[1,\"b\"]")));
        assert_eq!(flat_meta(json!({"a": 1})), Some(json!("{\"a\":1}")));
        assert_eq!(flat_meta(json!(1.5)), Some(json!(1.5)));
    }
}
