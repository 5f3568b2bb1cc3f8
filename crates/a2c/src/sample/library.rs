//! What there is to see in the sample server: a note that its tool rewrites, and a document of three pages.
//!
//! A URI is read by the rules of the protocol, and becomes JSON here or, by [`render`], text.

use a2c_protocol::uri::{Category, Depth, DpeLevel, DpeUri, DpeUriError, Format};
use rmcp::model::{Annotations, ErrorCode, ErrorData, JsonObject, MetaObject, Resource, ResourceContents, Role};
use serde_json::{Value, json};

use super::render;

/// The window with the note.
pub(super) const NOTE: &str = "window://a2c.sample/note";
/// The catalogue that stands for all documents.
const LEVEL_ZERO: &str = "dpe://a2c.sample";
/// The only document.
const HANDBOOK: &str = "dpe://a2c.sample/handbook";
/// Their host, and the document's name there.
const HOST: &str = "a2c.sample";
const DOC_REF: &str = "handbook";

/// The pages of the handbook: a title, and paragraphs.
const PAGES: [(&str, &[&str]); 3] = [
    (
        "What this is",
        &[
            "A small document, to have something to find. It has three pages, and each page has elements.",
            "An Agent reads it level by level: the list of documents, one document, a page, an element.",
        ],
    ),
    (
        "The Desktop",
        &[
            "What a server shows in a window is read when an Agent asks for the Desktop.",
            "The tool `note` rewrites the window of this server; Agents that watch the office are told at once.",
        ],
    ),
    (
        "The whole of it",
        &["With a resolver, `a2c agent dpe` says where the whole document can be fetched as one JSON."],
    ),
];

/// Everything that can be listed.
pub(super) fn resources() -> Vec<Resource> {
    let annotations = Annotations::default().with_audience(vec![Role::Assistant]).with_priority(0.5);
    let note =
        Resource::new(NOTE, "note").with_title("Note").with_mime_type("text/plain").with_annotations(annotations);
    let meta = json!({"file_type": "md", "page_count": PAGES.len(), "file_uri": "a2c-sample:handbook.md", "keywords": ["sample", "handbook"]});
    let meta: JsonObject = meta.as_object().cloned().unwrap_or_default();
    let handbook = Resource::new(HANDBOOK, DOC_REF)
        .with_title("The sample handbook")
        .with_description("A document to try Finder, browse and dpe with.")
        .with_mime_type("application/json")
        .with_meta(MetaObject(meta));
    let level_zero = Resource::new(LEVEL_ZERO, "documents").with_mime_type("application/json");
    vec![note, level_zero, handbook]
}

/// What is at a URI.
pub(super) fn read(uri: &str, note: &str) -> Result<ResourceContents, ErrorData> {
    if uri == NOTE {
        return Ok(ResourceContents::text(note, uri).with_mime_type("text/plain"));
    }
    if !uri.to_ascii_lowercase().starts_with("dpe:") {
        return Err(ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, "there is no such resource", None));
    }
    let asked = DpeUri::parse(uri).map_err(|error| broken(uri, &error))?.uri;
    let has_document = asked.doc_ref().is_none_or(|doc_ref| doc_ref == DOC_REF);
    if !asked.host().to_string().eq_ignore_ascii_case(HOST) || !has_document {
        return Err(missing(4201, "there is no such document", json!({ "uri": uri })));
    }
    let value = match asked.level() {
        DpeLevel::Catalogue => catalogue(&asked),
        DpeLevel::Document { .. } if asked.depth() == Depth::Pages => with_pages(&asked),
        DpeLevel::Document { .. } => metadata(),
        DpeLevel::Page { index, .. } => page(&asked, *index)?,
        DpeLevel::Element { id, .. } => element(id)?,
    };
    let (text, mime_type) = match asked.format() {
        Format::Json => (value.to_string(), "application/json"),
        Format::Markdown => (render::markdown(asked.level(), &value), "text/markdown"),
        Format::Text => (render::text(asked.level(), &value), "text/plain"),
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type);
    let is_page = matches!(asked.level(), DpeLevel::Page { .. });
    Ok(match is_page && asked.format() != Format::Json {
        true => contents.with_meta(about_page(&value)),
        false => contents,
    })
}

/// What the text of a page does not tell.
fn about_page(page: &Value) -> MetaObject {
    let keys = ["page_index", "title", "doc_ref", "element_count"];
    MetaObject(keys.into_iter().map(|key| (key.to_owned(), page[key].clone())).collect())
}

