//! The metadata of a document: updated, cut to size, and converted. Pure.

use a2c_protocol::context::{Annotations, DpeDocumentSummary, Resource};
use serde_json::{Map, Value, json};

/// A document after a change: fields of its level 1 replace the earlier ones, the others stay.
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

/// The longest texts of a document, in bytes: a page of the Finder has up to a hundred documents.
const MAX_TITLE: usize = 1 << 10;
const MAX_SUMMARY: usize = 8 << 10;
const MAX_KEYWORDS: usize = 64;
const MAX_OTHER: usize = 8 << 10;

/// A document with its texts cut to these limits.
pub(super) fn bounded(mut summary: DpeDocumentSummary) -> DpeDocumentSummary {
    cut(&mut summary.title, MAX_TITLE);
    summary.summary.iter_mut().for_each(|text| cut(text, MAX_SUMMARY));
    if let Some(keywords) = &mut summary.keywords {
        keywords.truncate(MAX_KEYWORDS);
        keywords.iter_mut().for_each(|keyword| cut(keyword, MAX_TITLE));
    }
    let others = [&mut summary.file_uri, &mut summary.file_type].into_iter().chain(&mut summary.last_modified);
    others.for_each(|text| cut(text, MAX_OTHER));
    summary
}

fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
}

/// A document as its level 1.
pub(super) fn as_level_one(shown: &DpeDocumentSummary) -> Value {
    serde_json::to_value(shown).unwrap_or_default()
}

/// A document as a list entry.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let long = "é".repeat(10_000);
        let said = json!({
            "doc_ref": "d", "uri": "dpe://h/d", "file_uri": "file:///x", "file_type": "md", "title": long, "page_count": 1,
            "keywords": vec![long.clone(); 100], "summary": long, "server": "s", "last_modified": "2026-01-01",
        });
        let bounded = bounded(serde_json::from_value(said).unwrap());
        assert_eq!((bounded.title.len(), bounded.title.chars().last()), (MAX_TITLE + 3, Some('…')));
        assert_eq!(bounded.summary.map(|text| text.len()), Some(MAX_SUMMARY + 3));
        assert_eq!(bounded.keywords.map(|all| all.len()), Some(MAX_KEYWORDS));
        assert_eq!(bounded.last_modified.as_deref(), Some("2026-01-01"));
    }
}
