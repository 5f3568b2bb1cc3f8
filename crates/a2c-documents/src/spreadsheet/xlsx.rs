//! Reads xlsx and xlsm files.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;

use a2c_document_model::{BlobPlace, CellRange, DocumentProperties, ElementDraft, PageDraft, PageHead, UnreadableFile};

use super::bounds::ROWS_OF_BEGINNING;
use super::cell::{CellSource, CellVisitor, SheetLink, SheetTail};
use super::cell_text::CellDisplay;
use super::page_setup::printed_text;
use super::range_values::RangeValues;
use super::relationships::{PartRelationship, all_of_kind, of_id, relationships};
use super::shared_strings::SharedStrings;
use super::sheet_elements::SheetElements;
use super::sheet_objects::{PlacedChart, SheetObjects};
use super::sheet_tables::{PlacedElement, SheetScan, SheetView, scan_sheet};
use super::sheet_xml::visit_sheet;
use super::workbook::WorkbookDirectory;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::xml::{XmlEvent, XmlReader, utf8};

/// The ranges of cells that the charts of a sheet take out of another.
const CHART_RANGES: usize = 1000;
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

    /// The part of a sheet.
    fn part_of(&self, index: usize) -> Result<String, UnreadableFile> {
        let entry = self.directory.sheets.get(index);
        let part = entry.and_then(|entry| entry.part.clone()).filter(|part| self.archive.has(part));
        part.ok_or_else(|| {
            let name = entry.map(|entry| entry.name.as_str()).unwrap_or_default();
            UnreadableFile::corrupt(format!("the part of the sheet `{name}` is missing"))
        })
    }

    /// A sheet, and how its cells are shown.
    fn sheet<'a>(&'a mut self, part: &'a str, related: &'a [PartRelationship]) -> (XlsxSheet<'a>, CellDisplay<'a>) {
        let links = related.iter().filter(|one| one.kind == "hyperlink");
        let sheet = XlsxSheet {
            archive: &mut self.archive,
            part,
            strings_part: self.directory.strings.as_deref(),
            strings: &mut self.strings,
            targets: links.map(|one| (&*one.id, &*one.target)).collect(),
            limits: &self.limits,
        };
        (sheet, CellDisplay { styles: &self.directory.styles, dates: self.directory.dates })
    }

    /// Pivot tables and what is drawn.
    fn objects(&mut self, related: &[PartRelationship], tail: &SheetTail) -> Vec<PlacedElement> {
        let mut objects =
            SheetObjects { archive: &mut self.archive, limits: &self.limits, warnings: &mut self.warnings };
        let mut placed = objects.pivots(related);
        let drawing = tail.drawing.as_deref().and_then(|id| of_id(related, id)).filter(|target| !target.external);
        if let Some(drawing) = drawing {
            let (elements, mut charts) = objects.drawn(&drawing.target);
            placed.extend(elements);
            if let Err(error) = self.complete(&mut charts) {
                self.warnings.push(error.message);
            }
            placed.extend(charts.into_iter().map(PlacedChart::element));
        }
        placed
    }

    /// Takes the data of charts out of the cells, where their parts do not have it.
    fn complete(&mut self, charts: &mut [PlacedChart]) -> Result<(), UnreadableFile> {
        let mut wanted: BTreeMap<String, Vec<CellRange>> = BTreeMap::new();
        for (sheet, range) in charts.iter_mut().flat_map(|chart| chart.chart.data()).filter_map(|data| data.missing()) {
            wanted.entry(sheet).or_default().push(range);
        }
        for (name, mut ranges) in wanted {
            let Some(index) = self.directory.sheets.iter().position(|sheet| sheet.name == name) else { continue };
            ranges.truncate(CHART_RANGES);
            let part = self.part_of(index)?;
            let (mut sheet, display) = self.sheet(&part, &[]);
            let values = RangeValues::read(&mut sheet, display, &ranges)?;
            for data in charts.iter_mut().flat_map(|chart| chart.chart.data()) {
                if let Some((_, range)) =
                    data.missing().filter(|(sheet, range)| *sheet == name && ranges.contains(range))
                {
                    data.points = values.of(range);
                }
            }
        }
        Ok(())
    }

    /// The comments on cells.
    fn notes(&mut self, related: &[PartRelationship]) -> Vec<ElementDraft> {
        let mut objects =
            SheetObjects { archive: &mut self.archive, limits: &self.limits, warnings: &mut self.warnings };
        let comments = objects.comments(related, self.directory.persons.as_deref());
        comments.into_iter().map(|comment| comment.element().into()).collect()
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
        let part = self.part_of(index)?;
        let related = relationships(&mut self.archive, &part, &self.limits)?;
        let header_rows = self.header_rows(&related);
        let last = self.last.as_ref().filter(|(last, _)| *last == index).map(|(_, scan)| scan.clone());
        let (mut sheet, display) = self.sheet(&part, &related);
        let limits = sheet.limits;
        let scan = match last {
            Some(scan) => scan,
            None => {
                let window = request.rows.offset.saturating_add(request.rows.limit);
                let rows = request.head_only.then(|| window.saturating_add(ROWS_OF_BEGINNING));
                Arc::new(scan_sheet(&mut sheet, limits, rows)?)
            }
        };
        let view = SheetView { display, limits, header_rows: &header_rows };
        let mut placed = view.tables(&mut sheet, &scan, request.rows)?;
        let mut after = Vec::new();
        if let Some(tail) = &scan.tail {
            placed.extend(self.objects(&related, tail));
            after = self.notes(&related);
        }
        placed.sort_by_key(|element| element.place);
        let mut elements = SheetElements { header: None, placed, footer: None, after };
        if let Some(tail) = &scan.tail {
            elements.header = tail.header.as_deref().map(printed_text).filter(|text| !text.is_empty());
            elements.footer = tail.footer.as_deref().map(printed_text).filter(|text| !text.is_empty());
        }
        if let Some((at, window)) = request.detail
            && let Some(element) = elements.placed_at(at)
        {
            let (mut sheet, display) = self.sheet(&part, &related);
            let view = SheetView { display, limits: sheet.limits, header_rows: &header_rows };
            if let Some(detail) = view.detail(&mut sheet, &scan, element, window)? {
                element.draft = detail;
            }
        }
        let partial = scan.tail.is_none();
        if !partial {
            self.last = Some((index, scan));
        }
        let elements = elements.drafts(self.limits.page_elements);
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
