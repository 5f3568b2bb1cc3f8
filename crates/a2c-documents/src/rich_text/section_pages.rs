//! The pages of a text: by its breaks, or by its top headings, and never with too many elements. Pure.

use std::collections::VecDeque;

use a2c_document_model::{ElementContent, ElementDraft, PageDraft, UnreadableFile};

use super::document_flow::{FlowItem, SectionBands};

/// Something on a page, with the place where it stands there.
#[derive(Debug)]
enum Piece {
    Header(ElementDraft),
    Element(ElementDraft),
    Footer(ElementDraft),
    Note(ElementDraft),
}

/// Divides a text into pages of at most `limit` elements.
pub(crate) fn divide(items: Vec<FlowItem>, mut sections: VecDeque<SectionBands>, limit: usize) -> Vec<PageDraft> {
    let mut pages: Vec<Vec<Piece>> = vec![Vec::new()];
    begin_section(sections.pop_front(), &mut pages);
    for item in items {
        match item {
            FlowItem::Element(draft) => add(&mut pages, Piece::Element(draft)),
            FlowItem::Note(draft) => add(&mut pages, Piece::Note(draft)),
            FlowItem::PageBreak => end_page(&mut pages),
            FlowItem::SectionEnd => {
                // How a section begins is said at its end.
                if sections.front().is_some_and(|next| !next.continues) {
                    end_page(&mut pages);
                }
                begin_section(sections.pop_front(), &mut pages);
            }
        }
    }
    if pages.len() > 1 && !pages.last().is_some_and(|page| has_elements(page)) {
        let rest = pages.pop().unwrap_or_default();
        if let Some(last) = pages.last_mut() {
            last.extend(rest);
        }
    }
    if let [_] = pages.as_slice() {
        pages = by_top_headings(pages.pop().unwrap_or_default());
    }
    pages.into_iter().flat_map(|page| split(page, limit.max(1))).map(finish).collect()
}

/// Tells the reader where reading ended: what was read before a mistake is worth more than nothing. Where nothing was read,
/// the mistake comes back.
pub(crate) fn keep_before_mistake(pages: &mut [PageDraft], problem: UnreadableFile) -> Result<(), UnreadableFile> {
    let Some(last) = pages.last_mut().filter(|page| !page.elements.is_empty()) else { return Err(problem) };
    let mut draft = ElementDraft::from(ElementContent::error(problem.code.as_str(), problem.message));
    draft.metadata.error = Some(problem.code.as_str().to_owned());
    last.elements.push(draft);
    last.partial = true;
    Ok(())
}

fn add(pages: &mut [Vec<Piece>], piece: Piece) {
    if let Some(page) = pages.last_mut() {
        page.push(piece);
    }
}

fn begin_section(bands: Option<SectionBands>, pages: &mut [Vec<Piece>]) {
    let Some(SectionBands { headers, footers, .. }) = bands else { return };
    headers.into_iter().for_each(|draft| add(pages, Piece::Header(draft)));
    footers.into_iter().for_each(|draft| add(pages, Piece::Footer(draft)));
}

/// Breaks without anything between them end one page.
fn end_page(pages: &mut Vec<Vec<Piece>>) {
    if pages.last().is_some_and(|page| has_elements(page)) {
        pages.push(Vec::new());
    }
}

fn has_elements(page: &[Piece]) -> bool {
    page.iter().any(|piece| matches!(piece, Piece::Element(_)))
}

fn heading_level(piece: &Piece) -> Option<u8> {
    match piece {
        Piece::Element(ElementDraft { content: ElementContent::Heading { level, .. }, .. }) => Some(*level),
        _ => None,
    }
}

fn by_top_headings(page: Vec<Piece>) -> Vec<Vec<Piece>> {
    let top = page.iter().filter_map(heading_level).min();
    let mut pages: Vec<Vec<Piece>> = vec![Vec::new()];
    for piece in page {
        if top.is_some() && heading_level(&piece) == top {
            end_page(&mut pages);
        }
        add(&mut pages, piece);
    }
    pages
}

fn split(page: Vec<Piece>, limit: usize) -> Vec<Vec<Piece>> {
    if page.len() <= limit {
        return vec![page];
    }
    let (mut pieces, mut pages) = (page.into_iter().peekable(), Vec::new());
    while pieces.peek().is_some() {
        pages.push(pieces.by_ref().take(limit).collect());
    }
    pages
}

fn finish(page: Vec<Piece>) -> PageDraft {
    let heading = page.iter().find_map(|piece| match piece {
        Piece::Element(ElementDraft { content: ElementContent::Heading { text, .. }, .. }) => Some(text.clone()),
        _ => None,
    });
    let mut parts: [Vec<ElementDraft>; 4] = Default::default();
    for piece in page {
        let (at, draft) = match piece {
            Piece::Header(draft) => (0, draft),
            Piece::Element(draft) => (1, draft),
            Piece::Footer(draft) => (2, draft),
            Piece::Note(draft) => (3, draft),
        };
        parts[at].push(draft);
    }
    PageDraft {
        title: heading.unwrap_or_default(),
        elements: parts.into_iter().flatten().collect(),
        ..PageDraft::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, limit: usize) -> String {
        let mut sections = VecDeque::new();
        let mut items = Vec::new();
        for c in text.chars() {
            items.push(match c {
                '|' => FlowItem::PageBreak,
                'A'..='Z' => {
                    FlowItem::Element(ElementContent::Heading { level: c as u8 - b'A' + 1, text: c.into() }.into())
                }
                '.' => FlowItem::Note(ElementContent::text(".").into()),
                '/' | '~' => {
                    let header = ElementContent::Header { text: "h".into() };
                    let footer = ElementContent::Footer { text: "f".into() };
                    sections.push_back(SectionBands {
                        continues: c == '~',
                        headers: vec![header.into()],
                        footers: vec![footer.into()],
                    });
                    FlowItem::SectionEnd
                }
                c => FlowItem::Element(ElementContent::text(c).into()),
            });
        }
        let pages = divide(items, sections, limit);
        let page = |page: PageDraft| {
            let element = |draft: ElementDraft| match draft.content {
                ElementContent::Text { text, .. }
                | ElementContent::Heading { text, .. }
                | ElementContent::Header { text }
                | ElementContent::Footer { text } => text,
                _ => String::new(),
            };
            page.elements.into_iter().map(element).collect::<String>()
        };
        pages.into_iter().map(page).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pages_end_at_breaks_or_at_top_headings() {
        for (text, expected) in [
            ("", ""),
            ("ab|c", "ab c"),
            ("||ab||c||", "ab c"),
            ("aBcBdCe", "a Bc BdCe"),
            ("BaCbBc", "BaCb Bc"),
            ("aA|bAc", "aA bAc"),
            ("a.b|c", "ab. c"),
            ("ab/cd/", "habf hcdf"),
            ("ab/cd~", "hhabcdff"),
            ("ab|./", "habf."),
        ] {
            assert_eq!(shown(text, 200), expected, "{text}");
        }
        assert_eq!(shown("abcde", 2), "ab cd e");
    }
}
