//! Reads xls and xlsb files. `calamine` knows their records; what it holds is bounded before it is asked, and where it
//! panics, the file is broken.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use a2c_document_model::{
    BlobPlace, CellPlace, CellRange, DocumentProperties, PageDraft, PageHead, UnreadableCode, UnreadableFile,
};
use calamine::{Data, Reader, Sheet, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError};

use super::biff::{BiffOutline, read_outline};
use super::cell_grid::CellGrid;
use super::cell_text::CellDisplay;
use super::compound_file::CompoundFile;
use super::serial_date::DateSystem;
use super::sheet_tables::{SheetView, scan_sheet};
use super::styles::CellStyles;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::source::Source;

/// The size of an xls file, in bytes: all of it is held, and all of its cells.
const XLS_BYTES: u64 = 128 << 20;
/// The cells of a sheet of an xlsb file.
const XLSB_CELLS: usize = 4 << 20;

/// A workbook of records.
pub(super) struct BinaryWorkbook {
    records: Records,
    limits: ReadLimits,
    styles: CellStyles,
    dates: DateSystem,
    properties: DocumentProperties,
    sheets: Vec<Sheet>,
    pages: Vec<PageHead>,
    /// The sheet that was read last.
    last: Option<(usize, CellGrid)>,
}

enum Records {
    Xls(Box<Xls<Cursor<Arc<[u8]>>>>, BiffOutline),
    Xlsb(Box<Xlsb<Cursor<Arc<[u8]>>>>),
}

impl BinaryWorkbook {
    /// Opens an xls file.
    pub(super) fn open_xls(
        mut container: CompoundFile,
        source: &Source,
        limits: &ReadLimits,
    ) -> Result<Self, UnreadableFile> {
        let limit = limits.file_bytes.min(XLS_BYTES);
        let stream = match container.read("Workbook", limit)? {
            Some(stream) => stream,
            None => container.read("Book", limit)?.ok_or_else(|| {
                UnreadableFile::new(UnreadableCode::Unsupported, "the file is no workbook, but another old Office file")
            })?,
        };
        let mut outline = read_outline(&stream)?;
        drop(stream);
        let bytes = source.bytes(limit)?;
        let xls = guarded(|| Xls::new(Cursor::new(bytes)).map_err(|error| xls_error(&error)))?;
        let dates = if xls.has_1904_epoch() { DateSystem::Since1904 } else { DateSystem::Since1900 };
        let (sheets, styles) = (xls.sheets_metadata().to_vec(), std::mem::take(&mut outline.styles));
        Ok(Self::new(Records::Xls(Box::new(xls), outline), sheets, styles, dates, limits))
    }

    /// Opens an xlsb file, whose archive was checked.
    pub(super) fn open_xlsb(
        archive: DocumentArchive,
        source: &Source,
        limits: &ReadLimits,
    ) -> Result<Self, UnreadableFile> {
        drop(archive);
        let bytes = source.bytes(limits.file_bytes.min(XLS_BYTES))?;
        let xlsb = guarded(|| Xlsb::new(Cursor::new(bytes)).map_err(|error| xlsb_error(&error)))?;
        let dates = if xlsb.has_1904_epoch() { DateSystem::Since1904 } else { DateSystem::Since1900 };
        let sheets = xlsb.sheets_metadata().to_vec();
        Ok(Self::new(Records::Xlsb(Box::new(xlsb)), sheets, CellStyles::default(), dates, limits))
    }

    fn new(records: Records, sheets: Vec<Sheet>, styles: CellStyles, dates: DateSystem, limits: &ReadLimits) -> Self {
        let head = |sheet: &Sheet| PageHead {
            title: Some(sheet.name.clone()),
            hidden: sheet.visible != SheetVisible::Visible,
        };
        let pages = sheets.iter().map(head).collect();
        let properties = DocumentProperties::default();
        Self { records, limits: limits.clone(), styles, dates, properties, sheets, pages, last: None }
    }

    fn grid(&mut self, index: usize) -> Result<CellGrid, UnreadableFile> {
        let Some(sheet) = self.sheets.get(index) else {
            return Err(UnreadableFile::corrupt(format!("the workbook has no sheet {index}")));
        };
        // A sheet that is a chart or a dialog has no cells.
        if !matches!(sheet.typ, SheetType::WorkSheet | SheetType::MacroSheet) {
            return Ok(CellGrid::default());
        }
        let name = sheet.name.clone();
        let dates = self.dates;
        match &mut self.records {
            Records::Xls(xls, outline) => guarded(|| xls_grid(xls, outline, index, &name, dates)),
            Records::Xlsb(xlsb) => guarded(|| xlsb_grid(xlsb, &name, dates)),
        }
    }
}

