//! The context plane: Desktop, Finder, resources and `get_dpe`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event;
use crate::request::{FieldError, Request};
use crate::seconds::Seconds;

/// `client:get_desktop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetDesktopReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// At most so many windows; zero and less give none, absent gives all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desktop_size: Option<i64>,
    /// Only the window of this URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

impl Request for GetDesktopReq {
    const EVENT: &'static str = event::GET_DESKTOP;
}

/// The answer to `client:get_desktop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetDesktopRet {
    /// The windows, rendered, in the order in which they matter.
    #[serde(default)]
    pub desktops: Vec<String>,
    /// The key of the request.
    pub req_id: String,
}

/// `client:get_finder`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetFinderReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// Keep documents in which any of these occurs; empty keeps all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// Keep documents of exactly this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<String>,
    /// Skip so many.
    #[serde(default)]
    pub offset: u64,
    /// Give at most so many.
    #[serde(default = "GetFinderReq::default_limit")]
    pub limit: u64,
}

impl GetFinderReq {
    /// The page size when none is asked for.
    pub const DEFAULT_LIMIT: u64 = 20;
    /// The largest page; a larger number is capped.
    pub const MAX_LIMIT: u64 = 100;

    fn default_limit() -> u64 {
        Self::DEFAULT_LIMIT
    }

    /// The page size after capping.
    pub fn page_size(&self) -> u64 {
        self.limit.min(Self::MAX_LIMIT)
    }
}

impl Request for GetFinderReq {
    const EVENT: &'static str = event::GET_FINDER;
}

/// The answer to `client:get_finder`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetFinderRet {
    /// One page of documents.
    pub documents: Vec<DpeDocumentSummary>,
    /// How many there are after filtering, before paging.
    pub total_count: u64,
    /// The key of the request.
    pub req_id: String,
}

/// One document as the Finder lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DpeDocumentSummary {
    /// The document's reference within its host.
    pub doc_ref: String,
    /// Its `dpe://` URI, level 1.
    pub uri: String,
    /// Where the file is.
    pub file_uri: String,
    /// What kind of file.
    pub file_type: String,
    /// Its title.
    pub title: String,
    /// How many pages it has.
    pub page_count: u64,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// A few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The MCP server that has it.
    pub server: String,
    /// When it last changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// `client:get_resources`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetResourcesReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// Which MCP server.
    pub mcp_server: String,
    /// Where to go on, as the last answer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

impl Request for GetResourcesReq {
    const EVENT: &'static str = event::GET_RESOURCES;
}

/// The answer to `client:get_resources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetResourcesRet {
    /// The server's resources, as it listed them.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// Set when there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The key of the request.
    pub req_id: String,
}

/// An MCP resource. Written as MCP writes it; snake_case spellings of peers in the field are read too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(default, rename = "mimeType", alias = "mime_type", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Who it is for, how much it matters, when it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// The server's own metadata.
    #[serde(default, rename = "_meta", alias = "meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// MCP annotations of a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Annotations {
    /// `user`, `assistant` or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<String>>,
    /// From 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// ISO 8601.
    #[serde(default, rename = "lastModified", alias = "last_modified", skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// `client:read_resource`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadResourceReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// Which resource.
    pub uri: String,
    /// Which MCP server, where the URI alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
}

impl Request for ReadResourceReq {
    const EVENT: &'static str = event::READ_RESOURCE;

    fn validate(&self) -> Result<(), FieldError> {
        not_empty("uri", &self.uri)
    }
}

/// The answer to `client:read_resource`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadResourceRet {
    /// MCP resource contents, as the server gave them.
    pub contents: Vec<Value>,
    /// The key of the request.
    pub req_id: String,
}

/// `client:get_dpe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetDpeReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
    /// Which document.
    pub uri: String,
    /// How long the whole resolution may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
}

/// An empty `uri` decodes: it is an invalid document URI (4012) like every other text that names no document.
impl Request for GetDpeReq {
    const EVENT: &'static str = event::GET_DPE;
}

/// The answer to `client:get_dpe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetDpeRet {
    /// Where the document can be had.
    #[serde(flatten)]
    pub resource: A2cResource,
    /// The key of the request.
    pub req_id: String,
}

/// A resource as A2C itself describes one: snake_case throughout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2cResource {
    /// Where it can be had.
    pub uri: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(default, alias = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// MCP annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// `expires_at`, `etag` and others.
    #[serde(default, rename = "_meta", alias = "meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

fn not_empty(field: &'static str, value: &str) -> Result<(), FieldError> {
    if value.is_empty() {
        return Err(FieldError { field, problem: "must not be empty".into() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request;
    use serde_json::json;

    #[test]
    fn finder_defaults_and_cap() {
        let decode = |json: &str| request::decode::<GetFinderReq>(json).unwrap();
        let bare = decode(r#"{"agent": "a", "req_id": "1", "computer": "c"}"#);
        assert_eq!((bare.offset, bare.page_size()), (0, 20));
        let large = decode(r#"{"agent": "a", "req_id": "1", "computer": "c", "limit": 1000, "offset": 5}"#);
        assert_eq!((large.offset, large.page_size()), (5, 100));
    }

    #[test]
    fn resources_read_both_spellings_and_keep_what_they_do_not_know() {
        let snake = json!({"uri": "window://h", "name": "n", "mime_type": "text/plain", "annotations": {"last_modified": "2026-01-01T00:00:00Z"}});
        let camel = json!({"uri": "window://h", "name": "n", "mimeType": "text/plain", "annotations": {"lastModified": "2026-01-01T00:00:00Z"}});
        let read = |value: &Value| serde_json::from_value::<Resource>(value.clone()).unwrap();
        assert_eq!(read(&snake), read(&camel));
        assert_eq!(serde_json::to_value(read(&snake)).unwrap(), camel);
        let open = json!({"uri": "u", "name": "n", "icons": [{"src": "x"}], "_meta": {"fullscreen": true}});
        assert_eq!(serde_json::to_value(read(&open)).unwrap(), open);
    }
}
