//! OpenDocument texts and slides.

use std::io::{Cursor, Write as _};

use a2c_documents::model::{AnnotationKind, ElementCategory, ElementContent, RowWindow, UnreadableCode, render};
use a2c_documents::{OpenDocument, ReadLimits};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{markdown, open, open_bytes, pages, written_by};

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A text with these automatic styles and this body, and parts besides.
fn text(styles: &str, body: &str, more: &[(&str, &str)]) -> OpenDocument {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let parts: Vec<(&str, &str)> =
        [("content.xml", content.as_str())].into_iter().chain(more.iter().copied()).collect();
    open_bytes("a.odt", archive(&parts)).unwrap()
}

#[test]
fn texts_of_odfpy_and_pandoc_are_read_with_their_structure() {
    let folder = written_by("open_files.py");
    let mut document = open(&folder.path().join("odfpy.odt"));
    assert_eq!(document.title(), "Made by odfpy");
    assert_eq!(markdown(&mut document), include_str!("open_text.md").trim_end());
    let page = document.page(1).unwrap();
    assert_eq!(page.elements[1].metadata.merges, ["B1:C1", "A2:A3"]);
    let page = document.page(0).unwrap();
    let comment = page.elements.iter().find_map(|element| match &element.content {
        ElementContent::Annotation { kind: AnnotationKind::Comment, author, date, .. } => Some((author, date)),
        _ => None,
    });
    assert_eq!(comment, Some((&Some("Bo".to_owned()), &Some("2024-03-15T10:00:00".to_owned()))));

    let mut document = open(&folder.path().join("pandoc.odt"));
    assert_eq!(document.properties().author.as_deref(), Some("Ada"));
    assert_eq!(document.properties().keywords, ["sums", "数据"]);
    assert_eq!(markdown(&mut document), include_str!("pandoc.md").trim_end());
    let page = document.page(2).unwrap();
    let image = page.elements.iter().find(|element| element.content.category() == ElementCategory::Image).unwrap();
    assert!(document.blob(image).unwrap().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn slides_of_odfpy_are_read_with_their_structure() {
    let folder = written_by("open_files.py");
    let mut document = open(&folder.path().join("odfpy.odp"));
    let hidden: Vec<bool> = document.pages().iter().map(|page| page.hidden).collect();
    assert_eq!((document.title(), hidden), ("The deck", vec![false, true]));
    assert_eq!(markdown(&mut document), include_str!("open_slides.md").trim_end());
    let page = document.page(1).unwrap();
    let rows = RowWindow { offset: 1, limit: 1 };
    let table = document.element(1, &page.elements[0].element_id, rows).unwrap();
    let ElementContent::Table(table) = table.content else { panic!("a table") };
    assert_eq!(table.rows, [["tall", "b", "c"]]);
    assert!(document.blob(&page.elements[1]).unwrap().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn changes_are_accepted_and_told() {
    let body = "<text:tracked-changes><text:changed-region text:id=\"c1\"><text:deletion><office:change-info><dc:creator>Bo</dc:creator></office:change-info>\
         <text:p>old</text:p></text:deletion></text:changed-region><text:changed-region text:id=\"c2\"><text:insertion><office:change-info><dc:creator>Ann</dc:creator>\
         <dc:date>2024-01-02</dc:date></office:change-info></text:insertion></text:changed-region></text:tracked-changes>\
         <text:p>Kept <text:change text:change-id=\"c1\"/><text:change-start text:change-id=\"c2\"/>new<text:change-end text:change-id=\"c2\"/> text</text:p>";
    let mut document = text("", body, &[]);
    assert_eq!(
        markdown(&mut document),
        "Kept new text\n\n[annotation: Bo: deleted: old]\n\n[annotation: Ann: inserted: new]"
    );
}

#[test]
fn sections_breaks_contents_and_hidden_parts_are_told_apart() {
    let styles = "<style:style style:name=\"C1\" style:family=\"paragraph\" style:parent-style-name=\"Contents_20_1\"/>\
         <style:style style:name=\"Contents_20_1\" style:family=\"paragraph\"/>\
         <style:style style:name=\"M\" style:family=\"paragraph\" style:master-page-name=\"Other\"/>\
         <style:style style:name=\"H\" style:family=\"text\"><style:text-properties text:display=\"none\"/></style:style>";
    let masters = "<office:document-styles><office:styles><text:outline-style><text:outline-level-style text:level=\"1\" style:num-format=\"I\" style:num-suffix=\".\"/></text:outline-style></office:styles>\
         <office:master-styles><style:master-page style:name=\"Standard\"><style:header><text:p>one</text:p></style:header></style:master-page>\
         <style:master-page style:name=\"Other\"><style:header><text:p>two</text:p></style:header><style:footer style:display=\"false\"><text:p>no</text:p></style:footer></style:master-page></office:master-styles></office:document-styles>";
    let body = "<text:table-of-content><text:table-of-content-source><text:p>no</text:p></text:table-of-content-source><text:index-body><text:p text:style-name=\"C1\">Intro\t1</text:p></text:index-body></text:table-of-content>\
         <text:h text:outline-level=\"1\">Intro</text:h><text:section text:display=\"none\"><text:p>no</text:p></text:section>\
         <text:p>seen<text:span text:style-name=\"H\"> unseen</text:span></text:p>\
         <text:p text:style-name=\"M\">other section</text:p><text:h text:outline-level=\"1\">Next</text:h>";
    let mut document = text(styles, body, &[("styles.xml", masters)]);
    assert_eq!(
        markdown(&mut document),
        "[header: one]\n\n- Intro 1\n\n# I. Intro\n\nseen\n\n=====\n\n[header: two]\n\nother section\n\n# II. Next"
    );
}

#[test]
fn charts_equations_and_pictures_in_frames_are_read() {
    let chart = "<office:document-content><office:automatic-styles><style:style style:name=\"ch1\"><style:chart-properties chart:vertical=\"true\"/></style:style></office:automatic-styles>\
         <office:body><office:chart><chart:chart chart:class=\"chart:bar\"><chart:title><text:p>Sales</text:p></chart:title><chart:plot-area chart:style-name=\"ch1\">\
         <chart:axis><chart:title><text:p>Euro</text:p></chart:title><chart:categories table:cell-range-address=\"local-table.$A$2:.$A$3\"/></chart:axis>\
         <chart:series chart:values-cell-range-address=\"local-table.$B$2:.$B$3\" chart:label-cell-address=\"local-table.$B$1\" chart:class=\"chart:bar\"/></chart:plot-area>\
         <table:table table:name=\"local-table\"><table:table-header-rows><table:table-row><table:table-cell/><table:table-cell><text:p>East</text:p></table:table-cell></table:table-row></table:table-header-rows>\
         <table:table-row><table:table-cell><text:p>Q1</text:p></table:table-cell><table:table-cell office:value=\"5\"><text:p>5</text:p></table:table-cell></table:table-row>\
         <table:table-row><table:table-cell><text:p>Q2</text:p></table:table-cell><table:table-cell office:value=\"30.4\"><text:p>30.4</text:p></table:table-cell></table:table-row></table:table></chart:chart></office:chart></office:body></office:document-content>";
    let equation = "<!DOCTYPE math><math><semantics><mi>E</mi><annotation encoding=\"StarMath 5.0\">E = m c^2</annotation></semantics></math>";
    let body = "<text:p>Text <draw:frame><draw:object xlink:href=\"./Object 2\"/></draw:frame> here.</text:p>\
         <text:p><draw:frame svg:width=\"2.54cm\" svg:height=\"1in\"><draw:object xlink:href=\"./Object 1\"/><draw:image xlink:href=\"./ObjectReplacements/Object 1\"/></draw:frame></text:p>\
         <text:p><draw:frame svg:width=\"2.54cm\" svg:height=\"1in\"><draw:image xlink:href=\"https://example.com/a.png\"/><svg:desc>far away</svg:desc></draw:frame></text:p>\
         <text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>";
    let mut document = text("", body, &[("Object 1/content.xml", chart), ("Object 2/content.xml", equation)]);
    assert_eq!(
        markdown(&mut document),
        "Text $E = m c^2$ here.\n\n[图表: Sales] 1 series (East) over 2 categories (Q1, Q2); values from 5 to 30.4; axes: Euro\n\n\
         ![far away](https://example.com/a.png)\n\nboxed"
    );
    let page = document.page(0).unwrap();
    let ElementContent::Chart { chart_type, .. } = &page.elements[1].content else { panic!("a chart") };
    assert_eq!(chart_type, "bar", "its bars lie");
    let ElementContent::Image { width, height, .. } = &page.elements[2].content else { panic!("an image") };
    assert_eq!((*width, *height), (Some(96), Some(96)));
}

#[test]
fn broken_files_are_refused_or_kept_up_to_the_mistake() {
    let manifest = "<m><f><manifest:encryption-data/></f></m>";
    for (bytes, code) in [
        (b"no archive".to_vec(), UnreadableCode::Corrupt),
        (archive(&[("content.xml", "<x/>")]), UnreadableCode::Corrupt),
        (archive(&[("content.xml", "<!DOCTYPE x><x/>")]), UnreadableCode::Corrupt),
        (archive(&[("META-INF/manifest.xml", manifest)]), UnreadableCode::Encrypted),
        (archive(&[("content.xml", &"<text:list>".repeat(300))]), UnreadableCode::TooLarge),
    ] {
        for name in ["a.odt", "a.odp"] {
            assert_eq!(open_bytes(name, bytes.clone()).err().unwrap().code, code, "{name}");
        }
    }
    let cut = archive(&[("content.xml", "<d><office:text><text:p>kept</text:p><text:p>")]);
    let mut document = open_bytes("a.odt", cut).unwrap();
    let page = document.page(0).unwrap();
    assert!(page.partial && render::markdown(&page).starts_with("kept"), "{page:?}");
}

#[test]
fn nesting_repeats_and_masses_are_bounded() {
    let tables = format!("{}x", "<table:table><table:table-row><table:table-cell>".repeat(80));
    let lists = "<text:list><text:list-item>".repeat(120);
    let boxes = "<text:p><draw:frame><draw:text-box>".repeat(80);
    let repeated = format!(
        "<table:table>{}</table:table>",
        "<table:table-row table:number-rows-repeated=\"4000000000\"><table:table-cell table:number-columns-repeated=\"4000000000\" table:number-rows-spanned=\"99999999\"><text:p>x</text:p></table:table-cell></table:table-row>".repeat(50)
    );
    let paragraphs = "<text:p>a</text:p>".repeat(200_000);
    let blanks = format!("<text:p>{}</text:p>", "<text:s text:c=\"4000000000\"/>".repeat(2_000));
    let limits = ReadLimits { document_bytes: 4 << 20, entry_ratio: 100_000, ..ReadLimits::default() };
    for body in [tables, lists, boxes, repeated, paragraphs, blanks] {
        let content = format!("<d><office:text>{body}</office:text></d>");
        let bytes = archive(&[("content.xml", content.as_str())]);
        let Ok(mut document) = OpenDocument::from_bytes("a.odt".as_ref(), bytes.into(), &limits) else { continue };
        let all = pages(&mut document);
        let elements: usize = all.iter().map(|page| page.elements.len()).sum();
        assert!(elements < 20_000, "{elements} elements of {}", &body[..40]);
    }
}
