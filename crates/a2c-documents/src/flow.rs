//! Documents that are one text: read as a whole and divided into pages.

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, ElementDraft, PageDraft, PageHead, UnreadableFile,
};

use crate::reader::{FormatReader, PageRequest};

/// A document that was read as a whole.
pub(crate) struct FlowDocument {
    properties: DocumentProperties,
    pages: Vec<PageDraft>,
    heads: Vec<PageHead>,
}

impl FlowDocument {
    /// A document of these pages; one without any has an empty page.
    pub(crate) fn new(properties: DocumentProperties, mut pages: Vec<PageDraft>) -> Self {
        if pages.is_empty() {
            pages.push(PageDraft::default());
        }
        let head = |page: &PageDraft| PageHead {
            title: Some(page.title.clone()).filter(|title| !title.is_empty()),
            hidden: page.hidden,
        };
        let heads = pages.iter().map(head).collect();
        Self { properties, pages, heads }
    }
}

impl FormatReader for FlowDocument {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, _: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let page = self.pages.get(index).cloned();
        page.ok_or_else(|| UnreadableFile::corrupt(format!("there is no page {index}")))
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        Err(UnreadableFile::corrupt(format!("there are no bytes at `{}`", place.part)))
    }
}

/// Divides a text at the highest level of headings that occurs more than once; what stands before the first is a page of
/// its own. No page has more elements than allowed.
pub(crate) fn divide_at_headings(elements: Vec<ElementDraft>, most: usize) -> Vec<PageDraft> {
    let Some(level) = dividing_level(&elements) else { return bounded(elements, most) };
    let mut pages = Vec::new();
    let mut page = Vec::new();
    for element in elements {
        if level_of(&element) == Some(level) && !page.is_empty() {
            pages.extend(bounded(std::mem::take(&mut page), most));
        }
        page.push(element);
    }
    pages.extend(bounded(page, most));
    pages
}

fn dividing_level(elements: &[ElementDraft]) -> Option<u8> {
    (1..=6).find(|level| elements.iter().filter(|element| level_of(element) == Some(*level)).count() > 1)
}

fn level_of(element: &ElementDraft) -> Option<u8> {
    match element.content {
        ElementContent::Heading { level, .. } => Some(level),
        _ => None,
    }
}

/// Pages of at most so many elements, each with the title of its first heading.
pub(crate) fn bounded(elements: Vec<ElementDraft>, most: usize) -> Vec<PageDraft> {
    let mut pages: Vec<PageDraft> = Vec::new();
    for element in elements {
        let is_full = pages.last().is_none_or(|page| page.elements.len() >= most.max(1));
        if is_full {
            let title = pages.last().map(|page| page.title.clone()).unwrap_or_default();
            pages.push(PageDraft { title, ..PageDraft::default() });
        }
        if let Some(page) = pages.last_mut() {
            if let ElementContent::Heading { text, .. } = &element.content
                && (page.title.is_empty() || page.elements.is_empty())
            {
                page.title.clone_from(text);
            }
            page.elements.push(element);
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(levels: &[u8], most: usize) -> Vec<(String, usize)> {
        let elements = levels.iter().enumerate().map(|(number, level)| match level {
            0 => ElementContent::text("x").into(),
            level => ElementContent::Heading { level: *level, text: format!("{number}") }.into(),
        });
        let pages = divide_at_headings(elements.collect(), most);
        pages.iter().map(|page| (page.title.clone(), page.elements.len())).collect()
    }

    #[test]
    fn pages_begin_at_the_highest_level_that_occurs_twice() {
        let page = |title: &str, count: usize| (title.to_owned(), count);
        assert_eq!(divided(&[0, 0], 200), [page("", 2)]);
        assert_eq!(divided(&[1, 0, 2, 0, 2, 0], 200), [page("0", 2), page("2", 2), page("4", 2)]);
        assert_eq!(divided(&[0, 1, 0, 1], 200), [page("", 1), page("1", 2), page("3", 1)]);
        assert_eq!(divided(&[1, 2, 3], 200), [page("0", 3)]);
        assert_eq!(divided(&[1, 0, 0, 0, 0], 2), [page("0", 2), page("0", 2), page("0", 1)]);
        assert_eq!(divided(&[], 200), []);
    }
}
