//! PDF files: read or refused, never broken, and the same every time.

use std::collections::HashSet;

use a2c_documents::model::{IdAssigner, ReadPage, UnreadableFile};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source};

/// The most pages of one input that are read.
const PAGES: usize = 3;

pub(crate) fn check(bytes: &[u8]) {
    // Small limits, so that there is something on either side of them.
    let limits = ReadLimits {
        page_operations: 20_000,
        page_glyphs: 5_000,
        text_part_bytes: 1 << 20,
        archive_bytes: 16 << 20,
        picture_pixels: 1 << 16,
        ..ReadLimits::default()
    };
    let open = || a2c_pdf::open(&Source::Bytes(bytes.into()), &limits);
    let mut reader = match open() {
        Ok(reader) => reader,
        Err(problem) => return check_refusal(&problem),
    };
    let mut again = open().expect("it was opened before");
    for index in 0..reader.pages().len().min(PAGES) {
        let page = read(&mut *reader, index);
        let Ok(page) = page else { continue };
        assert!(page.elements.len() <= limits.page_elements, "a page of {} elements", page.elements.len());
        let ids: HashSet<&str> = page.elements.iter().map(|element| element.element_id.as_str()).collect();
        assert_eq!(ids.len(), page.elements.len(), "two elements have one id");
        assert_eq!(read(&mut *again, index).as_ref(), Ok(&page), "a page reads otherwise the second time");
        for place in page.elements.iter().filter_map(|element| element.blob.as_ref()) {
            if let Err(problem) = reader.blob(place) {
                check_refusal(&problem);
            }
        }
    }
}

fn read(reader: &mut dyn FormatReader, index: usize) -> Result<ReadPage, UnreadableFile> {
    let read = reader.page(index, &PageRequest::default());
    if let Err(problem) = &read {
        check_refusal(problem);
    }
    read.map(|draft| IdAssigner::default().page(index, draft))
}

/// A refusal has a reason, and the reason is not a panic.
fn check_refusal(problem: &UnreadableFile) {
    assert!(!problem.message.is_empty());
    assert!(!problem.message.contains("broke its reader"), "{problem}");
}
