//! Makes one JSON of a document that its MCP server gives page by page.

use std::io::Write as _;

use a2c_protocol::context::Resource;
use a2c_protocol::error::ResolutionFailure;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::GetDpeError;
use crate::read_answer::{self, Level1};
use crate::reader::DocumentReader;

/// How many pages are read at a time.
const CONCURRENT_READS: usize = 8;

/// How many pages a document may have.
const MAX_PAGES: u64 = 100_000;

/// Reads all pages and writes the whole document. Each page is written as soon as it is its turn, so memory holds the text
/// once, and a few pages twice.
pub(crate) async fn assemble<R: DocumentReader>(
    uri: &str,
    level1: &Level1<'_>,
    listed: Option<&Resource>,
    reader: &R,
    max_bytes: usize,
) -> Result<Vec<u8>, GetDpeError> {
    if level1.page_count > MAX_PAGES {
        let message = format!("the document has {} pages; at most {MAX_PAGES} are published", level1.page_count);
        return Err(GetDpeError::failed(ResolutionFailure::ResolverError, message));
    }
    let mut json = head(uri, level1, listed);
    let read = |index: u64| {
        let (reader, uri) = (reader.clone(), format!("{uri}/pages/{index}"));
        async move { reader.read(&uri).await }
    };
    let mut pages = stream::iter((0..level1.page_count).map(read)).buffered(CONCURRENT_READS);
    let mut is_first = true;
    while let Some(contents) = pages.next().await {
        let contents = contents?;
        let page = read_answer::page(&contents)?;
        if json.len() + page.len() + 3 > max_bytes {
            return Err(GetDpeError::too_large(max_bytes));
        }
        if !std::mem::take(&mut is_first) {
            json.push(b',');
        }
        json.extend_from_slice(page.as_bytes());
    }
    json.extend_from_slice(b"]}");
    Ok(json)
}

/// Everything up to the first page. A field that the document itself lacks is taken from its listing.
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
        .expect("writing to a Vec cannot fail");
    }
    write!(json, "\"page_count\":{},\"pages\":[", level1.page_count).expect("writing to a Vec cannot fail");
    json
}

#[cfg(test)]
mod tests {
    use a2c_protocol::{ErrorBody, ErrorCode};
    use serde_json::json;

    use super::*;
    use crate::read_answer::{ReadAnswer, classify};
    use crate::reader::ReadError;
    use crate::testing::{Script, json_content};

    async fn whole(script: &Script, max_bytes: usize) -> Result<Value, GetDpeError> {
        let contents = script.read("dpe://h/d").await.unwrap();
        let ReadAnswer::Paged(level1) = classify(&contents).unwrap() else { panic!("not paged") };
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
        assert!(matches!(error, GetDpeError::Failed { category: ResolutionFailure::ResolverError, .. }), "{error:?}");
        whole(&script, 2000).await.unwrap();

        let gone = ErrorBody::new(ErrorCode::PageOutOfRange, "page 1 of 1").with("page_index", 1);
        script.fail("dpe://h/d/pages/1", ReadError::Missing(Box::new(gone.clone())));
        assert_eq!(whole(&script, 2000).await.unwrap_err().into_body("dpe://h/d"), gone);

        script.put("dpe://h/d", json_content(&json!({"doc_ref": "d", "page_count": MAX_PAGES + 1})));
        let error = whole(&script, 2000).await.unwrap_err();
        assert!(error.to_string().contains("100001 pages"), "{error}");
    }
}
