//! JSON: a table where it is a list of alike objects, a notebook as its cells, code otherwise.

use a2c_document_model::{DocumentProperties, ElementContent, ElementDraft, PageDraft, TableContent, UnreadableFile};
use serde_json::{Map, Value};

use super::markdown;
use crate::encoding::decoded;
use crate::flow::{FlowDocument, divide_at_headings};
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

/// The most columns of a table that is made of objects.
const MOST_COLUMNS: usize = 256;

/// The largest text that is looked into: a tree takes many times its text.
const LARGEST_TREE: usize = 64 << 20;

pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let text = decoded(&bytes);
    let elements = match parsed(&text) {
        Some(Value::Object(notebook)) if notebook.contains_key("nbformat") => cells(&notebook),
        Some(Value::Array(items)) => match table(&items) {
            Some(table) => vec![ElementContent::Table(table).into()],
            None => vec![code(&text)],
        },
        _ => vec![code(&text)],
    };
    let pages = match elements.len() {
        1 => vec![PageDraft { elements, ..PageDraft::default() }],
        _ => divide_at_headings(elements, limits.page_elements),
    };
    Ok(Box::new(FlowDocument::new(DocumentProperties::default(), pages)))
}

/// The value of a text, or the values of its lines.
fn parsed(text: &str) -> Option<Value> {
    if text.len() > LARGEST_TREE {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<Vec<Value>>>().map(Value::Array)
    })
}

fn code(text: &str) -> ElementDraft {
    ElementContent::Code { language: Some("json".into()), text: text.to_owned(), truncated: false }.into()
}

/// A list of objects that have their keys in common, as a table.
fn table(items: &[Value]) -> Option<TableContent> {
    let objects: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    let objects = objects.filter(|objects| !objects.is_empty())?;
    let mut headers: Vec<String> = Vec::new();
    for object in &objects {
        for key in object.keys() {
            if !headers.contains(key) {
                headers.push(key.clone());
            }
        }
        if headers.len() > MOST_COLUMNS {
            return None;
        }
    }
    // Objects that have little in common are no table.
    let filled: usize = objects.iter().map(|object| object.len()).sum();
    if headers.is_empty() || filled * 2 < headers.len() * objects.len() {
        return None;
    }
    let value = |object: &Map<String, Value>, key: &String| object.get(key).map(cell).unwrap_or_default();
    let rows = objects.iter().map(|object| headers.iter().map(|key| value(object, key)).collect()).collect();
    Some(TableContent::whole(headers, rows))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The cells of a notebook: its text, its code, and what the code printed.
fn cells(notebook: &Map<String, Value>) -> Vec<ElementDraft> {
    let language = notebook.get("metadata").map(|metadata| metadata["kernelspec"]["language"].clone());
    let language = language.and_then(|language| language.as_str().map(ToOwned::to_owned));
    let mut elements = Vec::new();
    for cell in notebook.get("cells").and_then(Value::as_array).into_iter().flatten() {
        let source = lines(&cell["source"]);
        match cell["cell_type"].as_str() {
            Some("markdown") => elements.extend(markdown::elements(&source)),
            Some("code") if !source.is_empty() => {
                elements
                    .push(ElementContent::Code { language: language.clone(), text: source, truncated: false }.into());
            }
            _ => {}
        }
        for output in cell["outputs"].as_array().into_iter().flatten() {
            let text = match lines(&output["text"]) {
                text if text.is_empty() => lines(&output["data"]["text/plain"]),
                text => text,
            };
            if !text.is_empty() {
                elements.push(ElementContent::Code { language: None, text, truncated: false }.into());
            }
        }
    }
    elements
}

/// A text, or a list of its lines.
fn lines(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_of_alike_objects_is_a_table() {
        let found = table(&[json!({"a": 1, "b": "x"}), json!({"a": null, "b": [1]})]).unwrap();
        assert_eq!(
            (found.headers, found.rows),
            (vec!["a".into(), "b".into()], vec![vec!["1".into(), "x".into()], vec![String::new(), "[1]".into()]])
        );
        assert_eq!(table(&[json!({"a": 1}), json!(2)]), None);
        assert_eq!(table(&[json!({"a": 1}), json!({"b": 1}), json!({"c": 1})]), None);
        assert_eq!(table(&[]), None);
    }

    #[test]
    fn lines_of_json_are_a_list() {
        assert_eq!(parsed("{\"a\": 1}\n\n{\"a\": 2}\n"), Some(json!([{"a": 1}, {"a": 2}])));
        assert_eq!(parsed("{\"a\": 1}\nrest"), None);
    }
}
