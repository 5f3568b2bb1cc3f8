//! Workbooks that are no xlsx.

use a2c_document_model::RowWindow;
use a2c_documents::{PageRequest, ReadLimits, spreadsheet};

use crate::hostile::archive;
use crate::outline::{open, outline, page};

#[test]
fn an_old_workbook_is_read_with_its_formats() {
    let mut workbook = open("xlwt.xls");
    assert_eq!(workbook.pages().iter().filter_map(|page| page.title.as_deref()).collect::<Vec<_>>(), ["Old", "Second"]);
    assert_eq!(
        outline(&workbook.page(0, &PageRequest::default()).unwrap()),
        ["table A1:C3: Name | Date | Sum", "  中文 | 2024-03-15 | 1,250", "  total |  | ", "text A5: merged",]
    );
    let request = PageRequest { detail: Some((0, RowWindow::OF_ELEMENT)), ..PageRequest::default() };
    let detail = workbook.page(0, &request).unwrap();
    assert_eq!(detail.elements[0].metadata.formulas["C3"], "=SUM(C2:C2)");
    assert_eq!(outline(&page("xlwt.xls", 1)), ["text A1: alone"]);
}

#[test]
fn an_open_document_is_read_with_the_texts_it_shows() {
    let mut workbook = open("odf.ods");
    let request = PageRequest { detail: Some((0, RowWindow::OF_ELEMENT)), ..PageRequest::default() };
    let page = workbook.page(0, &request).unwrap();
    assert_eq!(outline(&page), ["table A1:C2: Name | Date | Sum", "  North | 2024-03-15 | 1,250"]);
    assert_eq!(page.elements[0].metadata.values["C2"], 1250);
}

#[test]
fn links_comments_merges_and_hidden_sheets_of_an_open_document_are_read() {
    let content = r#"<office:document-content><office:automatic-styles><style:style style:name="ta2" style:family="table">
        <style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>
        <table:table table:name="One" table:style-name="ta1"><table:table-row>
        <table:table-cell table:number-columns-spanned="2" office:value-type="string"><text:p>Head</text:p></table:table-cell><table:covered-table-cell/></table:table-row>
        <table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>
        <table:table-row><table:table-cell office:value-type="string"><office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-03-15T10:00:00</dc:date><text:p>why?</text:p></office:annotation>
        <text:p><text:a xlink:href="https://example.com/">a<text:s text:c="2"/>link</text:a></text:p></table:table-cell>
        <table:table-cell table:number-columns-repeated="2" office:value-type="percentage" office:value="0.12" table:formula="of:=[.A1]"><text:p>12 %</text:p></table:table-cell></table:table-row>
        </table:table><table:table table:name="Two" table:style-name="ta2"><table:table-row><table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell></table:table-row></table:table>
        </office:spreadsheet></office:body></office:document-content>"#;
    let mut workbook = spreadsheet::open(&archive(&[("content.xml", content)]), &ReadLimits::default()).unwrap();
    let hidden: Vec<bool> = workbook.pages().iter().map(|page| page.hidden).collect();
    assert_eq!(hidden, [false, true]);
    let request = PageRequest { detail: Some((1, RowWindow::OF_ELEMENT)), ..PageRequest::default() };
    let page = workbook.page(0, &request).unwrap();
    assert_eq!(
        outline(&page),
        ["text A1: Head", "table A4:C4: ", "  a  link | 12 % | 12 %", "note Some(\"A4\") Some(\"Ann\"): why?",]
    );
    let metadata = &page.elements[1].metadata;
    assert_eq!((metadata.links[0].url.as_str(), metadata.formulas["B4"].as_str()), ("https://example.com/", "=A1"));
    assert_eq!(outline(&workbook.page(1, &PageRequest::default()).unwrap()), ["text A1: b"]);
}
