//! What belongs to a sheet of an xlsx file besides its cells: pivot tables, charts, pictures, comments.

use std::collections::HashMap;

use a2c_document_model::{BlobPlace, ElementContent, ElementDraft, ElementMetadata, ListEntry, UnreadableFile};

use super::chart_part::{ChartPart, read_chart};
use super::comments::{CellComment, read_comments, read_persons, read_threads};
use super::drawing::{DrawnKind, DrawnObject, read_drawing};
use super::pivot::{read_cache, read_pivot};
use super::relationships::{PartRelationship, all_of_kind, of_id, of_kind, relationships};
use super::sheet_tables::PlacedElement;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::picture::mime_type_of_name;
use crate::xml::{XmlEvent, XmlReader, utf8};

/// The words of a diagram that are kept.
const DIAGRAM_TEXTS: usize = 1000;

/// Reads the parts around a sheet. What cannot be read is named in the warnings and costs only itself.
pub(super) struct SheetObjects<'a> {
    pub(super) archive: &'a mut DocumentArchive,
    pub(super) limits: &'a ReadLimits,
    pub(super) warnings: &'a mut Vec<String>,
}

/// A chart and where it stands, before its data is complete.
pub(super) struct PlacedChart {
    pub(super) object: DrawnObject,
    pub(super) part: String,
    pub(super) chart: ChartPart,
}

impl PlacedChart {
    /// The chart as an element.
    pub(super) fn element(self) -> PlacedElement {
        let Self { object, part, chart } = self;
        let mut draft = ElementDraft::from(chart.element());
        draft.metadata.hidden = object.hidden;
        draft.summary = object.description;
        // Two charts of one kind without titles are told apart by their parts.
        if matches!(&draft.content, ElementContent::Chart { title, .. } if title.is_empty()) {
            draft.identity = Some(part);
        }
        PlacedElement { place: object.place, draft, origin: None }
    }
}

