//! Files that are broken, or made to do harm.

use a2c_documents::model::UnreadableCode;
use a2c_documents::{ReadLimits, Source, word};

use crate::archive::{package, relationships, word};
use crate::pages;

#[test]
fn broken_files_are_refused_with_a_reason() {
    let old: Vec<u8> = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
        .into_iter()
        .chain("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    for (source, code) in [
        (Source::Bytes(old.into()), UnreadableCode::Encrypted),
        (Source::Bytes(b"hello".to_vec().into()), UnreadableCode::Corrupt),
        (package(&[("other.xml", "<x/>")]), UnreadableCode::Corrupt),
        (package(&[("word/document.xml", "<w:document><w:body><w:p>")]), UnreadableCode::Corrupt),
        (package(&[("word/document.xml", "<!DOCTYPE x><w:document/>")]), UnreadableCode::Corrupt),
        (package(&[("word/document.xml", &"<w:tbl>".repeat(300))]), UnreadableCode::TooLarge),
    ] {
        let problem = word::open(&source, &ReadLimits::default()).err().unwrap();
        assert_eq!(problem.code, code, "{problem}");
    }
}

#[test]
fn what_was_read_before_a_mistake_is_kept() {
    let source =
        package(&[("word/document.xml", "<w:document><w:body><w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:r>")]);
    let mut reader = word::open(&source, &ReadLimits::default()).unwrap();
    let pages = pages(&mut *reader);
    assert!(pages[0].partial);
    assert_eq!(pages[0].elements.len(), 2);
    assert_eq!(pages[0].elements[1].metadata.error.as_deref(), Some("corrupt"));
    assert_eq!(reader.warnings().len(), 1);
}

#[test]
fn what_is_large_and_mentioned_often_is_read_once() {
    let rels = relationships(&[("c", "chart", "c.xml"), ("f", "footnotes", "f.xml")]);
    let values: String = (0..5_000).map(|n| format!("<c:pt idx=\"{n}\"><c:v>{n}</c:v></c:pt>")).collect();
    let chart = format!("<c:chartSpace><c:ser><c:val>{values}</c:val></c:ser></c:chartSpace>");
    let note =
        format!("<x><w:footnote w:id=\"1\"><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:footnote></x>", "y".repeat(50_000));
    let body = "<w:p><w:r><w:footnoteReference w:id=\"1\"/><w:drawing><c:chart r:id=\"c\"/></w:drawing></w:r></w:p>";
    let parts = [
        ("word/_rels/document.xml.rels", rels.as_str()),
        ("word/c.xml", chart.as_str()),
        ("word/f.xml", note.as_str()),
    ];
    let mut reader = word::open(&word(&body.repeat(5_000), &parts), &ReadLimits::default()).unwrap();
    let elements: usize = pages(&mut *reader).iter().map(|page| page.elements.len()).sum();
    assert_eq!(elements, 3, "the mark of the note, the chart, the note");
}

#[test]
fn the_rows_of_a_table_before_a_mistake_are_kept() {
    let text = "<w:document><w:body><w:tbl><w:tr><w:tc><w:p><w:r><w:t>kept</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc>";
    let mut reader = word::open(&package(&[("word/document.xml", text)]), &ReadLimits::default()).unwrap();
    assert_eq!(pages(&mut *reader)[0].elements.len(), 2);
}

#[test]
fn nesting_and_masses_are_bounded() {
    let table = format!("{}x{}", "<w:tbl><w:tr><w:tc>".repeat(60), "</w:tc></w:tr></w:tbl>".repeat(60));
    let boxes = format!(
        "{}<w:p><w:r><w:t>x</w:t></w:r></w:p>{}",
        "<w:p><w:r><w:drawing><w:txbxContent>".repeat(50),
        "</w:txbxContent></w:drawing></w:r></w:p>".repeat(50)
    );
    let wide = "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"4000000000\"/></w:tcPr></w:tc></w:tr></w:tbl>";
    let paragraphs = "<w:p><w:r><w:t>a</w:t></w:r></w:p>".repeat(100_000);
    let cells = format!("<w:tbl>{}</w:tbl>", "<w:tr><w:tc/></w:tr>".repeat(100_000));
    let limits = ReadLimits { document_bytes: 1 << 20, ..ReadLimits::default() };
    for body in [&table, &boxes, wide, &paragraphs, &cells] {
        let read = word::open(&word(body, &[]), &limits);
        let elements: usize =
            read.map_or(0, |mut reader| pages(&mut *reader).iter().map(|page| page.elements.len()).sum());
        assert!(elements < 5_000, "{elements} elements of {}", &body[..40]);
    }
}
