//! What an MCP server's answer to the reading of a document is.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::resolver::ExternalDocument;

const INLINE: &str = "application/vnd.a2c.dpe-inline+json";
const EXTERNAL: &str = "application/vnd.a2c.dpe-uri+json";
const LEVEL_1: &str = "application/json";

/// Schemes whose address is itself the content, or a program, or only means something to this Computer.
const NO_ADDRESS: [&str; 7] = ["javascript", "vbscript", "data", "blob", "about", "dpe", "window"];

/// The accepted answers.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// The whole document.
    Inline(&'a str),
    /// It is published already.
    External(ExternalDocument),
    /// What the Finder shows of a document: the pages have to be read.
    Paged(Box<Level1<'a>>),
}

/// The JSON of a document at level 1, as it goes into the whole document.
#[derive(Debug, Deserialize)]
pub(super) struct Level1<'a> {
    #[serde(borrow)]
    pub(super) doc_ref: &'a RawValue,
    pub(super) page_count: u64,
    #[serde(borrow, default)]
    pub(super) uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) file_uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) file_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) keywords: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) last_modified: Option<&'a RawValue>,
}

/// What the text of an external document says.
#[derive(Deserialize)]
struct Elsewhere {
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

/// Why an answer is none of those.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Invalid {
    #[error("the MCP server's answer is empty")]
    Empty,
    #[error(
        "the MCP server gave {found}, which is no document: {INLINE}, {EXTERNAL}, or {LEVEL_1} with `doc_ref` and \
         `page_count` is"
    )]
    Kind { found: String },
    #[error("the MCP server gave {kind} without a text")]
    NoText { kind: &'static str },
    #[error("the text of the MCP server's {kind} is not what it should be: {reason}")]
    Body { kind: &'static str, reason: String },
    #[error("the MCP server says that the document is elsewhere, but its `uri` {0}")]
    Uri(BadUri),
}

/// What is wrong with an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadUri {
    #[error("holds spaces or control characters")]
    Characters,
    #[error("is not an absolute URI")]
    NotAbsolute,
    #[error("begins with `{0}:`, which leads nowhere")]
    Scheme(String),
}

/// Finds the first of the contents that is a document.
pub(super) fn classify(contents: &[Value]) -> Result<Source<'_>, Invalid> {
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
    if found.is_empty() { Err(Invalid::Empty) } else { Err(Invalid::Kind { found: found.join(", ") }) }
}

/// The JSON text of a page, checked to be an object.
pub(super) fn page(contents: &[Value]) -> Result<&str, Invalid> {
    let is_json = |content: &&Value| mime_of(content).is_none_or(|mime| mime == LEVEL_1 || mime.ends_with("+json"));
    let content = contents.iter().find(is_json).ok_or_else(|| match contents.first() {
        None => Invalid::Empty,
        Some(other) => Invalid::Kind { found: mime_of(other).unwrap_or_default() },
    })?;
    let text = text(content, LEVEL_1)?;
    object(text, LEVEL_1)?;
    Ok(text)
}

/// Whether an Agent could go there at all.
pub(super) fn check_address(uri: &str) -> Result<(), BadUri> {
    if uri.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(BadUri::Characters);
    }
    let url = Url::parse(uri).map_err(|_| BadUri::NotAbsolute)?;
    if NO_ADDRESS.contains(&url.scheme()) {
        return Err(BadUri::Scheme(url.scheme().to_owned()));
    }
    // `http:x` and `mailto:` are URIs without an authority: of the schemes that we know, each needs one or a path.
    let is_complete = match url.scheme() {
        "http" | "https" => uri.to_ascii_lowercase().starts_with(&format!("{}://", url.scheme())),
        "file" => uri.to_ascii_lowercase().starts_with("file:/") && url.path().len() > 1,
        _ => uri.len() > url.scheme().len() + 1,
    };
    if is_complete { Ok(()) } else { Err(BadUri::NotAbsolute) }
}

/// The type of a content in lower case and without parameters.
fn mime_of(content: &Value) -> Option<String> {
    let mime = content.get("mimeType").or_else(|| content.get("mime_type"))?.as_str()?;
    Some(mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

fn text<'a>(content: &'a Value, kind: &'static str) -> Result<&'a str, Invalid> {
    content.get("text").and_then(Value::as_str).ok_or(Invalid::NoText { kind })
}

fn inline(text: &str) -> Result<Source<'_>, Invalid> {
    object(text, INLINE)?;
    Ok(Source::Inline(text))
}

fn external(text: &str) -> Result<Source<'_>, Invalid> {
    let Elsewhere { uri, mime_type, size, expires_at, etag } = body(text, EXTERNAL)?;
    check_address(&uri).map_err(Invalid::Uri)?;
    Ok(Source::External(ExternalDocument { uri, mime_type, size, expires_at, etag }))
}

fn paged(text: &str) -> Result<Source<'_>, Invalid> {
    Ok(Source::Paged(Box::new(body(text, LEVEL_1)?)))
}

/// A text that is a JSON object; nothing of it is kept, for it may be large.
fn object(text: &str, kind: &'static str) -> Result<(), Invalid> {
    #[derive(Deserialize)]
    struct Object {}
    // A struct without fields is also read from an empty array.
    if !text.trim_start().starts_with('{') {
        return Err(Invalid::Body { kind, reason: "it is no JSON object".into() });
    }
    body::<Object>(text, kind).map(|_| ())
}

fn body<'a, T: Deserialize<'a>>(text: &'a str, kind: &'static str) -> Result<T, Invalid> {
    serde_json::from_str(text).map_err(|error| Invalid::Body { kind, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(contents: &[Value]) -> String {
        match classify(contents) {
            Ok(Source::Inline(text)) => format!("inline {text}"),
            Ok(Source::External(external)) => format!("external {}", external.uri),
            Ok(Source::Paged(level)) => format!("paged {} of {}", level.page_count, level.doc_ref),
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
        assert_eq!(page(&[]), Err(Invalid::Empty));
    }
}