impl SheetObjects<'_> {
    fn or_warn<T>(&mut self, result: Result<T, UnreadableFile>) -> Option<T> {
        result.map_err(|error| self.warnings.push(error.message)).ok()
    }

    fn part(&mut self, part: &str) -> Option<Vec<u8>> {
        let bytes = self.archive.read(part);
        self.or_warn(bytes).map(utf8)
    }

    fn related(&mut self, part: &str) -> Vec<PartRelationship> {
        let related = relationships(self.archive, part, self.limits);
        self.or_warn(related).unwrap_or_default()
    }

    /// The pivot tables of a sheet.
    pub(super) fn pivots(&mut self, related: &[PartRelationship]) -> Vec<PlacedElement> {
        let mut found = Vec::new();
        for part in all_of_kind(related, "pivotTable").take(self.limits.page_elements) {
            let behind = self.related(part);
            let cache = of_kind(&behind, "pivotCacheDefinition").and_then(|cache| {
                let bytes = self.part(cache)?;
                let cache = read_cache(&bytes, cache, self.limits);
                self.or_warn(cache)
            });
            let Some(bytes) = self.part(part) else { continue };
            let pivot = read_pivot(&bytes, part, &cache.unwrap_or_default(), self.limits);
            let Some((place, range, content)) = self.or_warn(pivot) else { continue };
            let source_range = range.map(|range| range.to_string());
            let metadata = ElementMetadata { source_range, ..ElementMetadata::default() };
            let draft = ElementDraft { metadata, ..ElementDraft::from(content) };
            found.push(PlacedElement { place, draft, origin: None });
        }
        found
    }

    /// What is drawn on a sheet: its elements, and its charts.
    pub(super) fn drawn(&mut self, part: &str) -> (Vec<PlacedElement>, Vec<PlacedChart>) {
        let (mut elements, mut charts) = (Vec::new(), Vec::new());
        let Some(bytes) = self.part(part) else { return (elements, charts) };
        let related = self.related(part);
        let objects = read_drawing(&bytes, part, self.limits);
        for object in self.or_warn(objects).unwrap_or_default() {
            let draft = match &object.kind {
                DrawnKind::Shape => None,
                DrawnKind::Text(text) if text.is_empty() => None,
                DrawnKind::Text(text) => Some(ElementDraft::from(ElementContent::text(text.clone()))),
                DrawnKind::Picture(id) => of_id(&related, id).map(|target| self.picture(&object, target)),
                DrawnKind::Diagram(id) => of_id(&related, id).and_then(|target| self.diagram(&target.target)),
                DrawnKind::Chart(id) => {
                    if let Some(target) = of_id(&related, id).filter(|target| !target.external)
                        && let Some(bytes) = self.part(&target.target)
                    {
                        let chart = read_chart(&bytes, &target.target, self.limits);
                        let part = target.target.clone();
                        charts.extend(self.or_warn(chart).map(|chart| PlacedChart {
                            object: object.clone(),
                            part,
                            chart,
                        }));
                    }
                    None
                }
            };
            if let Some(mut draft) = draft {
                draft.metadata.hidden = object.hidden;
                elements.push(PlacedElement { place: object.place, draft, origin: None });
            }
        }
        (elements, charts)
    }

    fn picture(&mut self, object: &DrawnObject, target: &PartRelationship) -> ElementDraft {
        let mime_type = mime_type_of_name(&target.target);
        let (width, height) = object.size.unzip();
        let content = ElementContent::Image {
            alt: object.description.clone(),
            url: target.external.then(|| target.target.clone()),
            description: Some(object.name.clone()).filter(|name| !name.is_empty()),
            mime_type: mime_type.map(str::to_owned),
            width,
            height,
        };
        let mut draft = ElementDraft::from(content);
        if !target.external && self.archive.has(&target.target) {
            draft.identity = self.archive.fingerprint(&target.target);
            let mime_type = mime_type.unwrap_or("application/octet-stream").to_owned();
            draft.blob = Some(BlobPlace { part: target.target.clone(), mime_type });
        }
        draft
    }

    /// The words of a diagram, in the order of its data.
    fn diagram(&mut self, part: &str) -> Option<ElementDraft> {
        let bytes = self.part(part)?;
        let items = diagram_texts(&bytes, part, self.limits);
        let items = self.or_warn(items).filter(|items| !items.is_empty())?;
        Some(ElementContent::Diagram { items }.into())
    }

    /// The comments of a sheet, in the order of the file.
    pub(super) fn comments(&mut self, related: &[PartRelationship], persons: Option<&str>) -> Vec<CellComment> {
        let mut found = Vec::new();
        for part in all_of_kind(related, "comments").take(16) {
            let Some(bytes) = self.part(part) else { continue };
            let comments = read_comments(&bytes, part, self.limits);
            found.extend(self.or_warn(comments).unwrap_or_default());
        }
        let threads: Vec<&str> = all_of_kind(related, "threadedComment").take(16).collect();
        if threads.is_empty() {
            return found;
        }
        let persons = persons.and_then(|part| {
            let bytes = self.part(part)?;
            let persons = read_persons(&bytes, part, self.limits);
            self.or_warn(persons)
        });
        let persons: HashMap<String, String> = persons.unwrap_or_default();
        for part in threads {
            let Some(bytes) = self.part(part) else { continue };
            let comments = read_threads(&bytes, part, &persons, self.limits);
            found.extend(self.or_warn(comments).unwrap_or_default());
        }
        found
    }
}

fn diagram_texts(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Vec<ListEntry>, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let (mut items, mut open) = (Vec::new(), String::new());
    loop {
        match reader.event()? {
            XmlEvent::Text(text) => open.push_str(&text),
            XmlEvent::End(end) if end.name() == b"pt" => {
                let text = std::mem::take(&mut open);
                if !text.trim().is_empty() && items.len() < DIAGRAM_TEXTS {
                    items.push(ListEntry::Plain(text.trim().to_owned()));
                }
            }
            XmlEvent::Eof => return Ok(items),
            _ => {}
        }
    }
}
