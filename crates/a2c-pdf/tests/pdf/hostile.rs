//! Files that are broken, or made to do harm.

use a2c_documents::model::{ElementContent, UnreadableCode};
use a2c_documents::{PageRequest, ReadLimits, Source};

use crate::raw_file::{FONT, deflated, file, one_page, stream, text_page};
use crate::{markdown, open_bytes, page};

#[test]
fn broken_files_are_refused_with_a_reason() {
    for bytes in [&b""[..], b"%PDF-1.7", b"%PDF-1.7\nstartxref\n9999999\n%%EOF", &[0xff; 1000], b"hello"] {
        let problem = open_bytes(bytes.to_vec()).err().unwrap();
        assert_eq!(problem.code, UnreadableCode::Corrupt, "{problem}");
    }
    let no_pages =
        file(&[b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), b"<< /Type /Pages /Kids [] /Count 0 >>".to_vec()]);
    assert_eq!(open_bytes(no_pages).err().unwrap().code, UnreadableCode::Corrupt);
}

#[test]
fn every_beginning_of_a_file_is_read_or_refused() {
    let whole = text_page("BT /F 12 Tf 50 700 Td (some words) Tj ET");
    for end in 0..whole.len() {
        if let Ok(mut reader) = open_bytes(whole[..end].to_vec()) {
            for index in 0..reader.pages().len() {
                let _ = reader.page(index, &PageRequest::default());
            }
        }
    }
}

#[test]
fn circles_end() {
    // A page tree that is its own child.
    let tree = file(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R] /Parent 2 0 R /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R >>".to_vec(),
    ]);
    assert_eq!(open_bytes(tree).unwrap().pages().len(), 1);
    // A form that draws itself, and two that draw each other.
    let form = |draws: &str| {
        let entries = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 5 0 R /B 6 0 R >> >>";
        stream(entries, format!("{draws} BT 12 0 0 12 50 700 Tm (x) Tj ET").as_bytes())
    };
    let entries = "/Resources << /XObject << /A 5 0 R >> >>";
    let bytes = one_page(stream("", b"/A Do"), entries, &[form("/A Do /B Do"), form("/A Do /B Do")]);
    assert!(open_bytes(bytes).unwrap().page(0, &PageRequest::default()).is_ok());
    // Bookmarks, fields and names in circles.
    let fields = one_page(
        stream("", b""),
        "/Annots [5 0 R]",
        &[b"<< /Subtype /Widget /FT /Tx /T (f) /Parent 5 0 R /Rect [0 0 9 9] >>".to_vec()],
    );
    assert!(open_bytes(fields).unwrap().page(0, &PageRequest::default()).is_ok());
    let outline = file(&[
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R /Names << /Dests 5 0 R >> >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R >>".to_vec(),
        b"<< /First 6 0 R >>".to_vec(),
        b"<< /Kids [5 0 R 5 0 R] >>".to_vec(),
        b"<< /First 7 0 R /Next 7 0 R /Title (loop) /Dest [3 0 R /Fit] >>".to_vec(),
        b"<< /First 6 0 R /Next 6 0 R /Title (back) /Dest [3 0 R /Fit] >>".to_vec(),
    ]);
    assert_eq!(open_bytes(outline).unwrap().pages()[0].title.as_deref(), Some("loop"));
}

#[test]
fn forms_that_multiply_are_cut() {
    // Each form draws the next one ten times: 10^12 in all.
    let forms: Vec<Vec<u8>> = (0..12)
        .map(|number| {
            let next = if number < 11 { number + 6 } else { 5 };
            let entries =
                format!("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /N {next} 0 R >> >>");
            stream(&entries, "/N Do ".repeat(10).as_bytes())
        })
        .collect();
    let bytes = one_page(stream("", b"/N Do"), "/Resources << /XObject << /N 5 0 R >> >>", &forms);
    let limits = ReadLimits { page_operations: 100_000, ..ReadLimits::default() };
    let mut reader = a2c_pdf::open(&Source::Bytes(bytes.into()), &limits).unwrap();
    assert_eq!(reader.page(0, &PageRequest::default()).unwrap_err().code, UnreadableCode::TooLarge);
}

#[test]
fn streams_that_inflate_without_end_are_refused() {
    let limits = ReadLimits { text_part_bytes: 1 << 20, ..ReadLimits::default() };
    let open = |bytes: Vec<u8>| a2c_pdf::open(&Source::Bytes(bytes.into()), &limits).unwrap();
    let bomb = deflated(&vec![b' '; 2 << 20]);
    let content = stream("/Filter /FlateDecode", &bomb);
    let twice = stream("/Filter [/FlateDecode /FlateDecode]", &deflated(&bomb));
    for content in [content, twice] {
        let mut reader = open(one_page(content, FONT, &[]));
        assert_eq!(reader.page(0, &PageRequest::default()).unwrap_err().code, UnreadableCode::TooLarge);
    }
    // The font's own table: its text is read as if there were none.
    let font =
        "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >> >> >>";
    let text = stream("", b"BT /F 12 Tf 50 700 Td (words) Tj ET");
    let bytes = one_page(text, font, &[stream("/Filter /FlateDecode", &bomb)]);
    assert_eq!(markdown(&mut *open(bytes), 0), "words");
}

