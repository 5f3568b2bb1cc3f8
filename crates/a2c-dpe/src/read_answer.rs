//! What an MCP server answers when a document is read: which kind of answer it is, and whether it is valid.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use crate::resolver::ExternalDocument;

const INLINE: &str = "application/vnd.a2c.dpe-inline+json";
const EXTERNAL: &str = "application/vnd.a2c.dpe-uri+json";
const LEVEL_1: &str = "application/json";

/// Schemes that an Agent cannot fetch: the URI is itself the content, or a program, or only this Computer resolves it.
const NOT_FETCHABLE: [&str; 7] = ["javascript", "vbscript", "data", "blob", "about", "dpe", "window"];

/// The answers that are accepted.
#[derive(Debug)]
pub(crate) enum ReadAnswer<'a> {
    /// The whole document.
    Inline(&'a str),
    /// It is published already.
    External(ExternalDocument),
    /// The metadata of a document, as the Finder shows it: the pages have to be read.
    Paged(Box<Level1<'a>>),
}

/// The JSON of a document at level 1: the fields that go into the whole document.
#[derive(Debug, Deserialize)]
pub(crate) struct Level1<'a> {
    #[serde(borrow)]
    pub(crate) doc_ref: &'a RawValue,
    pub(crate) page_count: u64,
    #[serde(borrow, default)]
    pub(crate) uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) file_uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) file_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) keywords: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) last_modified: Option<&'a RawValue>,
}

/// The text of an answer that names an external document.
#[derive(Deserialize)]
struct ExternalBody {
    uri: String,
    #[serde(default, alias = "mimeType")]
    mime_type: Option<String>,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    expires_at: Option<String>,
    #[serde(default)]
    etag: Option<String>,
}

/// Why an answer is not accepted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidAnswer {
    #[error("the MCP server's answer is empty")]
    Empty,
    #[error(
        "the MCP server gave {found}, which is no document: {INLINE}, {EXTERNAL}, or {LEVEL_1} with `doc_ref` and \
         `page_count` is"
    )]
    Kind { found: String },
    #[error("the MCP server gave {kind} without a text")]
    NoText { kind: &'static str },
    #[error("the text of the MCP server's {kind} is not valid: {reason}")]
    Body { kind: &'static str, reason: String },
    #[error("the MCP server names an external document, but its `uri` {0}")]
    Uri(InvalidAddress),
}

/// What is wrong with an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidAddress {
    #[error("holds spaces or control characters")]
    Characters,
    #[error("is not an absolute URI")]
    NotAbsolute,
    #[error("begins with `{0}:`, which an Agent cannot fetch")]
    Scheme(String),
}

/// Finds the first of the contents that is a document.
pub(crate) fn classify(contents: &[Value]) -> Result<ReadAnswer<'_>, InvalidAnswer> {
    let mut found = Vec::new();
    for content in contents {
        let mime = mime_of(content);
        match mime.as_deref() {
            Some(INLINE) => return inline(text(content, INLINE)?),
            Some(EXTERNAL) => return external(text(content, EXTERNAL)?),
            Some(LEVEL_1) => return paged(text(content, LEVEL_1)?),
            other => found.push(other.unwrap_or("something without a MIME type").to_owned()),
        }
    }
    if found.is_empty() { Err(InvalidAnswer::Empty) } else { Err(InvalidAnswer::Kind { found: found.join(", ") }) }
}

/// The JSON text of a page, checked to be an object.
pub(crate) fn page(contents: &[Value]) -> Result<&str, InvalidAnswer> {
    let is_json = |content: &&Value| mime_of(content).is_none_or(|mime| mime == LEVEL_1 || mime.ends_with("+json"));
    let content = contents.iter().find(is_json).ok_or_else(|| match contents.first() {
        None => InvalidAnswer::Empty,
        Some(other) => InvalidAnswer::Kind { found: mime_of(other).unwrap_or_default() },
    })?;
    let text = text(content, LEVEL_1)?;
    object(text, LEVEL_1)?;
    Ok(text)
}

/// Whether an Agent could fetch a URI at all.
pub(crate) fn check_address(uri: &str) -> Result<(), InvalidAddress> {
    if uri.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(InvalidAddress::Characters);
    }
    let url = Url::parse(uri).map_err(|_| InvalidAddress::NotAbsolute)?;
    if NOT_FETCHABLE.contains(&url.scheme()) {
        return Err(InvalidAddress::Scheme(url.scheme().to_owned()));
    }
    // `http:x` and `file:` parse as URLs, but lack the authority or the path that these schemes need.
    let is_complete = match url.scheme() {
        "http" | "https" => uri.to_ascii_lowercase().starts_with(&format!("{}://", url.scheme())),
        "file" => uri.to_ascii_lowercase().starts_with("file:/") && url.path().len() > 1,
        _ => uri.len() > url.scheme().len() + 1,
    };
    if is_complete { Ok(()) } else { Err(InvalidAddress::NotAbsolute) }
}

/// The MIME type of a content in lower case and without parameters.
fn mime_of(content: &Value) -> Option<String> {
    let mime = content.get("mimeType").or_else(|| content.get("mime_type"))?.as_str()?;
    Some(mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

fn text<'a>(content: &'a Value, kind: &'static str) -> Result<&'a str, InvalidAnswer> {
    content.get("text").and_then(Value::as_str).ok_or(InvalidAnswer::NoText { kind })
}

fn inline(text: &str) -> Result<ReadAnswer<'_>, InvalidAnswer> {
    object(text, INLINE)?;
    Ok(ReadAnswer::Inline(text))
}

fn external(text: &str) -> Result<ReadAnswer<'_>, InvalidAnswer> {
    let ExternalBody { uri, mime_type, size, expires_at, etag } = body(text, EXTERNAL)?;
    check_address(&uri).map_err(InvalidAnswer::Uri)?;
    Ok(ReadAnswer::External(ExternalDocument { uri, mime_type, size, expires_at, etag }))
}

