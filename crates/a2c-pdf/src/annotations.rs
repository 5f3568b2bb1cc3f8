//! What lies on a page without being drawn by it: links, notes, and the fields of forms.

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, FormField};
use hayro_syntax::object::{self, Array, Dict, Name, Object, Rect};
use hayro_syntax::page::Page;

use crate::content::{PageWord, ReadingFrame};
use crate::destinations::{NamedPlaces, PageNumbers, target_page};
use crate::geometry::{PageBox, PageFrame};
use crate::links::PageLink;
use crate::text_string::{iso_date, text_entry, text_string};

/// The most annotations of a page.
const ANNOTATIONS: usize = 2_000;
/// How deep fields are nested.
const FIELD_DEPTH: usize = 16;
/// The most values to choose from.
const OPTIONS: usize = 500;
/// The longest quotation of what a note is about, in characters.
const QUOTATION: usize = 300;

/// The most words that are looked at for it.
const WORDS: usize = 20_000;

const HIDDEN: u32 = 1 << 1;

/// What lies on a page.
#[derive(Debug, Default)]
pub(crate) struct PageAnnotations {
    pub(crate) links: Vec<PageLink>,
    notes: Vec<PlacedNote>,
    fields: Vec<(PageBox, FormField)>,
}

/// A note, and what it marks.
#[derive(Debug)]
struct PlacedNote {
    content: ElementContent,
    marked: Vec<PageBox>,
}

impl PageAnnotations {
    /// Reads what lies on a page.
    pub(crate) fn read(page: &Page<'_>, frame: &PageFrame, numbers: &PageNumbers, names: &NamedPlaces) -> Self {
        let mut all = Self::default();
        let Some(list) = page.raw().get::<Array<'_>>("Annots") else { return all };
        for annotation in list.iter::<Dict<'_>>().take(ANNOTATIONS) {
            let kind = annotation.get::<Name<'_>>("Subtype").map(|kind| kind.as_str().to_owned()).unwrap_or_default();
            let place = annotation.get::<Rect>("Rect").map(|rect| frame.upright(rect)).unwrap_or_default();
            let is_hidden = annotation.get::<u32>("F").unwrap_or(0) & HIDDEN != 0;
            match kind.as_str() {
                _ if is_hidden || !place.is_finite() => {}
                "Link" => {
                    let url = link_url(&annotation, numbers, names);
                    all.links.extend(url.map(|url| PageLink { place, url }));
                }
                "Widget" => all.fields.extend(field(&annotation).map(|field| (place, field))),
                "Popup" => {}
                _ => all.notes.extend(note(&annotation, &kind, frame)),
            }
        }
        all
    }

    /// The form and the notes of a page as elements, in that order.
    pub(crate) fn drafts(mut self, words: &[PageWord]) -> Vec<ElementDraft> {
        let mut drafts = Vec::new();
        self.fields.sort_by(|(a, _), (b, _)| {
            (a.y0 / 6.0).round().total_cmp(&(b.y0 / 6.0).round()).then(a.x0.total_cmp(&b.x0))
        });
        let mut fields: Vec<FormField> = Vec::new();
        for (_, field) in self.fields {
            // The buttons of one choice are one field.
            match fields.iter_mut().find(|known| known.name == field.name && known.kind == field.kind) {
                Some(known) => known.options.extend(field.options.into_iter().filter(|option| option != "Off")),
                None => fields.push(field),
            }
        }
        if !fields.is_empty() {
            drafts.push(ElementContent::Form { fields }.into());
        }
        for note in self.notes {
            let mut content = note.content;
            if let ElementContent::Annotation { target, .. } = &mut content {
                *target = quotation(&note.marked, words);
            }
            drafts.push(content.into());
        }
        drafts
    }
}

/// Where a link leads: an address, or a page of the file.
fn link_url(annotation: &Dict<'_>, numbers: &PageNumbers, names: &NamedPlaces) -> Option<String> {
    if let Some(action) = annotation.get::<Dict<'_>>("A") {
        if let Some(address) = text_entry(&action, "URI") {
            return Some(address);
        }
        if action.get::<Name<'_>>("S").is_some_and(|kind| matches!(kind.as_str(), "GoToR" | "Launch")) {
            return file_name(&action.get::<Object<'_>>("F")?);
        }
    }
    target_page(annotation, numbers, names).map(|page| format!("#page-{page}"))
}

fn file_name(file: &Object<'_>) -> Option<String> {
    match file {
        Object::String(name) => Some(text_string(name.as_bytes())),
        Object::Dict(dict) => text_entry(dict, "UF").or_else(|| text_entry(dict, "F")),
        _ => None,
    }
}

