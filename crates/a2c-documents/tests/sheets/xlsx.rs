//! xlsx files of openpyxl and XlsxWriter.

use a2c_document_model::{ElementContent, RowWindow};
use a2c_documents::{PageRequest, ReadLimits, Source, spreadsheet};

use crate::outline::{files, open, outline, page};

#[test]
fn tables_texts_charts_and_comments_of_openpyxl_are_read() {
    let mut workbook = open("openpyxl.xlsx");
    let titles: Vec<_> = workbook.pages().iter().map(|page| (page.title.clone().unwrap(), page.hidden)).collect();
    let expected = [("Sales", false), ("Hidden", true), ("Empty", false)];
    assert_eq!(titles, expected.map(|(title, hidden)| (title.to_owned(), hidden)));
    let properties = workbook.properties();
    assert_eq!((properties.title.as_deref(), properties.author.as_deref()), (Some("Plan"), Some("Ann")));
    assert_eq!(properties.keywords, ["sales", "plan"]);

    let sales = workbook.page(0, &PageRequest::default()).unwrap();
    assert_eq!(
        outline(&sales),
        [
            "text A1: Sales report",
            "table A2:D5: Region | Date | Sum | Growth",
            "  North | 2024-03-15 | 1,250 | +12%",
            "  南 | 2024-03-16 10:30:00 | 981 | -5%",
            "  Total |  | =SUM(C3:C4)",
            "table F2:F3: Notes",
            "  TRUE",
            "chart bar: Sum by region: Sum: North 1,250, 南 981",
            "text F9: alone",
            "note Some(\"C3\") Some(\"Bo\"): check this",
        ]
    );
    let table = &sales.elements[1].metadata;
    assert!(table.has_formulas && !sales.elements[2].metadata.has_formulas);
    assert_eq!(table.links[0].url, "https://example.com/north?a=1&b=2");
    assert_eq!((table.links[0].text.as_str(), table.links[0].cell.as_deref()), ("North", Some("A3")));
    assert_eq!((sales.key.as_str(), sales.hidden, sales.partial), ("Sales", false, false));

    let hidden = workbook.page(1, &PageRequest::default()).unwrap();
    assert_eq!((outline(&hidden), hidden.hidden), (vec!["text B2: secret".to_owned()], true));
    assert_eq!(outline(&workbook.page(2, &PageRequest::default()).unwrap()), [""; 0]);
    assert_eq!(workbook.warnings(), [""; 0]);
}

#[test]
fn an_element_alone_has_its_formulas_values_and_merges() {
    let mut workbook = open("openpyxl.xlsx");
    let request = PageRequest { detail: Some((1, RowWindow { offset: 1, limit: 9 })), ..PageRequest::default() };
    let sales = workbook.page(0, &request).unwrap();
    let element = &sales.elements[1];
    let ElementContent::Table(table) = &element.content else { panic!("{element:?}") };
    assert_eq!((table.offset, table.total_rows, table.rows.len(), table.truncated), (1, Some(3), 2, true));
    assert_eq!(table.headers, ["Region", "Date", "Sum", "Growth"]);
    let metadata = serde_json::to_value(&element.metadata).unwrap();
    assert_eq!(metadata["formulas"], serde_json::json!({"C5": "=SUM(C3:C4)"}));
    assert_eq!(metadata["values"], serde_json::json!({"C4": 980.5, "D4": -0.05}));
    assert_eq!(metadata["merges"], serde_json::json!(["A1:C1"]));
}

#[test]
fn cached_values_pictures_and_declared_tables_of_xlsxwriter_are_read() {
    let data = outline(&page("xlsxwriter.xlsx", 0));
    assert_eq!(data[..3], ["header", "table A1:B101: n | square", "  1 | 1"]);
    assert_eq!(data[21..24], ["  20 | 400", "  … of Some(100)", "link D1: a link -> https://example.com/"]);
    assert_eq!(
        data[24..],
        [
            "image Some(\"A dot\") Some(\"image/png\") Some(20) Some(10)",
            "text D3: rich text",
            "text D5: line\nbreak & <tag> _x0041_",
            "chart line: Growth: Squares: 10 values from 1 to 100, 1 to 10",
            "text -: A box",
        ]
    );
    assert_eq!(outline(&page("xlsxwriter.xlsx", 1)), ["table B3:C5: Key | Value", "  a | x", "  b | y"]);
    assert_eq!(outline(&page("xlsxwriter.xlsx", 2)), ["chart pie: : Series 1: 1, 2, 3"]);
}

#[test]
fn a_picture_gives_its_bytes() {
    let mut workbook = open("xlsxwriter.xlsx");
    let page = workbook.page(0, &PageRequest::default()).unwrap();
    let blob = page.elements.iter().find_map(|element| element.blob.clone()).unwrap();
    assert_eq!(blob.mime_type, "image/png");
    assert!(workbook.blob(&blob).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_beginning_of_a_large_sheet_is_given_alone() {
    let mut workbook = open("large.xlsx");
    let request = PageRequest { head_only: true, ..PageRequest::default() };
    let page = workbook.page(0, &request).unwrap();
    let ElementContent::Table(table) = &page.elements[0].content else { panic!("{page:?}") };
    assert_eq!((table.headers.len(), table.rows.len(), table.total_rows), (10, 20, None));
    assert!(table.truncated && page.partial);
    assert_eq!(table.rows[19][9], "209");
    let whole = workbook.page(0, &PageRequest::default()).unwrap();
    let ElementContent::Table(whole) = &whole.elements[0].content else { panic!("{whole:?}") };
    assert_eq!((&whole.rows, whole.total_rows), (&table.rows, Some(20_000)));
}

#[test]
fn every_cell_is_at_its_place() {
    let limits = ReadLimits { element_bytes: 64 << 20, ..ReadLimits::default() };
    let mut workbook = spreadsheet::open(&Source::open(&files().join("large.xlsx")).unwrap(), &limits).unwrap();
    let rows = RowWindow { offset: 0, limit: usize::MAX };
    let page = workbook.page(0, &PageRequest { rows, ..PageRequest::default() }).unwrap();
    let ElementContent::Table(table) = &page.elements[0].content else { panic!("no table") };
    assert!(!table.truncated && table.rows.len() == 20_000);
    for (row, cells) in table.rows.iter().enumerate() {
        let expected: Vec<String> = (0..10).map(|column| ((row + 1) * 10 + column).to_string()).collect();
        assert_eq!(*cells, expected);
    }
}