fn paged(text: &str) -> Result<ReadAnswer<'_>, InvalidAnswer> {
    Ok(ReadAnswer::Paged(Box::new(body(text, LEVEL_1)?)))
}

/// Checks that a text is a JSON object. Nothing of it is kept, because it may be large.
fn object(text: &str, kind: &'static str) -> Result<(), InvalidAnswer> {
    #[derive(Deserialize)]
    struct Object {}
    // A struct without fields is also read from an empty array.
    if !text.trim_start().starts_with('{') {
        return Err(InvalidAnswer::Body { kind, reason: "it is no JSON object".into() });
    }
    body::<Object>(text, kind).map(|_| ())
}

fn body<'a, T: Deserialize<'a>>(text: &'a str, kind: &'static str) -> Result<T, InvalidAnswer> {
    serde_json::from_str(text).map_err(|error| InvalidAnswer::Body { kind, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(contents: &[Value]) -> String {
        match classify(contents) {
            Ok(ReadAnswer::Inline(text)) => format!("inline {text}"),
            Ok(ReadAnswer::External(external)) => format!("external {}", external.uri),
            Ok(ReadAnswer::Paged(level)) => format!("paged {} of {}", level.page_count, level.doc_ref),
            Err(invalid) => format!("invalid: {invalid}"),
        }
    }

    fn content(mime: &str, text: &str) -> Value {
        json!({"uri": "dpe://h/d", "mimeType": mime, "text": text})
    }

    #[test]
    fn answers_are_told_apart() {
        let table = [
            (content(INLINE, r#"{"title":"T"}"#), r#"inline {"title":"T"}"#),
            (content("Application/Vnd.A2C.DPE-inline+JSON; charset=utf-8", "{}"), "inline {}"),
            (content(EXTERNAL, r#"{"uri":"https://x.example/d"}"#), "external https://x.example/d"),
            (content(EXTERNAL, r#"{"uri":"file:///srv/d.json","size":3}"#), "external file:///srv/d.json"),
            (content(EXTERNAL, r#"{"uri":"notes:d/7"}"#), "external notes:d/7"),
            (content("application/json ;charset=utf-8", r#"{"doc_ref":"d","page_count":2}"#), r#"paged 2 of "d""#),
            (json!({"mime_type": INLINE, "text": "{}"}), "inline {}"),
        ];
        for (content, expected) in table {
            assert_eq!(kind(std::slice::from_ref(&content)), expected, "{content}");
        }
    }

    #[test]
    fn the_first_document_among_several_contents_counts() {
        assert_eq!(kind(&[content("text/plain", "hello"), content(INLINE, "{}")]), "inline {}");
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        let table = [
            (vec![], "is empty"),
            (vec![content("text/plain", "x")], "text/plain"),
            (vec![json!({"text": "{}"})], "without a MIME type"),
            (vec![json!({"mimeType": INLINE, "blob": "e30="})], "without a text"),
            (vec![content(INLINE, "{")], "EOF"),
            (vec![content(INLINE, "[]")], "no JSON object"),
            (vec![content(INLINE, "{} {}")], "trailing"),
            (vec![content(EXTERNAL, "{}")], "uri"),
            (vec![content("application/json", r#"{"doc_ref":"d"}"#)], "page_count"),
            (vec![content("application/json", r#"{"doc_ref":"d","page_count":-1}"#)], "-1"),
            (vec![content(EXTERNAL, r#"{"uri":"relative/path"}"#)], "not an absolute"),
            (vec![content(EXTERNAL, r#"{"uri":""}"#)], "not an absolute"),
            (vec![content(EXTERNAL, r#"{"uri":"javascript:alert(1)"}"#)], "`javascript:`"),
            (vec![content(EXTERNAL, r#"{"uri":"DATA:text/plain,x"}"#)], "`data:`"),
            (vec![content(EXTERNAL, r#"{"uri":"dpe://h/d"}"#)], "`dpe:`"),
            (vec![content(EXTERNAL, r#"{"uri":"java\tscript:alert(1)"}"#)], "control characters"),
            (vec![content(EXTERNAL, r#"{"uri":"https://x.example/\r\nd"}"#)], "control characters"),
            (vec![content(EXTERNAL, r#"{"uri":"https://x.example/a b"}"#)], "spaces"),
            (vec![content(EXTERNAL, r#"{"uri":"http:x"}"#)], "not an absolute"),
            (vec![content(EXTERNAL, r#"{"uri":"https://"}"#)], "not an absolute"),
            (vec![content(EXTERNAL, r#"{"uri":"file:"}"#)], "not an absolute"),
        ];
        for (contents, expected) in table {
            let found = kind(&contents);
            assert!(found.starts_with("invalid: ") && found.contains(expected), "{contents:?}: {found}");
        }
    }

    #[test]
    fn pages_are_objects() {
        assert_eq!(page(&[content("application/json", r#"{"elements":[]}"#)]).unwrap(), r#"{"elements":[]}"#);
        assert!(page(&[content("text/markdown", "# x")]).is_err());
        assert!(page(&[content("application/json", "[1]")]).is_err());
        assert_eq!(page(&[]), Err(InvalidAnswer::Empty));
    }
}