fn note(annotation: &Dict<'_>, kind: &str, frame: &PageFrame) -> Option<PlacedNote> {
    let is_attachment = kind == "FileAttachment";
    let name = annotation.get::<Object<'_>>("FS").filter(|_| is_attachment).and_then(|file| file_name(&file));
    let words = text_entry(annotation, "Contents");
    let text = match (name, words) {
        (Some(name), Some(words)) if name != words => format!("{name}: {words}"),
        (name, words) => name.or(words)?,
    };
    let date = text_entry(annotation, "M").or_else(|| text_entry(annotation, "CreationDate"));
    let content = ElementContent::Annotation {
        kind: if is_attachment { AnnotationKind::Attachment } else { AnnotationKind::Comment },
        text,
        author: text_entry(annotation, "T"),
        date: date.and_then(|date| iso_date(&date)),
        target: None,
        error: None,
    };
    let marks_text = matches!(kind, "Highlight" | "Underline" | "StrikeOut" | "Squiggly");
    let corners = annotation.get::<Array<'_>>("QuadPoints").filter(|_| marks_text);
    let numbers: Vec<f64> = corners.map(|corners| corners.iter::<f64>().take(800).collect()).unwrap_or_default();
    let marked = numbers.chunks_exact(8).map(|corner| {
        let mut place = PageBox::around(frame.matrix.apply(corner[0], corner[1]));
        corner.chunks_exact(2).for_each(|point| place.add(PageBox::around(frame.matrix.apply(point[0], point[1]))));
        place
    });
    Some(PlacedNote { content, marked: marked.collect() })
}

/// The words that a note marks.
fn quotation(marked: &[PageBox], words: &[PageWord]) -> Option<String> {
    if marked.is_empty() {
        return None;
    }
    let mut area = marked[0];
    marked.iter().for_each(|place| area.add(*place));
    let is_marked = |word: &&PageWord| {
        let center = word.place.center();
        word.frame == ReadingFrame::RIGHT && area.has(center) && marked.iter().any(|place| place.has(center))
    };
    let words = words.iter().take(WORDS).filter(is_marked);
    let words: Vec<&str> = words.take(100).map(|word| word.text.as_str()).collect();
    let text: String = words.join(" ").chars().take(QUOTATION).collect();
    Some(text).filter(|text| !text.is_empty())
}

/// A field of a form. Its parts may stand in its parents.
fn field(widget: &Dict<'_>) -> Option<FormField> {
    let mut line = vec![widget.clone()];
    while line.len() < FIELD_DEPTH
        && let Some(parent) = line.last().and_then(|field| field.get::<Dict<'_>>("Parent"))
    {
        line.push(parent);
    }
    let inherited = |key: &str| line.iter().find_map(|field| field.get::<Object<'_>>(key));
    let names: Vec<String> = line.iter().rev().filter_map(|field| text_entry(field, "T")).collect();
    let kind = inherited("FT")?.into_name()?.as_str().to_owned();
    let flags = inherited("Ff").and_then(Object::into_i32).unwrap_or(0);
    let value = inherited("V").and_then(|value| value_text(&value));
    let (kind, value, options) = match kind.as_str() {
        "Tx" => ("text", value, Vec::new()),
        "Ch" => ("choice", value, inherited("Opt").map(|list| choices(&list)).unwrap_or_default()),
        "Sig" => (
            "signature",
            line.iter().find_map(|field| field.get::<Dict<'_>>("V")).map(|_| "signed".to_owned()),
            Vec::new(),
        ),
        "Btn" if flags & (1 << 16) != 0 => ("button", caption(widget), Vec::new()),
        "Btn" if flags & (1 << 15) != 0 => ("choice", value.filter(|value| value != "Off"), states(widget)),
        "Btn" => {
            let state = widget.get::<Name<'_>>("AS").map(|state| state.as_str().to_owned()).or(value);
            ("checkbox", Some((state.is_some_and(|state| state != "Off")).to_string()), Vec::new())
        }
        _ => return None,
    };
    let label = line.iter().find_map(|field| text_entry(field, "TU"));
    Some(FormField { name: names.join("."), kind: kind.to_owned(), label, value, options })
}

fn value_text(value: &Object<'_>) -> Option<String> {
    let text = match value {
        Object::String(text) => text_string(text.as_bytes()),
        Object::Name(name) => name.as_str().to_owned(),
        Object::Stream(stream) => text_string(&crate::unpack::unpack(stream, 1 << 20).ok()?),
        Object::Array(list) => list
            .iter::<object::String<'_>>()
            .take(OPTIONS)
            .map(|text| text_string(text.as_bytes()))
            .collect::<Vec<_>>()
            .join(", "),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// What a list offers: texts, or pairs of what is stored and what is shown.
fn choices(list: &Object<'_>) -> Vec<String> {
    let Object::Array(list) = list else { return Vec::new() };
    let shown = list.iter::<Object<'_>>().take(OPTIONS).filter_map(|choice| match choice {
        Object::Array(pair) => pair.iter::<object::String<'_>>().nth(1).map(|text| text_string(text.as_bytes())),
        Object::String(text) => Some(text_string(text.as_bytes())),
        _ => None,
    });
    shown.collect()
}

/// The states that a button can be in.
fn states(widget: &Dict<'_>) -> Vec<String> {
    let looks = widget.get::<Dict<'_>>("AP").and_then(|looks| looks.get::<Dict<'_>>("N"));
    let mut states: Vec<String> =
        looks.iter().flat_map(Dict::keys).take(OPTIONS).map(|state| state.as_str().to_owned()).collect();
    states.retain(|state| state != "Off");
    states.sort();
    states
}

fn caption(widget: &Dict<'_>) -> Option<String> {
    text_entry(&widget.get::<Dict<'_>>("MK")?, "CA")
}
