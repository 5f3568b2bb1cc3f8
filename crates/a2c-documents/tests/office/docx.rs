//! Word documents.

use a2c_documents::model::{AnnotationKind, ElementCategory, ElementContent, ReadPage};
use a2c_documents::{PageRequest, ReadLimits, Source, word};

use crate::archive::{relationships, word};
use crate::{markdown, pages, written_by};

fn read(source: &Source) -> Vec<ReadPage> {
    pages(&mut *word::open(source, &ReadLimits::default()).unwrap())
}

#[test]
fn a_document_of_python_docx_is_read_with_its_structure() {
    let (_folder, path) = written_by("office_docx.py", "a.docx");
    let mut reader = word::open(&Source::open(&path).unwrap(), &ReadLimits::default()).unwrap();
    assert_eq!(reader.properties().title.as_deref(), Some("The report"));
    assert_eq!(reader.properties().author.as_deref(), Some("Ada"));
    assert_eq!(reader.properties().keywords, ["sums", "数据"]);
    assert_eq!(reader.pages()[0].title.as_deref(), Some("Report 报告"));
    let pages = pages(&mut *reader);
    assert_eq!(markdown(&pages), include_str!("docx.md").trim_end());

    let table = pages[0].elements.iter().find(|element| element.content.category() == ElementCategory::Table);
    assert_eq!(table.unwrap().metadata.merges, ["A2:A3", "B3:C3"]);
    let image = pages[1].elements.iter().find(|element| element.content.category() == ElementCategory::Image).unwrap();
    let blob = reader.blob(image.blob.as_ref().unwrap()).unwrap();
    assert!(blob.starts_with(b"\x89PNG"));
    let notes: Vec<_> = pages[1]
        .elements
        .iter()
        .filter_map(|element| match &element.content {
            ElementContent::Annotation { kind, target, date, .. } => Some((*kind, target.as_deref(), date.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(
        notes,
        [
            (AnnotationKind::Comment, Some("Some commented words here."), true),
            (AnnotationKind::TrackedChange, Some("Kept new"), true),
            (AnnotationKind::TrackedChange, Some("Kept new"), false),
        ]
    );
    assert!(reader.warnings().is_empty(), "{:?}", reader.warnings());
}

#[test]
fn notes_stand_at_the_end_of_the_page_that_mentions_them() {
    let body = "<w:p><w:r><w:t>Text</w:t></w:r><w:r><w:footnoteReference w:id=\"2\"/></w:r><w:r><w:endnoteReference w:id=\"1\"/></w:r></w:p>\
                <w:p><w:r><w:br w:type=\"page\"/></w:r><w:r><w:lastRenderedPageBreak/><w:t>Next</w:t></w:r></w:p>";
    let note = |tag: &str, id: u8, text: &str| {
        format!(
            "<x><w:{tag} w:id=\"0\" w:type=\"separator\"><w:p/></w:{tag}><w:{tag} w:id=\"{id}\"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{tag}></x>"
        )
    };
    let source = word(
        body,
        &[
            (
                "word/_rels/document.xml.rels",
                &relationships(&[("a", "footnotes", "footnotes.xml"), ("b", "endnotes", "endnotes.xml")]),
            ),
            ("word/footnotes.xml", &note("footnote", 2, "below")),
            ("word/endnotes.xml", &note("endnote", 1, "behind")),
        ],
    );
    let pages = read(&source);
    assert_eq!(
        markdown(&pages),
        "Text[1][i]\n\n[annotation: below]\n\n[annotation: behind]\n\n=====\n\nNext",
        "two breaks without text between them end one page"
    );
}

#[test]
fn fields_links_text_boxes_and_alternate_forms_are_read_once() {
    let body = "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> HYPERLINK \"https://h/x\" </w:instrText></w:r>\
         <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>linked</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>\
         <w:r><w:t xml:space=\"preserve\"> text</w:t></w:r>\
         <w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wps:txbx><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>\
         </w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>\
         </w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>\
         <w:sdt><w:sdtPr><w:alias w:val=\"no\"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>\
         <w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:b/><w:i/><w:strike/></w:rPr><w:t>all</w:t></w:r></w:p>";
    let pages = read(&word(body, &[]));
    assert_eq!(markdown(&pages), "[linked](https://h/x) text\n\nboxed\n\ncontrolled\n\n~~***all***~~");
}

#[test]
fn numbering_restarts_continues_and_numbers_headings() {
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId=\"0\">\
         <w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl>\
         <w:lvl w:ilvl=\"1\"><w:start w:val=\"1\"/><w:numFmt w:val=\"lowerLetter\"/><w:lvlText w:val=\"%2)\"/></w:lvl></w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num></w:numbering>";
    let item = |text: &str, level: u8| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let body = format!(
        "{}{}<w:p><w:r><w:t>between</w:t></w:r></w:p>{}<w:p><w:pPr><w:outlineLvl w:val=\"0\"/><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr>\
         <w:r><w:t>Chapter</w:t></w:r></w:p>",
        item("one", 0),
        item("below", 1),
        item("two", 0)
    );
    let rels = relationships(&[("n", "numbering", "numbering.xml")]);
    let source = word(&body, &[("word/_rels/document.xml.rels", &rels), ("word/numbering.xml", numbering)]);
    assert_eq!(
        markdown(&read(&source)),
        "1. one\n   - a) below\n\nbetween\n\n2. two\n\n=====\n\n# 3. Chapter",
        "the list goes on after the text"
    );
}

#[test]
fn a_page_holds_no_more_elements_than_allowed() {
    let body = "<w:p><w:r><w:t>x</w:t></w:r></w:p>".repeat(450);
    let mut reader = word::open(&word(&body, &[]), &ReadLimits::default()).unwrap();
    let counts: Vec<usize> = (0..reader.pages().len())
        .map(|index| reader.page(index, &PageRequest::default()).unwrap().elements.len())
        .collect();
    assert_eq!(counts, [200, 200, 50]);
}
