//! Reads xlsx and xlsm files.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use a2c_document_model::{BlobPlace, CellRange, DocumentProperties, ElementDraft, PageDraft, PageHead, UnreadableFile};

use super::cell::{CellSource, CellVisitor, SheetLink, SheetTail};
use super::cell_text::CellDisplay;
use super::relationships::{PartRelationship, all_of_kind, relationships};
use super::shared_strings::SharedStrings;
use super::sheet_tables::{PlacedElement, SheetScan, SheetView, scan_sheet};
use super::sheet_xml::visit_sheet;
use super::workbook::WorkbookDirectory;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::xml::{XmlEvent, XmlReader, utf8};

/// The rows that are looked at where only the beginning of a sheet is wanted, besides those of the table.
const ROWS_OF_BEGINNING: usize = 44;
/// The largest sheet in UTF-16: it is held as a whole.
const UTF_16_BYTES: u64 = 64 << 20;

/// An xlsx file.
pub(super) struct XlsxWorkbook {
    archive: DocumentArchive,
    limits: ReadLimits,
    directory: WorkbookDirectory,
    pages: Vec<PageHead>,
    strings: SharedStrings,
    /// Where the cells of the sheet are that was read last: it is often read again.
    last: Option<(usize, Arc<SheetScan>)>,
    warnings: Vec<String>,
}

impl XlsxWorkbook {
    /// Opens the workbook whose directory is this part.
    pub(super) fn open(mut archive: DocumentArchive, part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut directory = WorkbookDirectory::read(&mut archive, part, limits)?;
        if directory.sheets.is_empty() {
            return Err(UnreadableFile::corrupt("the workbook has no sheets"));
        }
        let pages = directory.sheets.iter().map(super::workbook::SheetEntry::head).collect();
        let strings = if directory.strings.is_some() { SharedStrings::default() } else { SharedStrings::none() };
        let warnings = std::mem::take(&mut directory.warnings);
        Ok(Self { archive, limits: limits.clone(), directory, pages, strings, last: None, warnings })
    }

    fn warn<T>(&mut self, result: Result<T, UnreadableFile>) -> Option<T> {
        result.map_err(|error| self.warnings.push(error.message)).ok()
    }

    /// The rows of headers of the tables that the sheet declares.
    fn header_rows(&mut self, related: &[PartRelationship]) -> Vec<CellRange> {
        let mut found = Vec::new();
        for part in all_of_kind(related, "table").take(self.limits.page_elements) {
            let range = read_table_range(&mut self.archive, part, &self.limits);
            found.extend(self.warn(range).flatten());
        }
        found
    }
}

/// The row of headers of a declared table.
fn read_table_range(
    archive: &mut DocumentArchive,
    part: &str,
    limits: &ReadLimits,
) -> Result<Option<CellRange>, UnreadableFile> {
    let bytes = utf8(archive.read(part)?);
    let mut reader = XmlReader::new(&bytes, part, limits);
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) if tag.name() == b"table" => {
                let range = tag.attribute("ref").and_then(|range| CellRange::parse(&range));
                let has_headers = tag.attribute("headerRowCount").is_none_or(|count| count != "0");
                return Ok(range.filter(|_| has_headers).map(|mut range| {
                    range.last.row = range.first.row;
                    range
                }));
            }
            XmlEvent::Eof => return Ok(None),
            _ => {}
        }
    }
}

impl FormatReader for XlsxWorkbook {
    fn properties(&self) -> &DocumentProperties {
        &self.directory.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.pages
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let Some(entry) = self.directory.sheets.get(index).cloned() else {
            return Err(UnreadableFile::corrupt(format!("the workbook has no sheet {index}")));
        };
        let part = entry.part.filter(|part| self.archive.has(part));
        let Some(part) = part else {
            return Err(UnreadableFile::corrupt(format!("the part of the sheet `{}` is missing", entry.name)));
        };
        let related = relationships(&mut self.archive, &part, &self.limits)?;
        let header_rows = self.header_rows(&related);
        let mut sheet = XlsxSheet {
            archive: &mut self.archive,
            part: &part,
            strings_part: self.directory.strings.as_deref(),
            strings: &mut self.strings,
            targets: related.iter().filter(|one| one.kind == "hyperlink").map(|one| (&*one.id, &*one.target)).collect(),
            limits: &self.limits,
        };
        let scan = match &self.last {
            Some((last, scan)) if *last == index => scan.clone(),
            _ => {
                let window = request.rows.offset.saturating_add(request.rows.limit);
                let rows = request.head_only.then(|| window.saturating_add(ROWS_OF_BEGINNING));
                Arc::new(scan_sheet(&mut sheet, &self.limits, rows)?)
            }
        };
        let display = CellDisplay { styles: &self.directory.styles, dates: self.directory.dates };
        let view = SheetView { display, limits: &self.limits, header_rows: &header_rows };
        let mut placed = view.tables(&mut sheet, &scan, request.rows)?;
        placed.sort_by_key(|element| element.place);
        if let Some((at, window)) = request.detail
            && let Some(element) = placed.get(at)
            && let Some(detail) = view.detail(&mut sheet, &scan, element, window)?
        {
            placed[at].draft = detail;
        }
        let partial = scan.tail.is_none();
        if !partial {
            self.last = Some((index, scan));
        }
        let elements: Vec<ElementDraft> = placed.into_iter().map(|PlacedElement { draft, .. }| draft).collect();
        Ok(PageDraft { title: entry.name.clone(), elements, key: entry.name, hidden: entry.hidden, partial })
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.archive.read(&place.part)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// One sheet of an xlsx file.
struct XlsxSheet<'a> {
    archive: &'a mut DocumentArchive,
    part: &'a str,
    strings_part: Option<&'a str>,
    strings: &'a mut SharedStrings,
    /// Where the relationships of links lead.
    targets: HashMap<&'a str, &'a str>,
    limits: &'a ReadLimits,
}

impl CellSource for XlsxSheet<'_> {
    fn visit(&mut self, visitor: &mut dyn CellVisitor) -> Result<Option<SheetTail>, UnreadableFile> {
        let mut stream = self.archive.stream(self.part)?;
        let mut mark = Vec::with_capacity(2);
        let broken = |error: std::io::Error| crate::archive::broken(self.part, &error);
        stream.by_ref().take(2).read_to_end(&mut mark).map_err(broken)?;
        if matches!(mark[..], [0xff, 0xfe] | [0xfe, 0xff]) {
            stream.by_ref().take(UTF_16_BYTES).read_to_end(&mut mark).map_err(broken)?;
            return visit_sheet(&*utf8(mark), self.part, self.limits, visitor);
        }
        visit_sheet((&*mark).chain(stream), self.part, self.limits, visitor)
    }

    fn strings(&mut self, last: u32) -> Result<&SharedStrings, UnreadableFile> {
        if let Some(part) = self.strings_part.filter(|_| !self.strings.reaches(last)) {
            let stream = self.archive.stream(part)?;
            *self.strings = SharedStrings::read(stream, part, last, self.limits.shared_text_bytes)?;
        }
        Ok(self.strings)
    }

    fn link_target(&self, link: &SheetLink) -> Option<String> {
        let target = link.relationship.as_deref().and_then(|id| self.targets.get(id));
        match (target, &link.location) {
            (Some(target), Some(location)) => Some(format!("{target}#{location}")),
            (Some(target), None) => Some((*target).to_owned()),
            (None, Some(location)) => Some(format!("#{location}")),
            (None, None) => None,
        }
    }
}
