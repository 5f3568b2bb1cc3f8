//! What reportlab does not write.

use a2c_documents::model::{AnnotationKind, ElementContent};

use crate::raw_file::{FONT, deflated, one_page, stream, text_page};
use crate::{markdown, open_bytes, page};

fn text(content: &str) -> String {
    markdown(&mut *open_bytes(text_page(content)).unwrap(), 0)
}

#[test]
fn gaps_in_a_line_are_blanks_and_lines_are_joined() {
    assert_eq!(
        text(
            "BT /F 12 Tf 50 700 Td [(Hello) -300 (w) 20 (orld)] TJ 0 -14 Td (with a hyphen-) Tj 0 -14 Td (ated word) Tj ET"
        ),
        "Hello world with a hyphenated word"
    );
    assert_eq!(text("BT /F 12 Tf 3 Tc 50 700 Td (spread letters) Tj ET"), "spread letters");
    assert_eq!(text("BT /F 12 Tf 50 700 Td (twice) Tj ET BT /F 12 Tf 50.3 700 Td (twice) Tj ET"), "twice");
}

#[test]
fn raised_words_stay_in_their_line() {
    let content = "BT /F 12 Tf 50 700 Td (The area is 5 m) Tj /F 7 Tf 4 Ts (2) Tj /F 12 Tf 0 Ts ( large) Tj 0 -14 Td (in all) Tj ET";
    assert_eq!(text(content), "The area is 5 m2 large in all");
}

#[test]
fn turned_pages_and_turned_lines_are_read() {
    let content = stream("", b"BT /F 12 Tf 0 1 -1 0 300 100 Tm (sideways words) Tj ET");
    for turn in ["", "/Rotate 90", "/Rotate 270"] {
        let bytes = one_page(content.clone(), &format!("{FONT} {turn}"), &[]);
        assert_eq!(markdown(&mut *open_bytes(bytes).unwrap(), 0), "sideways words", "{turn}");
    }
}

#[test]
fn ligatures_of_a_font_are_letters() {
    let font = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica \
                /Encoding << /Differences [1 /fi /ffl] >> >> >> >>";
    let bytes = one_page(stream("", b"BT /F 12 Tf 50 700 Td (\\001nd wa\\002e) Tj ET"), font, &[]);
    assert_eq!(markdown(&mut *open_bytes(bytes).unwrap(), 0), "find waffle");
}

#[test]
fn marks_tell_headings_hidden_layers_and_what_is_meant() {
    let content = "/H2 <</MCID 0>> BDC BT /F 12 Tf 50 700 Td (A heading) Tj ET EMC \
                   /Artifact <</Type /Pagination /Subtype /Footer>> BDC BT /F 12 Tf 50 400 Td (everywhere) Tj ET EMC \
                   BT /F 12 Tf 50 600 Td (meant as ) Tj /Span <</ActualText (this)>> BDC (xyz) Tj EMC ET \
                   /OC /L BDC BT /F 12 Tf 50 500 Td (not shown) Tj ET EMC";
    let entries = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> \
                   /Properties << /L 5 0 R >> >>";
    let mut bytes = one_page(stream("", content.as_bytes()), entries, &[b"<< /Type /OCG /Name (L) >>".to_vec()]);
    let catalog = b"<< /Type /Catalog /Pages 2 0 R >>";
    let at = bytes.windows(catalog.len()).position(|part| part == catalog).unwrap();
    let off = b"<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [5 0 R] /D << /OFF [5 0 R] >> >> >>";
    bytes.splice(at..at + catalog.len(), *off);
    assert_eq!(markdown(&mut *open_bytes(bytes).unwrap(), 0), "## A heading\n\nmeant as this\n\n[footer: everywhere]");
}

#[test]
fn notes_have_authors_and_say_what_they_mark() {
    let note = "/Annots [ << /Type /Annot /Subtype /Highlight /Rect [50 695 95 715] /QuadPoints [50 715 95 715 50 695 95 695] \
                /Contents (Really?) /T (Ada) /M (D:20260102030405Z) >> ]";
    let content = stream("", b"BT /F 12 Tf 50 700 Td (marked words and others) Tj ET");
    let mut reader = open_bytes(one_page(content, &format!("{FONT} {note}"), &[])).unwrap();
    let expected = ElementContent::Annotation {
        kind: AnnotationKind::Comment,
        text: "Really?".into(),
        author: Some("Ada".into()),
        date: Some("2026-01-02T03:04:05Z".into()),
        target: Some("marked".into()),
        error: None,
    };
    assert_eq!(page(&mut *reader, 0).elements[1].content, expected);
}

#[test]
fn pictures_of_every_kind_have_bytes() {
    let indexed = "/Type /XObject /Subtype /Image /Width 4 /Height 4 /BitsPerComponent 2 \
                   /ColorSpace [/Indexed /DeviceRGB 3 <000000ff000000ff000000ff>] /Filter /FlateDecode";
    let photograph = "/Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /DCTDecode";
    let entries = "/Resources << /XObject << /A 5 0 R /B 6 0 R >> >>";
    let content = stream("", b"q 100 0 0 100 50 500 cm /A Do Q q 100 0 0 100 50 300 cm /B Do Q");
    let images = [stream(indexed, &deflated(&[0x1b; 4])), stream(photograph, b"\xff\xd8\xff photograph")];
    let mut reader = open_bytes(one_page(content, entries, &images)).unwrap();
    let page = page(&mut *reader, 0);
    let blobs: Vec<Vec<u8>> =
        page.elements.iter().map(|element| reader.blob(element.blob.as_ref().unwrap()).unwrap()).collect();
    assert!(blobs[0].starts_with(b"\x89PNG"));
    assert_eq!(blobs[1], b"\xff\xd8\xff photograph");
    let nowhere = a2c_documents::model::BlobPlace { part: "99 0".into(), mime_type: "image/png".into() };
    assert!(reader.blob(&nowhere).is_err());
}
