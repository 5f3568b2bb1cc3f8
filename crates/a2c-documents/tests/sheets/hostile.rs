//! Workbooks that were made to do harm.

use std::io::{Cursor, Write};

use a2c_document_model::{ElementContent, PageDraft, UnreadableCode, UnreadableFile};
use a2c_documents::{PageRequest, ReadLimits, Source, spreadsheet};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of these parts.
pub(crate) fn archive(parts: &[(&str, &str)]) -> Source {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        archive.write_all(text.as_bytes()).expect("bytes");
    }
    Source::Bytes(archive.finish().expect("an archive").into_inner().into())
}

/// A workbook of one sheet with these parts besides.
fn workbook(sheet: &str, more: &[(&str, &str)]) -> Source {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |id: &str, of: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{kind}/{of}\" Target=\"{target}\"/>")
    };
    let root = format!("<Relationships>{}</Relationships>", relation("r", "officeDocument", "xl/workbook.xml"));
    let related = format!(
        "<Relationships>{}{}</Relationships>",
        relation("r1", "worksheet", "s.xml"),
        relation("r2", "sharedStrings", "strings.xml")
    );
    let parts = [
        ("_rels/.rels", root.as_str()),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"S\" r:id=\"r1\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", related.as_str()),
        ("xl/s.xml", sheet),
    ];
    archive(&[&parts, more].concat())
}

fn read(source: &Source, limits: &ReadLimits) -> Result<PageDraft, UnreadableFile> {
    spreadsheet::open(source, limits)?.page(0, &PageRequest::default())
}

#[test]
fn two_cells_at_the_ends_of_a_sheet_cost_nothing() {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row></sheetData>\
                 <mergeCells><mergeCell ref=\"A1:XFD1048576\"/></mergeCells></worksheet>";
    let page = read(&workbook(sheet, &[]), &ReadLimits::default()).unwrap();
    assert_eq!(page.elements.len(), 2);
}

#[test]
fn scattered_cells_become_a_table_within_the_limits() {
    let rows: String = (0..5_000).map(|n| format!("<row r=\"{}\"><c><v>{n}</v></c></row>", n * 2 + 1)).collect();
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let page = read(&workbook(&sheet, &[]), &ReadLimits::default()).unwrap();
    let [element] = &page.elements[..] else { panic!("{} elements", page.elements.len()) };
    let ElementContent::Table(table) = &element.content else { panic!("{element:?}") };
    assert_eq!((table.total_rows, table.rows.len()), (Some(9_999), 20));
}

#[test]
fn a_long_text_in_every_cell_is_not_multiplied() {
    let text = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(100_000));
    let row: String = "<c t=\"s\"><v>0</v></c>".repeat(10_000);
    let sheet = format!("<worksheet><sheetData><row>{row}</row><row>{row}</row></sheetData></worksheet>");
    let limits = ReadLimits { entry_ratio: 100_000, ..ReadLimits::default() };
    let page = read(&workbook(&sheet, &[("xl/strings.xml", &text)]), &limits).unwrap();
    let size: usize = page.elements.iter().map(|element| format!("{:?}", element.content).len()).sum();
    assert!(size < 8 << 20, "{size}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let many: String = "<mergeCell ref=\"A1:B2\"/>".repeat(100_001);
    let limits = ReadLimits { entry_ratio: 100_000, ..ReadLimits::default() };
    for (sheet, code) in [
        (format!("<worksheet><mergeCells>{many}</mergeCells></worksheet>"), UnreadableCode::TooLarge),
        (format!("<worksheet {}/>", "a=\"1\" ".repeat(80_000)), UnreadableCode::TooLarge),
        ("<!DOCTYPE x [<!ENTITY a \"b\">]><worksheet/>".to_owned(), UnreadableCode::Corrupt),
        ("<worksheet><sheetData><row><c><v>1".to_owned() + &" ".repeat(9) + "</v", UnreadableCode::Corrupt),
    ] {
        assert_eq!(read(&workbook(&sheet, &[]), &limits).unwrap_err().code, code, "{}", &sheet[..30]);
    }
    let bomb = workbook(&" ".repeat(20 << 20), &[]);
    assert_eq!(read(&bomb, &ReadLimits::default()).unwrap_err().code, UnreadableCode::TooLarge);
    for bytes in [&b""[..], b"PK\x03\x04", b"no archive"] {
        let source = Source::Bytes(bytes.into());
        assert_eq!(read(&source, &ReadLimits::default()).unwrap_err().code, UnreadableCode::Corrupt);
    }
}

/// A container of old Office files with one stream, whose directory is its first sector and whose table the second.
fn container(stream: &str) -> Vec<u8> {
    let mut bytes = vec![0; 512 * 3];
    bytes[..8].copy_from_slice(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    bytes[30] = 9;
    bytes[76..512].fill(0xff);
    bytes[60..64].fill(0xff);
    bytes[68..72].fill(0xff);
    bytes[76..80].copy_from_slice(&1_u32.to_le_bytes());
    for (at, unit) in stream.encode_utf16().enumerate() {
        bytes[512 + at * 2..514 + at * 2].copy_from_slice(&unit.to_le_bytes());
    }
    bytes[512 + 64] = (stream.len() * 2 + 2) as u8;
    bytes[512 + 66] = 2;
    bytes[1024..].fill(0xff);
    bytes
}

#[test]
fn an_encrypted_workbook_says_so() {
    for (stream, code) in [
        ("EncryptedPackage", UnreadableCode::Encrypted),
        ("WordDocument", UnreadableCode::Unsupported),
        ("Workbook", UnreadableCode::Corrupt),
    ] {
        let source = Source::Bytes(container(stream).into());
        assert_eq!(read(&source, &ReadLimits::default()).unwrap_err().code, code, "{stream}");
    }
}

#[test]
fn a_container_that_goes_round_is_refused() {
    let mut bytes = container("Workbook");
    // The directory is followed by itself.
    bytes[1024..1028].fill(0);
    let source = Source::Bytes(bytes.into());
    assert_eq!(read(&source, &ReadLimits::default()).unwrap_err().code, UnreadableCode::Corrupt);
}

#[test]
fn cells_that_stand_for_millions_cost_little() {
    let row = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"16384\" \
               office:value-type=\"string\"><text:p>x</text:p></table:table-cell></table:table-row>";
    let content =
        format!("<office:document-content><table:table table:name=\"S\">{row}</table:table></office:document-content>");
    let page = read(&archive(&[("content.xml", &content)]), &ReadLimits::default()).unwrap();
    assert_eq!(page.elements.len(), 1);
}

#[test]
fn an_encrypted_open_document_says_so() {
    let manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
    let source = archive(&[("content.xml", "\u{1}"), ("META-INF/manifest.xml", manifest)]);
    assert_eq!(read(&source, &ReadLimits::default()).unwrap_err().code, UnreadableCode::Encrypted);
}