fn xls_grid(
    xls: &mut Xls<Cursor<Arc<[u8]>>>,
    outline: &BiffOutline,
    index: usize,
    name: &str,
    dates: DateSystem,
) -> Result<CellGrid, UnreadableFile> {
    let mut grid = CellGrid::default();
    let values = xls.worksheet_range(name).map_err(|error| xls_error(&error))?;
    let (top, left) = values.start().unwrap_or_default();
    let styles = outline.sheets.get(index);
    for (row, column, value) in values.used_cells() {
        let place = CellPlace { row: top + row as u32, column: left + column as u32 };
        let style = styles.and_then(|styles| styles.get(&place)).copied();
        grid.add(place, value, style, dates);
    }
    let formulas = xls.worksheet_formula(name).map_err(|error| xls_error(&error))?;
    let (top, left) = formulas.start().unwrap_or_default();
    for (row, column, formula) in formulas.used_cells() {
        grid.add_formula(CellPlace { row: top + row as u32, column: left + column as u32 }, formula);
    }
    let merges = xls.merge_cells_by_sheet_name(name).unwrap_or_default();
    grid.merges = merges
        .iter()
        .map(|merge| CellRange {
            first: CellPlace { row: merge.start.0, column: merge.start.1 },
            last: CellPlace { row: merge.end.0, column: merge.end.1 },
        })
        .collect();
    Ok(grid)
}

fn xlsb_grid(xlsb: &mut Xlsb<Cursor<Arc<[u8]>>>, name: &str, dates: DateSystem) -> Result<CellGrid, UnreadableFile> {
    let mut grid = CellGrid::default();
    let mut count = 0;
    let mut counted = || {
        count += 1;
        match count > XLSB_CELLS {
            true => Err(UnreadableFile::too_large(format!("the sheet `{name}` has more than {XLSB_CELLS} cells"))),
            false => Ok(()),
        }
    };
    let mut cells = xlsb.worksheet_cells_reader(name).map_err(|error| xlsb_error(&error))?;
    while let Some(cell) = cells.next_cell().map_err(|error| xlsb_error(&error))? {
        counted()?;
        let (row, column) = cell.get_position();
        grid.add(CellPlace { row, column }, &Data::from(cell.get_value().clone()), None, dates);
    }
    drop(cells);
    let mut cells = xlsb.worksheet_cells_reader(name).map_err(|error| xlsb_error(&error))?;
    while let Some(cell) = cells.next_formula().map_err(|error| xlsb_error(&error))? {
        counted()?;
        let (row, column) = cell.get_position();
        grid.add_formula(CellPlace { row, column }, cell.get_value());
    }
    Ok(grid)
}

impl FormatReader for BinaryWorkbook {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.pages
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let mut grid = match self.last.take().filter(|(last, _)| *last == index) {
            Some((_, grid)) => grid,
            None => self.grid(index)?,
        };
        let head = self.pages.get(index).cloned().unwrap_or_default();
        let title = head.title.unwrap_or_default();
        let display = CellDisplay { styles: &self.styles, dates: self.dates };
        let view = SheetView { display, limits: &self.limits, header_rows: &[] };
        let mut source = &mut grid;
        let scan = scan_sheet(&mut source, &self.limits, None)?;
        let mut placed = view.tables(&mut source, &scan, request.rows)?;
        if let Some((at, window)) = request.detail
            && let Some(element) = placed.get(at)
            && let Some(detail) = view.detail(&mut source, &scan, element, window)?
        {
            placed[at].draft = detail;
        }
        self.last = Some((index, grid));
        let elements = placed.into_iter().map(|element| element.draft).collect();
        Ok(PageDraft { title: title.clone(), elements, key: title, hidden: head.hidden, partial: false })
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        Err(UnreadableFile::corrupt(format!("the workbook has no part `{}`", place.part)))
    }
}

/// Runs a reader that panics at some broken files.
fn guarded<T>(read: impl FnOnce() -> Result<T, UnreadableFile>) -> Result<T, UnreadableFile> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(UnreadableFile::corrupt("the records of the workbook are broken")))
}

fn xls_error(error: &XlsError) -> UnreadableFile {
    match error {
        XlsError::Password => {
            UnreadableFile::new(UnreadableCode::Encrypted, "the workbook is encrypted: it wants a password")
        }
        error => UnreadableFile::corrupt(format!("the workbook cannot be read: {error}")),
    }
}

fn xlsb_error(error: &XlsbError) -> UnreadableFile {
    match error {
        XlsbError::Password => {
            UnreadableFile::new(UnreadableCode::Encrypted, "the workbook is encrypted: it wants a password")
        }
        error => UnreadableFile::corrupt(format!("the workbook cannot be read: {error}")),
    }
}
