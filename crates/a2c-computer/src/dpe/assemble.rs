//! One JSON of a document that its MCP server gives page by page.

use std::io::Write as _;

use a2c_protocol::context::Resource;
use a2c_protocol::error::{ErrorBody, ResolutionFailure};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use serde_json::value::RawValue;

use super::failure::DpeFailure;
use super::source::{self, Level1};

/// How many pages are read at a time.
const AT_ONCE: usize = 8;

/// How many pages a document may have.
pub(super) const MAX_PAGES: u64 = 100_000;

/// Reads from the MCP server that has the document.
pub(crate) trait DocumentReader: Clone + Send + Sync + 'static {
    /// The contents of the answer to `resources/read`.
    fn read(&self, uri: &str) -> impl Future<Output = Result<Vec<Value>, ReadFailure>> + Send;
}

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    /// The server says that there is no such document, page or element.
    Missing(Box<ErrorBody>),
    /// It is down or slow, or it refused.
    Unavailable(String),
}

impl From<ReadFailure> for DpeFailure {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Missing(body) => Self::Missing(body),
            ReadFailure::Unavailable(reason) => Self::failed(ResolutionFailure::UpstreamUnavailable, reason),
        }
    }
}

impl From<source::Invalid> for DpeFailure {
    fn from(invalid: source::Invalid) -> Self {
        Self::failed(ResolutionFailure::InvalidDpeMime, invalid.to_string())
    }
}

/// The refusal of a document that is larger than `limit` bytes.
pub(super) fn too_large(limit: usize) -> DpeFailure {
    let message = format!("the document is larger than this Computer publishes ({} MiB)", limit >> 20);
    DpeFailure::failed(ResolutionFailure::ResolverError, message)
}

/// Reads all pages and writes the whole document. Pages are written as they came, one after the other, so that there is
/// only ever their text in memory, and of a few pages twice.
pub(super) async fn assemble<R: DocumentReader>(
    uri: &str,
    level1: &Level1<'_>,
    listed: Option<&Resource>,
    reader: &R,
    max_bytes: usize,
) -> Result<Vec<u8>, DpeFailure> {
    if level1.page_count > MAX_PAGES {
        let message = format!("the document has {} pages; at most {MAX_PAGES} are published", level1.page_count);
        return Err(DpeFailure::failed(ResolutionFailure::ResolverError, message));
    }
    let mut json = head(uri, level1, listed);
    let read = |index: u64| {
        let (reader, uri) = (reader.clone(), format!("{uri}/pages/{index}"));
        async move { reader.read(&uri).await }
    };
    let mut pages = stream::iter((0..level1.page_count).map(read)).buffered(AT_ONCE);
    let mut is_first = true;
    while let Some(contents) = pages.next().await {
        let contents = contents?;
        let page = source::page(&contents)?;
        if json.len() + page.len() + 3 > max_bytes {
            return Err(too_large(max_bytes));
        }
        if !std::mem::take(&mut is_first) {
            json.push(b',');
        }
        json.extend_from_slice(page.as_bytes());
    }
    json.extend_from_slice(b"]}");
    Ok(json)
}

/// Everything up to the first page. What the document does not say of itself its listing may.
fn head(uri: &str, level1: &Level1<'_>, listed: Option<&Resource>) -> Vec<u8> {
    let mut json = Vec::with_capacity(1024);
    let meta = |key: &str| listed?.meta.as_ref()?.get(key).cloned();
    let title = || listed.map(|listed| listed.title.as_ref().unwrap_or(&listed.name)).filter(|title| !title.is_empty());
    let modified = || listed?.annotations.as_ref()?.last_modified.clone();
    let fields: [(&str, Option<&RawValue>, Option<Value>); 8] = [
        ("doc_ref", Some(level1.doc_ref), None),
        ("uri", level1.uri, Some(uri.into())),
        ("file_uri", level1.file_uri, meta("file_uri")),
        ("file_type", level1.file_type, meta("file_type")),
        ("title", level1.title, title().map(|title| title.as_str().into())),
        ("summary", level1.summary, listed.and_then(|listed| listed.description.clone()).map(Value::from)),
        ("keywords", level1.keywords, meta("keywords")),
        ("last_modified", level1.last_modified, modified().map(Value::from)),
    ];
    json.push(b'{');
    for (name, own, listed) in fields {
        match (own, listed) {
            (Some(own), _) => write!(json, "\"{name}\":{},", own.get()),
            (None, Some(listed)) => write!(json, "\"{name}\":{listed},"),
            (None, None) => Ok(()),
        }
        .expect("a Vec takes everything");
    }
    write!(json, "\"page_count\":{},\"pages\":[", level1.page_count).expect("a Vec takes everything");
    json
}

