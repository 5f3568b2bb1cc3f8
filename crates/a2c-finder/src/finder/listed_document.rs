//! What a listed MCP resource says about a document, and what has to be read to know the rest.

use a2c_protocol::context::{DpeDocumentSummary, Resource};
use serde_json::{Map, Value};
use thiserror::Error;

use super::doc_ref_of;

/// A document as far as its listing describes it.
///
/// Without a file's URI, its type and the number of pages there is no summary; these need one read of the document if
/// they are not declared. Keywords, summary and time of change are worth no read of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedDocument {
    doc_ref: String,
    uri: String,
    server: String,
    title: Option<String>,
    details: Details,
}

/// The summary of a document cannot be made: neither its listing nor the document itself says these things.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{uri}` does not say its {}; the server should declare them in `_meta` or in the document's JSON", missing.join(", "))]
pub struct Incomplete {
    /// The document.
    pub uri: String,
    /// The names of the missing fields, in the order of the protocol.
    pub missing: Vec<&'static str>,
}

/// The fields that a listing and a document's own JSON have in common.
#[derive(Debug, Clone, PartialEq)]
struct Details {
    file_uri: Option<String>,
    file_type: Option<String>,
    page_count: Option<u64>,
    keywords: Option<Vec<String>>,
    summary: Option<String>,
    last_modified: Option<String>,
}

impl Details {
    /// The fields that have the same names in `_meta` and in the document's JSON. A value of the wrong type is none.
    fn read(fields: Option<&Map<String, Value>>) -> Self {
        let field = |name: &str| fields.and_then(|fields| fields.get(name));
        let string = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
        let strings = |list: &Value| list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        Self {
            file_uri: string("file_uri"),
            file_type: string("file_type"),
            page_count: field("page_count").and_then(Value::as_u64),
            keywords: field("keywords").and_then(strings),
            summary: string("summary"),
            last_modified: string("last_modified"),
        }
    }
}

impl ListedDocument {
    /// Reads a listed resource; `None` if its URI names no document (`dpe://` of level 1).
    pub fn of(resource: &Resource, server: &str) -> Option<Self> {
        let title = resource.title.as_ref().filter(|title| !title.is_empty());
        let title = title.or(Some(&resource.name).filter(|name| !name.is_empty()));
        let annotations = resource.annotations.as_ref();
        Some(Self {
            doc_ref: doc_ref_of(&resource.uri)?,
            uri: resource.uri.clone(),
            server: server.to_owned(),
            title: title.cloned(),
            details: Details {
                summary: resource.description.clone(),
                last_modified: annotations.and_then(|annotations| annotations.last_modified.clone()),
                ..Details::read(resource.meta.as_ref())
            },
        })
    }

    /// The document's URI as listed.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The server that lists it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Whether [`ListedDocument::complete`] succeeds; if not, the document has to be read.
    pub fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// The summary, if the listing alone is enough for one. A document without a title is called by its doc-ref.
    pub fn complete(self) -> Result<DpeDocumentSummary, Incomplete> {
        let missing = self.missing();
        let Details { file_uri: Some(file_uri), file_type: Some(file_type), page_count: Some(page_count), .. } =
            self.details
        else {
            return Err(Incomplete { uri: self.uri, missing });
        };
        Ok(DpeDocumentSummary {
            title: self.title.unwrap_or_else(|| self.doc_ref.clone()),
            doc_ref: self.doc_ref,
            uri: self.uri,
            file_uri,
            file_type,
            page_count,
            keywords: self.details.keywords,
            summary: self.details.summary,
            server: self.server,
            last_modified: self.details.last_modified,
        })
    }

    /// The summary, with what the listing does not say taken from the document's own JSON (level 1).
    pub fn with_metadata(mut self, level1: &Value) -> Result<DpeDocumentSummary, Incomplete> {
        let declared = self.details;
        let read = Details::read(level1.as_object());
        self.details = Details {
            file_uri: declared.file_uri.or(read.file_uri),
            file_type: declared.file_type.or(read.file_type),
            page_count: declared.page_count.or(read.page_count),
            keywords: declared.keywords.or(read.keywords),
            summary: declared.summary.or(read.summary),
            last_modified: declared.last_modified.or(read.last_modified),
        };
        let title = || level1.get("title")?.as_str().filter(|title| !title.is_empty()).map(str::to_owned);
        self.title = self.title.or_else(title);
        self.complete()
    }

    fn missing(&self) -> Vec<&'static str> {
        let Details { file_uri, file_type, page_count, .. } = &self.details;
        let said = [
            ("file_uri", file_uri.is_some()),
            ("file_type", file_type.is_some()),
            ("page_count", page_count.is_some()),
        ];
        said.into_iter().filter(|(_, is_said)| !is_said).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn listed_document(resource: &Value) -> Option<ListedDocument> {
        ListedDocument::of(&serde_json::from_value(resource.clone()).unwrap(), "s")
    }

    /// A listing with these fields besides its URI.
    fn listed(fields: Value) -> ListedDocument {
        let mut resource = fields;
        resource["uri"] = json!("dpe://h/a%20b");
        listed_document(&resource).unwrap()
    }

