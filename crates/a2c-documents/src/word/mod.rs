//! Word documents: `.docx`, `.docm`, `.dotx`, `.dotm`.
//!
//! The text is read once, when the file is opened, because its pages are a division of it: `body` reads blocks,
//! `paragraph` what stands in them, `placing` says what they are; `rich_text` keeps them in order and divides them.

mod bands;
mod body;
mod changes;
mod context;
mod drawing;
mod fields;
mod notes;
mod numbering;
mod paragraph;
mod paragraph_properties;
mod placing;
mod run_format;
mod styles;

use std::collections::{HashMap, HashSet, VecDeque};

use a2c_document_model::{BlobPlace, DocumentProperties, PageDraft, PageHead, UnreadableFile};

use self::body::WordBody;
use self::context::WordContext;
use self::notes::WordNote;
use crate::limits::ReadLimits;
use crate::ooxml::{OfficePackage, PartRelationships};
use crate::reader::{FormatReader, PageRequest};
use crate::rich_text::{DocumentFlow, FlowForm, MemoryBudget, divide, keep_before_mistake};
use crate::source::Source;
use crate::xml::{XmlEvent, XmlReader};

/// Opens a Word document and reads its text.
pub fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut package = OfficePackage::open(source, limits)?;
    let properties = package.properties();
    let (pages, warnings) = read_document(&mut package)?;
    let heads = pages
        .iter()
        .map(|page| PageHead { title: Some(page.title.clone()).filter(|title| !title.is_empty()), hidden: false })
        .collect();
    Ok(Box::new(WordDocument { package, properties, heads, pages, warnings }))
}

struct WordDocument {
    package: OfficePackage,
    properties: DocumentProperties,
    heads: Vec<PageHead>,
    pages: Vec<PageDraft>,
    warnings: Vec<String>,
}

impl FormatReader for WordDocument {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, _: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let page = self.pages.get(index).cloned();
        page.ok_or_else(|| UnreadableFile::corrupt(format!("the document has no page {index}")))
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.package.blob(place)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

fn read_document(package: &mut OfficePackage) -> Result<(Vec<PageDraft>, Vec<String>), UnreadableFile> {
    let limits = package.limits().clone();
    let main = package.main_part("word/document.xml")?;
    let bytes = package.xml(&main)?;
    let relationships = package.relationships_of(&main)?;
    let mut body = begin(package, &relationships, &limits);
    let footnotes = read_notes(&mut body, &relationships, "footnotes");
    let endnotes = read_notes(&mut body, &relationships, "endnotes");
    let comments = read_notes(&mut body, &relationships, "comments");
    body.context.notes.footnotes = footnotes;
    body.context.notes.endnotes = endnotes;
    body.context.notes.comments = comments;

    body.context.relationships = body.context.package.relationships_of(&main)?;
    let mut flow = DocumentFlow::new(FlowForm::Elements);
    let read = read_body(&mut body, &bytes, &main, &limits, &mut flow);
    drop(bytes);
    let with_even = shows_even_bands(&mut body, &relationships);
    let (mut seen, mut sections) = (HashSet::new(), VecDeque::new());
    for section in std::mem::take(&mut body.sections) {
        sections.push_back(bands::read_bands(&mut body, &relationships, &section, with_even, &mut seen));
    }
    let mut pages = divide(flow.into_items(), sections, limits.page_elements);
    if let Err(problem) = read {
        body.context.warn(&problem);
        keep_before_mistake(&mut pages, problem)?;
    }
    Ok((pages, body.context.warnings))
}

/// A reader with the styles and the lists of a document. A mistake in them costs their formatting only.
fn begin<'p>(package: &'p mut OfficePackage, main: &PartRelationships, limits: &ReadLimits) -> WordBody<'p> {
    let mut problems = Vec::new();
    let mut part = |kind: &str| {
        let name = main.part_of_kind(kind)?.to_owned();
        match package.xml(&name) {
            Ok(bytes) => Some((bytes, name)),
            Err(problem) => {
                problems.push(problem);
                None
            }
        }
    };
    let (styles, numbering) = (part("styles"), part("numbering"));
    let styles = styles.map(|(bytes, name)| styles::WordStyles::read(&bytes, &name, limits));
    let numbering = numbering.map(|(bytes, name)| numbering::WordNumbering::read(&bytes, &name, limits));
    let mut keep = |problem: UnreadableFile| problems.push(problem);
    let styles = styles.transpose().map_err(&mut keep).ok().flatten().unwrap_or_default();
    let numbering = numbering.transpose().map_err(&mut keep).ok().flatten().unwrap_or_default();
    let mut context = WordContext {
        package,
        styles,
        notes: notes::WordNotes::default(),
        fields: fields::OpenFields::default(),
        relationships: PartRelationships::default(),
        warnings: Vec::new(),
        drawn_parts: HashSet::new(),
    };
    problems.iter().for_each(|problem| context.warn(problem));
    WordBody::new(context, numbering, MemoryBudget::new(limits.document_bytes))
}

fn read_body(
    body: &mut WordBody<'_>,
    bytes: &[u8],
    part: &str,
    limits: &ReadLimits,
    flow: &mut DocumentFlow,
) -> Result<(), UnreadableFile> {
    let mut xml = XmlReader::new(bytes, part, limits);
    while let Some(event) = xml.within(0)? {
        if matches!(&event, XmlEvent::Start(tag) if tag.name() == b"body") {
            let depth = xml.depth();
            body.blocks(&mut xml, depth, flow)?;
        }
    }
    Ok(())
}

/// The notes of a part by their ids.
fn read_notes(body: &mut WordBody<'_>, main: &PartRelationships, kind: &str) -> HashMap<String, WordNote> {
    let mut notes = HashMap::new();
    if let Some(part) = main.part_of_kind(kind)
        && let Err(problem) = read_note_part(body, part, &mut notes)
    {
        body.context.warn(&problem);
    }
    notes
}

fn read_note_part(
    body: &mut WordBody<'_>,
    part: &str,
    notes: &mut HashMap<String, WordNote>,
) -> Result<(), UnreadableFile> {
    let bytes = body.context.package.xml(part)?;
    let limits = body.context.package.limits().clone();
    body.context.relationships = body.context.package.relationships_of(part)?;
    let mut xml = XmlReader::new(&bytes, part, &limits);
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        if !matches!(tag.name(), b"footnote" | b"endnote" | b"comment") {
            continue;
        }
        // The lines between text and notes are notes of a type of their own.
        let is_line = tag.attribute("type").is_some_and(|kind| kind != "normal");
        let id = tag.attribute("id").unwrap_or_default();
        let (author, date) = (tag.attribute("author"), tag.attribute("date"));
        let (text, links) = body.lines(&mut xml)?;
        if !is_line {
            notes.insert(id, WordNote { text, links, author, date });
        }
    }
    Ok(())
}

/// Whether pages with even numbers have headers and footers of their own.
fn shows_even_bands(body: &mut WordBody<'_>, main: &PartRelationships) -> bool {
    let wanted = body.sections.iter().flat_map(|section| &section.bands).any(|band| band.which == "even");
    let part = main.part_of_kind("settings").filter(|_| wanted);
    let settings = part.and_then(|part| body.context.package.xml(part).ok()).unwrap_or_default();
    settings.windows(17).any(|window| window == b"evenAndOddHeaders")
}
