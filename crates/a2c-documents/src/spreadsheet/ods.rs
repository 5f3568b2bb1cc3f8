//! Reads OpenDocument spreadsheets. Their cells hold the text that is shown; dates are written in ISO 8601 beside it.

use std::collections::HashSet;

use a2c_document_model::{BlobPlace, DocumentProperties, PageDraft, PageHead, UnreadableFile};

use super::bounds::ROWS_OF_BEGINNING;
use super::byte_scanner::{ByteScanner, MarkupToken};
use super::cell::{CellSource, CellVisitor, SheetLink, SheetTail};
use super::cell_text::CellDisplay;
use super::ods_cells::{OdsTail, visit_ods};
use super::serial_date::DateSystem;
use super::shared_strings::SharedStrings;
use super::sheet_elements::SheetElements;
use super::sheet_tables::{PlacedElement, SheetView, scan_sheet};
use super::styles::CellStyles;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::opendocument::OpenPackage;
use crate::reader::{FormatReader, PageRequest};

/// The sheets that are read.
const SHEETS: usize = 10_000;

/// An OpenDocument spreadsheet.
pub(super) struct OdsWorkbook {
    package: OpenPackage,
    limits: ReadLimits,
    properties: DocumentProperties,
    pages: Vec<PageHead>,
    warnings: Vec<String>,
}

impl OdsWorkbook {
    /// Opens a spreadsheet. The names of its sheets stand before their cells, so that all of it is passed over once.
    pub(super) fn open(archive: DocumentArchive, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut package = OpenPackage::new(archive, limits)?;
        let pages = read_pages(package.archive())?;
        let mut warnings = Vec::new();
        let properties = package.properties().unwrap_or_else(|error| {
            warnings.push(error.message);
            DocumentProperties::default()
        });
        Ok(Self { package, limits: limits.clone(), properties, pages, warnings })
    }

    fn pictures(&mut self, tail: &OdsTail) -> Vec<PlacedElement> {
        let mut placed = Vec::new();
        for picture in tail.pictures.iter().take(self.limits.page_elements) {
            let draft = self.package.picture(&picture.part, picture.alt.clone());
            placed.push(PlacedElement { place: picture.place, draft, origin: None });
        }
        placed
    }
}

/// The names of the sheets, and which are hidden.
fn read_pages(archive: &mut DocumentArchive) -> Result<Vec<PageHead>, UnreadableFile> {
    let mut scanner = ByteScanner::new(archive.stream("content.xml")?, "content.xml");
    let (mut pages, mut hidden, mut style, mut depth) = (Vec::new(), HashSet::new(), None, 0_usize);
    loop {
        match scanner.token()? {
            MarkupToken::Open(b"style", attributes) => style = attributes.text(b"name").map(|name| name.into_owned()),
            MarkupToken::Open(b"table-properties", attributes)
            | MarkupToken::Empty(b"table-properties", attributes)
                if attributes.raw(b"display") == Some(b"false") && hidden.len() < SHEETS =>
            {
                hidden.extend(style.take());
            }
            MarkupToken::Open(b"table", attributes) => {
                depth += 1;
                if depth == 1 && pages.len() < SHEETS {
                    let style = attributes.text(b"style-name");
                    let is_hidden = style.is_some_and(|style| hidden.contains(&*style));
                    let title = attributes.text(b"name").map(|name| name.into_owned());
                    pages.push(PageHead { title: Some(title.unwrap_or_default()), hidden: is_hidden });
                }
            }
            MarkupToken::Close(b"table") => depth = depth.saturating_sub(1),
            MarkupToken::End => return Ok(pages),
            _ => {}
        }
    }
}

impl FormatReader for OdsWorkbook {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.pages
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let Some(head) = self.pages.get(index).cloned() else {
            return Err(UnreadableFile::corrupt(format!("the spreadsheet has no sheet {index}")));
        };
        let styles = CellStyles::default();
        let display = CellDisplay { styles: &styles, dates: DateSystem::Since1900 };
        let limits = self.limits.clone();
        let view = SheetView { display, limits: &limits, header_rows: &[] };
        let mut sheet = OdsSheet::new(self.package.archive(), index, &limits);
        let window = request.rows.offset.saturating_add(request.rows.limit);
        let rows = request.head_only.then(|| window.saturating_add(ROWS_OF_BEGINNING));
        let scan = scan_sheet(&mut sheet, &limits, rows)?;
        let tail = std::mem::take(&mut sheet.tail);
        let mut placed = view.tables(&mut sheet, &scan, request.rows)?;
        placed.extend(self.pictures(&tail));
        placed.sort_by_key(|element| element.place);
        let after = tail.comments.into_iter().map(|comment| comment.element().into()).collect();
        let mut elements = SheetElements { header: None, placed, footer: None, after };
        if let Some((at, window)) = request.detail
            && let Some(element) = elements.placed_at(at)
            && let Some(detail) =
                view.detail(&mut OdsSheet::new(self.package.archive(), index, &limits), &scan, element, window)?
        {
            element.draft = detail;
        }
        let title = head.title.unwrap_or_default();
        let (partial, elements) = (scan.tail.is_none(), elements.drafts(limits.page_elements));
        Ok(PageDraft { title: title.clone(), elements, key: title, hidden: head.hidden, partial })
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.package.blob(place)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// One sheet of an OpenDocument spreadsheet.
struct OdsSheet<'a> {
    archive: &'a mut DocumentArchive,
    index: usize,
    limits: &'a ReadLimits,
    /// What the sheet has besides its cells, after a visit of all of them.
    tail: OdsTail,
    strings: SharedStrings,
}

impl<'a> OdsSheet<'a> {
    fn new(archive: &'a mut DocumentArchive, index: usize, limits: &'a ReadLimits) -> Self {
        Self { archive, index, limits, tail: OdsTail::default(), strings: SharedStrings::none() }
    }
}

impl CellSource for OdsSheet<'_> {
    fn visit(&mut self, visitor: &mut dyn CellVisitor) -> Result<Option<SheetTail>, UnreadableFile> {
        let stream = self.archive.stream("content.xml")?;
        let Some(tail) = visit_ods(stream, self.index, self.limits, visitor)? else { return Ok(None) };
        let sheet = tail.sheet.clone();
        self.tail = tail;
        Ok(Some(sheet))
    }

    fn strings(&mut self, _last: u32) -> Result<&SharedStrings, UnreadableFile> {
        Ok(&self.strings)
    }

    fn link_target(&self, link: &SheetLink) -> Option<String> {
        link.location.clone()
    }
}
