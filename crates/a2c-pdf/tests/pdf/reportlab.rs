//! Files of reportlab.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use a2c_documents::model::{AnnotationKind, ElementCategory, ElementContent, FormField, ReadPage, UnreadableCode};
use a2c_documents::{FormatReader, OpenDocument, PageRequest, ReadLimits, Source};

use crate::{markdown, page};

/// The folder of the files that reportlab writes.
fn files() -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = a2c_testbed::python_script("pdf_files.py").arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    });
    folder.path().to_owned()
}

fn open(name: &str) -> Box<dyn FormatReader> {
    let source = Source::open(&files().join(name)).unwrap();
    a2c_pdf::open(&source, &ReadLimits::default()).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

fn find(page: &ReadPage, category: ElementCategory) -> &a2c_documents::model::ReadElement {
    let found = page.elements.iter().find(|element| element.content.category() == category);
    found.unwrap_or_else(|| panic!("no {category} on {page:?}"))
}

#[test]
fn a_report_is_read_with_its_structure() {
    let mut reader = open("report.pdf");
    let properties = reader.properties();
    assert_eq!((properties.title.as_deref(), properties.author.as_deref()), (Some("The report"), Some("Ada")));
    assert_eq!(properties.keywords, ["sums", "数据"]);
    assert!(properties.created.as_ref().is_some_and(|date| date.len() == 25), "{properties:?}");
    let pages: Vec<String> = (0..reader.pages().len()).map(|index| markdown(&mut *reader, index)).collect();
    assert_eq!(pages.join("\n\n=====\n\n"), include_str!("report.md").trim_end());
    assert!(reader.warnings().is_empty(), "{:?}", reader.warnings());
}

#[test]
fn links_merges_and_pictures_keep_what_is_known_of_them() {
    let mut reader = open("report.pdf");
    let tables = page(&mut *reader, 1);
    assert_eq!(tables.title, "Tables");
    let merged = tables.elements.iter().filter(|element| !element.metadata.merges.is_empty());
    assert_eq!(merged.map(|element| element.metadata.merges.clone()).collect::<Vec<_>>(), [["A1:B1"]]);
    let other = page(&mut *reader, 2);
    let image = find(&other, ElementCategory::Image);
    let ElementContent::Image { width, height, mime_type, .. } = &image.content else { panic!("a picture") };
    assert_eq!((*width, *height, mime_type.as_deref()), (Some(40), Some(20), Some("image/png")));
    let bytes = reader.blob(image.blob.as_ref().unwrap()).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.ends_with(b"IEND\xae\x42\x60\x82"));
}