/// A window of a list, as the query says.
fn window<T>(asked: &DpeUri, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let offset = usize::try_from(asked.offset()).unwrap_or(usize::MAX);
    items.skip(offset).take(asked.limit().map_or(usize::MAX, usize::from))
}

fn catalogue(asked: &DpeUri) -> Value {
    let documents: Vec<Value> = window(asked, std::iter::once(metadata())).collect();
    json!({"documents": documents, "total_count": 1})
}

fn metadata() -> Value {
    json!({
        "doc_ref": DOC_REF, "uri": HANDBOOK, "file_uri": "a2c-sample:handbook.md", "file_type": "md",
        "title": "The sample handbook", "page_count": PAGES.len(), "keywords": ["sample", "handbook"],
        "summary": "A document to try Finder, browse and dpe with.",
    })
}

fn with_pages(asked: &DpeUri) -> Value {
    let pages = PAGES.iter().enumerate().map(|(index, (title, paragraphs))| {
        json!({
            "page_index": index, "title": title, "element_count": paragraphs.len() + 1,
            "uri": format!("{HANDBOOK}/pages/{index}"), "doc_ref": DOC_REF,
        })
    });
    let mut value = metadata();
    value["pages"] = window(asked, pages).collect();
    value["page_offset"] = asked.offset().into();
    value["page_limit"] = asked.limit().into();
    value["page_total"] = PAGES.len().into();
    value
}

fn page(asked: &DpeUri, index: u64) -> Result<Value, ErrorData> {
    let Some((at, (title, paragraphs))) =
        usize::try_from(index).ok().and_then(|at| PAGES.get(at).map(|page| (at, page)))
    else {
        let data = json!({"page_index": index, "page_count": PAGES.len()});
        return Err(missing(4202, "there is no such page", data));
    };
    let elements: Vec<Value> = elements(at, title, paragraphs)
        .filter(|(category, _)| asked.categories().is_none_or(|wanted| wanted.contains(*category)))
        .map(|(_, element)| element)
        .collect();
    Ok(json!({
        "page_index": index, "title": title, "doc_ref": DOC_REF, "uri": format!("{HANDBOOK}/pages/{index}"),
        "element_count": elements.len(), "elements": elements,
    }))
}

fn elements<'a>(index: usize, title: &str, paragraphs: &'a [&str]) -> impl Iterator<Item = (Category, Value)> + 'a {
    let heading =
        json!({"element_id": format!("h-{index}"), "category": "heading", "content": {"level": 1, "text": title}});
    let texts = paragraphs.iter().enumerate().map(move |(n, text)| {
        let id = format!("txt-{index}-{n}");
        (Category::Text, json!({"element_id": id, "category": "text", "content": { "text": text }}))
    });
    std::iter::once((Category::Heading, heading)).chain(texts)
}

fn element(id: &str) -> Result<Value, ErrorData> {
    let mut all = PAGES.iter().enumerate().flat_map(|(index, (title, paragraphs))| {
        elements(index, title, paragraphs).map(move |(_, mut element)| {
            element["doc_ref"] = DOC_REF.into();
            element["page_index"] = index.into();
            element
        })
    });
    let found = all.find(|element| element["element_id"] == id);
    found.ok_or_else(|| missing(4203, "there is no such element", json!({ "element_id": id })))
}

fn missing(code: u16, message: &'static str, mut data: Value) -> ErrorData {
    data["code"] = code.into();
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(data))
}

