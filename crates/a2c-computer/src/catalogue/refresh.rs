//! What a document says about itself now, over what was known of it. Pure.

use a2c_protocol::context::{Annotations, DpeDocumentSummary, Resource};
use serde_json::{Map, Value, json};

/// A document after it changed: what its level 1 says counts, what it does not say stays.
pub(super) fn refreshed(shown: DpeDocumentSummary, level_one: &Value) -> DpeDocumentSummary {
    let text = |key: &str| level_one[key].as_str().map(ToOwned::to_owned);
    let keywords = level_one["keywords"]
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect());
    DpeDocumentSummary {
        file_uri: text("file_uri").unwrap_or(shown.file_uri),
        file_type: text("file_type").unwrap_or(shown.file_type),
        title: text("title").unwrap_or(shown.title),
        page_count: level_one["page_count"].as_u64().unwrap_or(shown.page_count),
        keywords: keywords.or(shown.keywords),
        summary: text("summary").or(shown.summary),
        last_modified: text("last_modified").or(shown.last_modified),
        ..shown
    }
}

/// What is known of a document, as its level 1 would say it.
pub(super) fn as_level_one(shown: &DpeDocumentSummary) -> Value {
    serde_json::to_value(shown).unwrap_or_default()
}

/// What is known of a document, as a list would say it.
pub(super) fn as_resource(shown: DpeDocumentSummary) -> Resource {
    let mut meta = Map::new();
    meta.insert("file_type".into(), shown.file_type.into());
    meta.insert("file_uri".into(), shown.file_uri.into());
    meta.insert("page_count".into(), shown.page_count.into());
    if let Some(keywords) = shown.keywords {
        meta.insert("keywords".into(), json!(keywords));
    }
    let annotations = shown
        .last_modified
        .map(|last_modified| Annotations { last_modified: Some(last_modified), ..Annotations::default() });
    Resource {
        uri: shown.uri,
        name: shown.title.clone(),
        title: Some(shown.title),
        description: shown.summary,
        mime_type: None,
        size: None,
        annotations,
        meta: Some(meta),
        extra: Map::new(),
    }
}
