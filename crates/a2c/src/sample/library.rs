//! What there is to see in the sample server: a note that its tool rewrites, and a document of three pages.

use rmcp::model::{Annotations, ErrorCode, ErrorData, JsonObject, MetaObject, Resource, ResourceContents, Role};
use serde_json::{Value, json};

/// The window with the note.
pub(super) const NOTE: &str = "window://a2c.sample/note";
/// The catalogue that stands for all documents.
const LEVEL_ZERO: &str = "dpe://a2c.sample";
/// The only document.
const HANDBOOK: &str = "dpe://a2c.sample/handbook";

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
            "What a server shows in a window is read when somebody looks at the Desktop.",
            "The tool `note` rewrites the window of this server; whoever watches the office is told at once.",
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
    let handbook = Resource::new(HANDBOOK, "handbook")
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
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let asks = |parameter: &str| query.split('&').any(|given| given == parameter);
    let value = match path.strip_prefix(HANDBOOK).map(|rest| rest.split('/').collect::<Vec<_>>()).as_deref() {
        None if path == LEVEL_ZERO => json!({"documents": [metadata()], "total_count": 1}),
        Some([""]) if asks("depth=pages") => with_pages(),
        Some([""]) => metadata(),
        Some(["", "pages", index]) => {
            let (index, page) = page(index)?;
            if asks("format=markdown") || asks("format=text") {
                return Ok(rendered(uri, index, page));
            }
            page_value(index, page)
        }
        Some(["", "elements", id]) => element(id)?,
        _ => return Err(missing(4201, "there is no such document", json!({ "uri": uri }))),
    };
    Ok(ResourceContents::text(value.to_string(), uri).with_mime_type("application/json"))
}

type Page = (&'static str, &'static [&'static str]);

fn page(index: &str) -> Result<(usize, Page), ErrorData> {
    let number = index.parse::<usize>().ok();
    let found = number.and_then(|number| PAGES.get(number).map(|page| (number, *page)));
    found
        .ok_or_else(|| missing(4202, "there is no such page", json!({"page_index": number, "page_count": PAGES.len()})))
}

fn metadata() -> Value {
    json!({
        "doc_ref": "handbook", "uri": HANDBOOK, "file_uri": "a2c-sample:handbook.md", "file_type": "md",
        "title": "The sample handbook", "page_count": PAGES.len(), "keywords": ["sample", "handbook"],
        "summary": "A document to try Finder, browse and dpe with.",
    })
}

fn with_pages() -> Value {
    let pages = PAGES.iter().enumerate().map(|(index, (title, paragraphs))| {
        json!({
            "page_index": index, "title": title, "element_count": paragraphs.len() + 1,
            "uri": format!("{HANDBOOK}/pages/{index}"), "doc_ref": "handbook",
        })
    });
    let mut value = metadata();
    value["pages"] = pages.collect();
    value["page_offset"] = 0.into();
    value["page_limit"] = 20.into();
    value["page_total"] = PAGES.len().into();
    value
}

fn page_value(index: usize, page: Page) -> Value {
    let elements = elements(index, page);
    json!({
        "page_index": index, "title": page.0, "doc_ref": "handbook", "uri": format!("{HANDBOOK}/pages/{index}"),
        "element_count": elements.len(), "elements": elements,
    })
}

fn elements(index: usize, (title, paragraphs): Page) -> Vec<Value> {
    let heading =
        json!({"element_id": format!("h-{index}"), "category": "heading", "content": {"level": 1, "text": title}});
    let texts = paragraphs.iter().enumerate().map(
        |(n, text)| json!({"element_id": format!("txt-{index}-{n}"), "category": "text", "content": { "text": text }}),
    );
    std::iter::once(heading).chain(texts).collect()
}

fn element(id: &str) -> Result<Value, ErrorData> {
    let all = PAGES.iter().enumerate().flat_map(|(index, page)| {
        elements(index, *page).into_iter().map(move |mut element| {
            element["doc_ref"] = "handbook".into();
            element["page_index"] = index.into();
            element
        })
    });
    let found = all.into_iter().find(|element| element["element_id"] == id);
    found.ok_or_else(|| missing(4203, "there is no such element", json!({ "element_id": id })))
}

fn rendered(uri: &str, index: usize, (title, paragraphs): Page) -> ResourceContents {
    let meta =
        json!({"page_index": index, "title": title, "doc_ref": "handbook", "element_count": paragraphs.len() + 1});
    let text = format!("# {title}\n\n{}\n", paragraphs.join("\n\n"));
    let meta = MetaObject(meta.as_object().cloned().unwrap_or_default());
    ResourceContents::text(text, uri).with_mime_type("text/markdown").with_meta(meta)
}

fn missing(code: u16, message: &'static str, mut data: Value) -> ErrorData {
    data["code"] = code.into();
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(data))
}