fn broken(uri: &str, error: &DpeUriError) -> ErrorData {
    let rule = error.rule().map(|rule| rule.number());
    let data = json!({"code": DpeUriError::CODE, "rule": rule, "uri": uri});
    ErrorData::invalid_params(error.to_string(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(query: &str) -> Value {
        serde_json::to_value(read(&format!("dpe://a2c.sample{query}"), "").unwrap()).unwrap()
    }

    fn json_at(query: &str) -> Value {
        serde_json::from_str(contents(query)["text"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn lists_are_windows() {
        for (query, indices, offset, limit) in [
            ("", vec![0, 1, 2], 0, 20),
            ("&offset=1", vec![1, 2], 1, 20),
            ("&limit=2", vec![0, 1], 0, 2),
            ("&offset=2&limit=1", vec![2], 2, 1),
            ("&offset=9&limit=100", vec![], 9, 100),
        ] {
            let document = json_at(&format!("/handbook?depth=pages{query}"));
            let pages = document["pages"].as_array().unwrap();
            assert_eq!(pages.iter().map(|page| page["page_index"].as_u64().unwrap()).collect::<Vec<_>>(), indices);
            let window = ["page_offset", "page_limit", "page_total"].map(|key| document[key].as_u64().unwrap());
            assert_eq!(window, [offset, limit, 3], "{query}");
        }
        for (query, count) in [("", 1), ("/", 1), ("?limit=1", 1), ("?offset=1", 0)] {
            let catalogue = json_at(query);
            assert_eq!(
                (catalogue["documents"].as_array().unwrap().len(), &catalogue["total_count"]),
                (count, &json!(1))
            );
        }
    }

    #[test]
    fn categories_narrow_a_page() {
        for (query, ids) in [
            ("", vec!["h-0", "txt-0-0", "txt-0-1"]),
            ("?categories=heading", vec!["h-0"]),
            ("?categories=table,text", vec!["txt-0-0", "txt-0-1"]),
            ("?categories=chart", vec![]),
        ] {
            let page = json_at(&format!("/handbook/pages/0{query}"));
            let found: Vec<&str> =
                page["elements"].as_array().unwrap().iter().map(|e| e["element_id"].as_str().unwrap()).collect();
            assert_eq!((&page["element_count"], found), (&json!(ids.len()), ids), "{query}");
        }
    }

    #[test]
    fn every_level_is_rendered() {
        for (query, mime_type, text) in [
            ("?format=markdown", "text/markdown", "- [The sample handbook](dpe://a2c.sample/handbook)\n"),
            ("?format=text", "text/plain", "The sample handbook\tdpe://a2c.sample/handbook\n"),
            ("/handbook/pages/2?format=markdown&categories=heading", "text/markdown", "# The whole of it\n"),
            ("/handbook/pages/2?format=text&categories=heading", "text/plain", "The whole of it\n"),
            ("/handbook/elements/h-1?format=markdown", "text/markdown", "# The Desktop\n"),
            ("/handbook/elements/h-1?format=text", "text/plain", "The Desktop\n"),
        ] {
            let contents = contents(query);
            assert_eq!((&contents["mimeType"], &contents["text"]), (&json!(mime_type), &json!(text)), "{query}");
        }
        let document = contents("/handbook?format=markdown")["text"].clone();
        let document = document.as_str().unwrap();
        assert!(document.starts_with("# The sample handbook\n\n- file_type: md\n"), "{document}");
        assert!(!document.contains("What this is"), "pages are listed where they are asked for");
        let listed = contents("/handbook?format=markdown&depth=pages&offset=1&limit=1")["text"].clone();
        assert!(listed.as_str().unwrap().ends_with("\n\n- page 1: The Desktop\n"), "{listed}");
        let plain = contents("/handbook?format=text&depth=pages")["text"].clone();
        assert!(plain.as_str().unwrap().starts_with("The sample handbook\n\nfile_type: md\n"), "{plain}");
        assert!(
            !plain.as_str().unwrap().contains('#') && plain.as_str().unwrap().ends_with("page 2: The whole of it\n")
        );
        let page = contents("/handbook/pages/1?format=text");
        let about = json!({"page_index": 1, "title": "The Desktop", "doc_ref": "handbook", "element_count": 3});
        assert_eq!(page["_meta"], about);
        assert!(page["text"].as_str().unwrap().starts_with("The Desktop\n\nWhat a server shows"), "{page}");
    }

    #[test]
    fn what_is_not_there_is_refused_by_its_code() {
        for (query, kind, code) in [
            ("/other", -32002, 4201),
            ("/handbook/pages/3", -32002, 4202),
            ("/handbook/elements/h-9", -32002, 4203),
            ("/handbook/chapters/1", -32602, 4204),
            ("/handbook?limit=0", -32602, 4204),
            ("/handbook?format=html", -32602, 4204),
            ("/handbook/pages/0?categories=nonsense", -32602, 4204),
        ] {
            let error = read(&format!("dpe://a2c.sample{query}"), "").unwrap_err();
            assert_eq!((error.code.0, &error.data.unwrap()["code"]), (kind, &json!(code)), "{query}");
        }
        assert_eq!(read("dpe://elsewhere/handbook", "").unwrap_err().data.unwrap()["code"], 4201);
        assert_eq!(read("file:///x", "").unwrap_err().code.0, -32002);
    }
}
