//! Workbooks that are no xlsx.

use a2c_document_model::RowWindow;
use a2c_documents::PageRequest;

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