    #[test]
    fn only_documents_are_read() {
        for uri in
            ["dpe://h", "dpe://h/", "dpe://h/a/pages/0", "dpe://h/a/elements/x", "dpe://h/a/b", "window://h/a", ""]
        {
            assert_eq!(listed_document(&json!({"uri": uri, "name": "n"})), None, "{uri}");
        }
    }

    #[test]
    fn a_full_listing_needs_no_read() {
        let full = listed(json!({
            "name": "n", "title": "T", "description": "about",
            "annotations": {"lastModified": "2026-01-15T08:30:00Z"},
            "_meta": {"file_uri": "file:///a", "file_type": "pdf", "page_count": 3, "keywords": ["k", "l"]},
        }));
        assert!(full.is_complete());
        assert_eq!((full.uri(), full.server()), ("dpe://h/a%20b", "s"));
        let expected = DpeDocumentSummary {
            doc_ref: "a b".into(),
            uri: "dpe://h/a%20b".into(),
            file_uri: "file:///a".into(),
            file_type: "pdf".into(),
            title: "T".into(),
            page_count: 3,
            keywords: Some(vec!["k".into(), "l".into()]),
            summary: Some("about".into()),
            server: "s".into(),
            last_modified: Some("2026-01-15T08:30:00Z".into()),
        };
        assert_eq!(full.clone().complete(), Ok(expected.clone()));
        let other = json!({
            "file_uri": "x", "file_type": "x", "page_count": 9, "keywords": ["x"], "summary": "x", "title": "x", "last_modified": "x",
            "doc_ref": "x", "uri": "x",
        });
        assert_eq!(full.with_metadata(&other), Ok(expected), "what is declared wins");
    }

    #[test]
    fn what_is_optional_never_needs_a_read() {
        let bare = listed(json!({"_meta": {"file_uri": "", "file_type": "", "page_count": 0}}));
        assert!(bare.is_complete());
        let summary = bare.complete().unwrap();
        assert_eq!((summary.keywords, summary.summary, summary.last_modified), (None, None, None));
    }

    #[test]
    fn the_title_is_the_title_or_the_name_or_the_doc_ref() {
        let meta = json!({"file_uri": "f", "file_type": "t", "page_count": 1});
        for (title, name, read, expected) in [
            (json!("T"), "n", json!({"title": "R"}), "T"),
            (json!(null), "n", json!({"title": "R"}), "n"),
            (json!(""), "n", json!({}), "n"),
            (json!(null), "", json!({"title": "R"}), "R"),
            (json!(null), "", json!({"title": 7}), "a b"),
            (json!(""), "", json!({"title": ""}), "a b"),
        ] {
            let document = listed(json!({"title": title, "name": name, "_meta": meta}));
            assert_eq!(document.with_metadata(&read).unwrap().title, expected, "{title} {name:?} {read}");
        }
    }

    #[test]
    fn each_field_of_the_wrong_type_is_not_declared() {
        let right = json!({"file_uri": "f", "file_type": "t", "page_count": 1});
        let read = json!({
            "file_uri": "F", "file_type": "T", "page_count": 2, "keywords": ["K"], "summary": "S", "last_modified": "L"
        });
        for (field, wrong) in [
            ("file_uri", json!(null)),
            ("file_uri", json!(["f"])),
            ("file_type", json!(7)),
            ("page_count", json!("1")),
            ("page_count", json!(-1)),
            ("page_count", json!(1.5)),
            ("page_count", json!(true)),
        ] {
            let mut meta = right.clone();
            meta[field] = wrong.clone();
            let document = listed(json!({"_meta": meta}));
            assert!(!document.is_complete(), "{field} {wrong}");
            let missing = document.clone().complete().unwrap_err();
            assert_eq!(missing, Incomplete { uri: "dpe://h/a%20b".into(), missing: vec![field] }, "{wrong}");
            let summary = serde_json::to_value(document.with_metadata(&read).unwrap()).unwrap();
            assert_eq!(summary[field], read[field], "{wrong}");
            assert_eq!(summary["keywords"], json!(["K"]), "what was read anyway is used");
        }
        for keywords in [json!("k"), json!([1]), json!(["k", null]), json!({})] {
            let mut meta = right.clone();
            meta["keywords"] = keywords.clone();
            let document = listed(json!({"_meta": meta}));
            assert!(document.is_complete(), "{keywords}");
            assert_eq!(document.complete().unwrap().keywords, None, "{keywords}");
        }
    }

    #[test]
    fn a_read_that_says_nothing_leaves_the_document_out() {
        let half = listed(json!({"_meta": {"file_type": "pdf"}}));
        for read in [json!(null), json!([]), json!("text"), json!({}), json!({"file_uri": 1, "page_count": "3"})] {
            let missing = half.clone().with_metadata(&read).unwrap_err();
            assert_eq!(missing.missing, ["file_uri", "page_count"], "{read}");
        }
        let said = half.with_metadata(&json!({})).unwrap_err().to_string();
        assert_eq!(
            said,
            "`dpe://h/a%20b` does not say its file_uri, page_count; the server should declare them in `_meta` or in the document's JSON"
        );
    }
}