#[cfg(test)]
mod tests {
    use a2c_protocol::ErrorCode;
    use serde_json::json;

    use super::*;
    use crate::dpe::source::{Source, classify};
    use crate::dpe::testing::{Script, json_content};

    async fn whole(script: &Script, max_bytes: usize) -> Result<Value, DpeFailure> {
        let contents = script.read("dpe://h/d").await.unwrap();
        let Source::Paged(level1) = classify(&contents).unwrap() else { panic!("not paged") };
        let json = assemble("dpe://h/d", &level1, None, script, max_bytes).await?;
        Ok(serde_json::from_slice(&json).unwrap())
    }

    #[tokio::test]
    async fn pages_come_in_order_whatever_the_order_of_their_arrival() {
        let script = Script::default();
        script.put("dpe://h/d", json_content(&json!({"doc_ref": "d", "page_count": 20, "title": "T", "odd": 1})));
        for index in 0..20 {
            script.put(&format!("dpe://h/d/pages/{index}"), json_content(&json!({"index": index, "elements": ["e"]})));
        }
        // The first page waits until seven more were asked for: only then can eight be on their way.
        script.hold("dpe://h/d/pages/0", 7);
        let document = whole(&script, 1 << 20).await.unwrap();
        let indices: Vec<_> = document["pages"].as_array().unwrap().iter().map(|page| page["index"].as_u64()).collect();
        assert_eq!(indices, (0..20).map(Some).collect::<Vec<_>>());
        assert_eq!(script.most_at_once(), 8);
        let mut head = document;
        head.as_object_mut().unwrap().remove("pages");
        assert_eq!(head, json!({"doc_ref": "d", "uri": "dpe://h/d", "title": "T", "page_count": 20}));
    }

    #[tokio::test]
    async fn a_document_without_pages_is_whole() {
        let script = Script::default();
        script.put("dpe://h/d", json_content(&json!({"doc_ref": "d", "page_count": 0, "uri": "dpe://H/d"})));
        let document = whole(&script, 1 << 20).await.unwrap();
        assert_eq!(document, json!({"doc_ref": "d", "uri": "dpe://H/d", "page_count": 0, "pages": []}));
    }

    #[tokio::test]
    async fn what_is_too_much_is_refused_and_what_is_missing_is_said() {
        let script = Script::default();
        script.put("dpe://h/d", json_content(&json!({"doc_ref": "d", "page_count": 2})));
        script.put("dpe://h/d/pages/0", json_content(&json!({"text": "x".repeat(600)})));
        script.put("dpe://h/d/pages/1", json_content(&json!({"text": "x".repeat(600)})));
        let error = whole(&script, 1000).await.unwrap_err();
        assert!(matches!(error, DpeFailure::Failed { category: ResolutionFailure::ResolverError, .. }), "{error:?}");
        whole(&script, 2000).await.unwrap();

        let gone = ErrorBody::new(ErrorCode::PageOutOfRange, "page 1 of 1").with("page_index", 1);
        script.fail("dpe://h/d/pages/1", ReadFailure::Missing(Box::new(gone.clone())));
        assert_eq!(whole(&script, 2000).await.unwrap_err().into_body("dpe://h/d"), gone);

        script.put("dpe://h/d", json_content(&json!({"doc_ref": "d", "page_count": MAX_PAGES + 1})));
        let error = whole(&script, 2000).await.unwrap_err();
        assert!(error.to_string().contains("100001 pages"), "{error}");
    }
}
