//! Slides.

use a2c_documents::model::{ElementCategory, ElementContent, IdAssigner, RowWindow, UnreadableCode};
use a2c_documents::{PageRequest, ReadLimits, Source, slides};

use crate::archive::{package, relationships};
use crate::{markdown, pages, written_by};

#[test]
fn slides_of_python_pptx_are_read_with_their_structure() {
    let (_folder, path) = written_by("office_pptx.py", "a.pptx");
    let mut reader = slides::open(&Source::open(&path).unwrap(), &ReadLimits::default()).unwrap();
    assert_eq!(reader.properties().title.as_deref(), Some("The deck"));
    assert_eq!(reader.pages().iter().map(|head| head.hidden).collect::<Vec<_>>(), [false, false, true]);
    let pages = pages(&mut *reader);
    assert_eq!(markdown(&pages), include_str!("pptx.md").trim_end());
    assert!(pages[2].hidden);

    let find = |category| pages[2].elements.iter().find(|element| element.content.category() == category).unwrap();
    assert_eq!(find(ElementCategory::Table).metadata.merges, ["A2:A3", "B3:C3"]);
    let ElementContent::Chart { chart_type, series, .. } = &find(ElementCategory::Chart).content else {
        panic!("a chart")
    };
    assert_eq!(
        (chart_type.as_str(), series[0].values.as_slice()),
        ("column", &["5".to_owned(), "30.4".to_owned()][..])
    );
    let (image, video) = (find(ElementCategory::Image).blob.clone(), find(ElementCategory::Video).blob.clone());
    assert!(reader.blob(&image.unwrap()).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(reader.blob(&video.unwrap()).unwrap(), b"film");
    assert!(reader.warnings().is_empty(), "{:?}", reader.warnings());
}

/// A presentation of one slide with these shapes, and parts besides.
fn deck(shapes: &str, rels: &[(&str, &str, &str)], parts: &[(&str, &str)]) -> Source {
    let slide = format!("<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>");
    let (deck_rels, slide_rels) =
        (relationships(&[("s", "slide", "slides/slide1.xml"), ("a", "authors", "authors.xml")]), relationships(rels));
    let mut all = vec![
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"s\"/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", deck_rels.as_str()),
        ("ppt/slides/slide1.xml", slide.as_str()),
        ("ppt/slides/_rels/slide1.xml.rels", slide_rels.as_str()),
    ];
    all.extend(parts);
    package(&all)
}

#[test]
fn diagrams_comments_counts_and_jumps_are_read() {
    let text =
        |inner: &str| format!("<p:sp><p:nvSpPr><p:cNvPr name=\"x\"/></p:nvSpPr><p:txBody>{inner}</p:txBody></p:sp>");
    let counted = |words: &str| {
        format!("<a:p><a:pPr><a:buAutoNum type=\"alphaLcParenR\"/></a:pPr><a:r><a:t>{words}</a:t></a:r></a:p>")
    };
    let shapes = format!(
        "{}{}<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm=\"d\"/></a:graphicData></a:graphic></p:graphicFrame>",
        text(&format!("{}{}", counted("one"), counted("two"))),
        text(
            "<a:p><a:r><a:rPr><a:hlinkClick r:id=\"j\" action=\"ppaction://hlinksldjump\"/></a:rPr><a:t>back</a:t></a:r></a:p>"
        ),
    );
    let data = "<dgm:dataModel><dgm:ptLst><dgm:pt modelId=\"0\" type=\"doc\"/><dgm:pt modelId=\"1\"><dgm:t><a:p><a:r><a:t>Start</a:t></a:r></a:p>\
                </dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId=\"0\" destId=\"1\"/></dgm:cxnLst></dgm:dataModel>";
    let comments = "<p188:cmLst><p188:cm authorId=\"{1}\" created=\"2026-01-02\"><p188:replyLst><p188:reply authorId=\"{2}\"><p188:txBody>\
                    <a:p><a:r><a:t>No.</a:t></a:r></a:p></p188:txBody></p188:reply></p188:replyLst><p188:txBody><a:p><a:r><a:t>Right?</a:t></a:r></a:p>\
                    </p188:txBody></p188:cm></p188:cmLst>";
    let source = deck(
        &shapes,
        &[("d", "diagramData", "../d.xml"), ("j", "slide", "slide1.xml"), ("c", "comments", "../c.xml")],
        &[
            ("ppt/d.xml", data),
            ("ppt/c.xml", comments),
            (
                "ppt/authors.xml",
                "<p188:authorLst><p188:author id=\"{1}\" name=\"Ada\"/><p188:author id=\"{2}\" name=\"Bob\"/></p188:authorLst>",
            ),
        ],
    );
    let pages = pages(&mut *slides::open(&source, &ReadLimits::default()).unwrap());
    assert_eq!(
        markdown(&pages),
        "- a) one\n- b) two\n\n[back](#page-0)\n\n[diagram: Start]\n\n[annotation: Ada: Right?]\n\n[annotation: Bob: No.]"
    );
}

#[test]
fn a_page_gives_the_rows_that_are_wanted_and_its_ids_are_its_own() {
    let row = "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr>";
    let source = deck(&format!("<p:graphicFrame><a:tbl>{}</a:tbl></p:graphicFrame>", row.repeat(50)), &[], &[]);
    let mut reader = slides::open(&source, &ReadLimits::default()).unwrap();
    let rows = |request: &PageRequest, reader: &mut dyn a2c_documents::FormatReader| {
        let page = IdAssigner::default().page(0, reader.page(0, request).unwrap());
        match &page.elements[0].content {
            ElementContent::Table(table) => (table.rows.len(), table.total_rows, table.truncated),
            _ => panic!("a table"),
        }
    };
    assert_eq!(rows(&PageRequest::default(), &mut *reader), (20, Some(50), true));
    let detail = PageRequest { detail: Some((0, RowWindow::OF_ELEMENT)), ..PageRequest::default() };
    assert_eq!(rows(&detail, &mut *reader), (50, Some(50), false));
    assert_eq!(reader.page(0, &detail).unwrap().key, "256");
}

#[test]
fn hostile_slides_are_bounded() {
    let deep = "<p:grpSp>".repeat(300);
    let reader = slides::open(&deck(&deep, &[], &[]), &ReadLimits::default());
    assert_eq!(reader.unwrap().page(0, &PageRequest::default()).unwrap_err().code, UnreadableCode::TooLarge);
    let shape = "<p:sp><p:txBody><a:p><a:r><a:t>word</a:t></a:r></a:p></p:txBody></p:sp>";
    let mut reader = slides::open(&deck(&shape.repeat(5000), &[], &[]), &ReadLimits::default()).unwrap();
    let page = reader.page(0, &PageRequest::default()).unwrap();
    assert_eq!(page.elements.len(), 200);
    let ElementContent::Text { text, .. } = &page.elements[199].content else { panic!("a text") };
    assert_eq!(text.lines().count(), 4801, "no word is lost");
}