#[test]
fn columns_are_read_one_after_the_other() {
    let mut reader = open("columns.pdf");
    let read = |reader: &mut dyn FormatReader, index| {
        let text = markdown(reader, index);
        text.split_whitespace().filter(|word| word.starts_with('w')).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut words = read(&mut *reader, 0);
    words.extend(read(&mut *reader, 1));
    let expected: Vec<String> = (0..6).flat_map(|part| (0..150).map(move |n| format!("w{part}x{n:03}"))).collect();
    assert_eq!(words, expected);
    assert_eq!(page(&mut *reader, 0).title, "A title over both columns");
}

#[test]
fn chinese_is_read_without_blanks() {
    let mut reader = open("chinese.pdf");
    assert_eq!(reader.properties().title.as_deref(), Some("季度报告"));
    let text = "本季度公司的营业收入同比增长百分之十二，主要来自华东地区的新客户。管理层认为这一趋势将在明年继续，并计划扩大投资。";
    assert_eq!(markdown(&mut *reader, 0), format!("# 季度报告\n\n{}", text.repeat(3)));
}

#[test]
fn fields_notes_and_bookmarks_are_found() {
    let mut reader = open("form.pdf");
    assert_eq!(reader.pages()[0].title.as_deref(), Some("The form"));
    let page = page(&mut *reader, 0);
    assert_eq!(page.title, "The form");
    let ElementContent::Form { fields } = &find(&page, ElementCategory::Form).content else { panic!("a form") };
    let field = |name: &str, kind: &str, label: Option<&str>, value: &str, options: &[&str]| FormField {
        name: name.into(),
        kind: kind.into(),
        label: label.map(str::to_owned),
        value: Some(value.into()),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    assert_eq!(
        *fields,
        [
            field("person", "text", Some("Your name"), "Grace", &[]),
            field("agrees", "checkbox", Some("I agree"), "true", &[]),
            field("city", "choice", Some("City"), "Rome", &["Rome", "Oslo"]),
            field("size", "choice", None, "small", &["small", "large"]),
        ]
    );
    let ElementContent::Annotation { kind, text, .. } = &find(&page, ElementCategory::Annotation).content else {
        panic!("a note")
    };
    assert_eq!((*kind, text.as_str()), (AnnotationKind::Comment, "Is this right?"));
}

#[test]
fn a_scan_says_so_and_a_layer_of_text_is_read() {
    let mut reader = open("scan.pdf");
    let scan = page(&mut *reader, 0);
    assert_eq!(find(&scan, ElementCategory::Image).metadata.error.as_deref(), Some("no_text_layer"));
    assert_eq!(scan.elements.len(), 1);
    let layered = page(&mut *reader, 1);
    assert_eq!(find(&layered, ElementCategory::Image).metadata.error, None);
    assert!(markdown(&mut *reader, 1).contains("Recognised words under the picture"));
    assert_eq!(reader.warnings(), ["page 1 is a scan: its words are in a picture only"]);
}

#[test]
fn a_file_that_wants_a_password_says_so() {
    let source = Source::open(&files().join("protected.pdf")).unwrap();
    let problem = a2c_pdf::open(&source, &ReadLimits::default()).err().unwrap();
    assert_eq!(problem.code, UnreadableCode::Encrypted);
}

#[test]
fn a_page_has_the_same_ids_whichever_pages_were_read_before() {
    let ids = |page: &ReadPage| page.elements.iter().map(|element| element.element_id.clone()).collect::<Vec<_>>();
    let mut in_order = open("many.pdf");
    let all: Vec<Vec<String>> = (0..40).map(|index| ids(&page(&mut *in_order, index))).collect();
    for index in [39, 20, 0, 1, 21] {
        let mut alone = open("many.pdf");
        assert_eq!(ids(&page(&mut *alone, index)), all[index], "page {index}");
    }
}

#[test]
fn a_document_is_opened_by_the_format_that_is_given() {
    let (path, limits) = (files().join("report.pdf"), ReadLimits::default());
    let source = || Source::open(&path).unwrap();
    let without = OpenDocument::from_source(&path, source(), &limits, &[]).err().unwrap();
    assert_eq!(without.code, UnreadableCode::Unsupported);
    let mut document = OpenDocument::from_source(Path::new("x"), source(), &limits, &[a2c_pdf::FORMAT]).unwrap();
    assert_eq!((document.title(), document.pages().len()), ("The report", 3));
    let page = document.page(1).unwrap();
    let table = find(&page, ElementCategory::Table);
    let whole = document.element(1, &table.element_id, a2c_documents::model::RowWindow::OF_ELEMENT).unwrap();
    assert_eq!(whole.content, table.content);
}

#[test]
fn a_long_table_gives_the_rows_that_are_wanted() {
    let mut reader = open("rows.pdf");
    let rows = |request: &PageRequest, reader: &mut dyn FormatReader| {
        let page = reader.page(0, request).unwrap();
        let tables = page.elements.into_iter().filter_map(|element| match element.content {
            ElementContent::Table(table) => Some((table.headers, table.rows.len(), table.total_rows, table.truncated)),
            _ => None,
        });
        tables.collect::<Vec<_>>()
    };
    let headers = vec!["Number".to_owned(), "Square".to_owned()];
    assert_eq!(rows(&PageRequest::default(), &mut *reader), [(headers.clone(), 20, Some(30), true)]);
    let detail = Some((0, a2c_documents::model::RowWindow::OF_ELEMENT));
    let request = PageRequest { detail, ..PageRequest::default() };
    assert_eq!(rows(&request, &mut *reader), [(headers, 30, Some(30), false)]);
}