#[test]
fn objects_packed_in_bombs_are_refused() {
    let bomb = deflated(&vec![b' '; 2 << 20]);
    let bytes = one_page(stream("", b""), "", &[stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &bomb)]);
    let limits = ReadLimits { archive_bytes: 4 << 20, ..ReadLimits::default() };
    let problem = a2c_pdf::open(&Source::Bytes(bytes.into()), &limits).err().unwrap();
    assert_eq!(problem.code, UnreadableCode::TooLarge);
}

#[test]
fn masses_of_glyphs_rules_and_little_texts_are_bounded() {
    let many = "BT /F 12 Tf 50 700 Td (0123456789) Tj ET ".repeat(5_000);
    let limits = ReadLimits { page_glyphs: 20_000, ..ReadLimits::default() };
    let mut reader = a2c_pdf::open(&Source::Bytes(text_page(&many).into()), &limits).unwrap();
    let page_read = reader.page(0, &PageRequest::default()).unwrap();
    assert!(page_read.partial);
    let last = page_read.elements.last().unwrap();
    assert_eq!(last.metadata.error.as_deref(), Some("too_large"));

    let rules: String = (0..30_000).map(|n| format!("0 {n} m 500 {n} l S {n} 0 m {n} 500 l S ")).collect();
    assert!(page(&mut *open_bytes(text_page(&rules)).unwrap(), 0).elements.is_empty());

    let texts: String =
        (0..5_000).map(|n| format!("BT /F 5 Tf {} {} Td (word{n}) Tj ET ", (n % 10) * 60, 5 + (n / 10) * 20)).collect();
    let page = page(&mut *open_bytes(text_page(&texts)).unwrap(), 0);
    assert!(page.elements.len() <= 200, "{} elements", page.elements.len());
    let all: usize = page
        .elements
        .iter()
        .map(|element| match &element.content {
            ElementContent::Text { text, .. } => text.matches("word").count(),
            ElementContent::Table(table) => table.total_rows.unwrap() * 10 + table.headers.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(all, 5_000, "no word is lost");
}

#[test]
fn nonsense_of_all_kinds_ends() {
    let deep_array = format!("{}(x) Tj", "[".repeat(100_000));
    let deep_dict = format!("/Span {} BDC", "<< /A ".repeat(50_000));
    let deep_state = "q ".repeat(200_000);
    let deep_marks = "/P BMC ".repeat(200_000);
    for content in [
        deep_array.as_str(),
        &deep_dict,
        &deep_state,
        &deep_marks,
        "BT /F 99999999999999999999999999999999999999 Tf 99999999999999999999999999999999999999 99999999999999999999999999999999999999 Td (huge) Tj ET",
        "BT /F 12 Tf 0 0 0 0 0 0 Tm (flat) Tj ET",
        "BT /F -12 Tf 50 700 Td (backwards) Tj ET",
        "BT /Nothing 12 Tf (no font) Tj ET",
        "99999999999999999999999999999999999999 0 0 99999999999999999999999999999999999999 0 0 cm BT /F 12 Tf (far) Tj ET",
        "Q Q Q EMC EMC ET h S f B* W n Do Tj TJ ' \"",
        "BI /W 99999999 /H 99999999 ID xx EI",
    ] {
        let mut reader = open_bytes(text_page(content)).unwrap();
        let _ = reader.page(0, &PageRequest::default());
    }
    for entries in [
        "/MediaBox [0 0 999999999999999999 999999999999999999]",
        "/MediaBox [0 0 0 0]",
        "/MediaBox [5 5 -5 -5] /Rotate 45",
        "/MediaBox (none) /Annots 4 0 R /Resources 4 0 R",
        "/Annots [ << /Subtype /Link /Rect [0 0 99999999999999999999999999999999999999 99999999999999999999999999999999999999] /A << /URI (x) >> >> ]",
    ] {
        let content = stream("", b"BT 12 0 0 12 50 700 Tm (x) Tj ET");
        let mut reader = open_bytes(one_page(content, entries, &[])).unwrap();
        assert!(reader.page(0, &PageRequest::default()).is_ok(), "{entries}");
    }
}

#[test]
fn a_picture_of_endless_pixels_is_refused() {
    let image = "/Type /XObject /Subtype /Image /Width 4000000000 /Height 4000000000 /BitsPerComponent 8 /ColorSpace /DeviceRGB";
    let entries = "/Resources << /XObject << /A 5 0 R >> >>";
    let content = stream("", b"q 100 0 0 100 50 500 cm /A Do Q");
    let mut reader = open_bytes(one_page(content, entries, &[stream(image, b"x")])).unwrap();
    let page = page(&mut *reader, 0);
    let problem = reader.blob(page.elements[0].blob.as_ref().unwrap()).unwrap_err();
    assert_eq!(problem.code, UnreadableCode::TooLarge);
}
