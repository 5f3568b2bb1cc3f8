//! Spreadsheets: a page for each sheet, whose used ranges are tables.
//!
//! An xlsx file is read by this module itself: `byte_scanner` finds the tags, `sheet_xml` makes cells of them, `layout`
//! and `extract` take them one after the other, and `sheet_tables` makes elements of what these kept. Numbers become
//! texts in `number_format` and what it uses.

mod biff;
mod binary_workbook;
mod bounds;
mod byte_scanner;
mod cell;
mod cell_grid;
mod cell_text;
mod chart_element;
mod chart_part;
mod comments;
mod compound_file;
mod date_display;
mod drawing;
mod extract;
mod format_sections;
mod formula;
mod header_row;
mod layout;
mod number_display;
mod number_format;
mod ods;
mod ods_cells;
mod page_setup;
mod pivot;
mod properties;
mod range_values;
mod relationships;
mod serial_date;
mod shared_strings;
mod sheet_elements;
mod sheet_objects;
mod sheet_tables;
mod sheet_xml;
mod styles;
mod workbook;
mod xlsx;

use std::io::Read;

use a2c_document_model::{UnreadableCode, UnreadableFile};

use self::binary_workbook::BinaryWorkbook;
use self::compound_file::CompoundFile;
use self::ods::OdsWorkbook;
use self::xlsx::XlsxWorkbook;

use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

/// Opens a workbook, whichever format it has.
pub fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut head = [0; 8];
    let is_old = source.reader()?.read_exact(&mut head).is_ok() && head == compound_file::SIGNATURE;
    if is_old {
        let container = CompoundFile::open(source)?;
        if container.has("EncryptedPackage") {
            return Err(UnreadableFile::new(
                UnreadableCode::Encrypted,
                "the workbook is encrypted: it wants a password",
            ));
        }
        return Ok(Box::new(BinaryWorkbook::open_xls(container, source, limits)?));
    }
    let mut archive = DocumentArchive::open(source, limits)?;
    match workbook::workbook_part(&mut archive, limits)? {
        Some(part) if part.ends_with(".bin") => Ok(Box::new(BinaryWorkbook::open_xlsb(archive, source, limits)?)),
        Some(part) => Ok(Box::new(XlsxWorkbook::open(archive, &part, limits)?)),
        None if archive.has("content.xml") => Ok(Box::new(OdsWorkbook::open(archive, limits)?)),
        None => Err(UnreadableFile::corrupt("the file is no workbook")),
    }
}
