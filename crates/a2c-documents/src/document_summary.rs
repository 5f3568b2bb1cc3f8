//! What a document is about, without a model: its first sentences, and its terms by counting.

use a2c_document_model::{ElementContent, ReadPage, first_sentences, keywords, weighted_texts};

use crate::document::OpenDocument;

/// The characters of a summary.
const SUMMARY: usize = 400;

/// The pages that are looked at for a summary.
const SUMMARY_PAGES: usize = 5;

/// The keywords of a document.
const KEYWORDS: usize = 10;

/// The pages, and the bytes of their texts, that are looked at for keywords.
const KEYWORD_PAGES: usize = 100;
const KEYWORD_BYTES: usize = 512 << 10;

impl OpenDocument {
    /// Its title and its first sentences, in at most 400 characters; `None` where it has no words.
    pub fn summary(&mut self) -> Option<String> {
        let pages = self.heads_of_pages(SUMMARY_PAGES, SUMMARY * 8);
        let own = self.properties().title.as_deref().map(one_line).filter(|title| !title.is_empty());
        let title = own.or_else(|| first_heading(&pages)).unwrap_or_default();
        let title = first_sentences([title.as_str()], SUMMARY / 2);
        let left = SUMMARY.saturating_sub(title.chars().count() + 2);
        let body = body_words(&pages, left);
        match (title.is_empty(), body.is_empty()) {
            (true, true) => None,
            (true, false) => Some(body),
            (false, true) => Some(title),
            // A text that begins with its title does not say it twice.
            (false, false) if body.starts_with(&title) => Some(body),
            (false, false) => Some(format!("{title}: {body}")),
        }
    }

    /// Its keywords: its own, and the terms that its text uses most.
    pub fn keywords(&mut self) -> Vec<String> {
        let pages = self.heads_of_pages(KEYWORD_PAGES, KEYWORD_BYTES);
        let texts: Vec<_> = pages.iter().flat_map(weighted_texts).collect();
        let own = self.properties().keywords.iter().map(|word| one_line(word)).filter(|word| !word.is_empty());
        let mut found: Vec<String> = Vec::new();
        for word in own.chain(keywords(&texts, KEYWORDS)) {
            let known = found.iter().any(|known| known.to_lowercase() == word.to_lowercase());
            if !known && found.len() < KEYWORDS {
                found.push(word);
            }
        }
        found
    }

    /// The beginnings of its first pages that are not hidden. A page that cannot be read says nothing.
    fn heads_of_pages(&mut self, most: usize, mut bytes: usize) -> Vec<ReadPage> {
        let shown = self.pages().iter().enumerate().filter(|(_, page)| !page.hidden).map(|(index, _)| index);
        let shown: Vec<usize> = shown.take(most).collect();
        let mut pages = Vec::new();
        for index in shown {
            let Ok(page) = self.page_head(index) else { continue };
            let length = weighted_texts(&page).iter().map(|piece| piece.text.len()).sum();
            pages.push(page);
            bytes = match bytes.checked_sub(length) {
                Some(left) if left > 0 => left,
                _ => break,
            };
        }
        pages
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_heading(pages: &[ReadPage]) -> Option<String> {
    pages.iter().flat_map(|page| &page.elements).find_map(|element| match &element.content {
        ElementContent::Heading { text, .. } => Some(one_line(text)).filter(|text| !text.is_empty()),
        _ => None,
    })
}

/// The first sentences of the paragraphs; of the items of lists where there are none, or the names of columns.
fn body_words(pages: &[ReadPage], most: usize) -> String {
    let elements = || pages.iter().flat_map(|page| &page.elements).map(|element| &element.content);
    let paragraphs = elements().filter_map(|content| match content {
        ElementContent::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let words = first_sentences(paragraphs, most);
    if !words.is_empty() {
        return words;
    }
    let items: Vec<&str> = elements()
        .find_map(|content| match content {
            ElementContent::List { items, .. } if !items.is_empty() => {
                Some(items.iter().map(|item| item.text()).collect())
            }
            ElementContent::Table(table) if !table.headers.is_empty() => {
                Some(table.headers.iter().map(String::as_str).collect())
            }
            _ => None,
        })
        .unwrap_or_default();
    first_sentences([items.join(", ").as_str()], most)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::limits::ReadLimits;

    fn open(name: &str, text: &str) -> OpenDocument {
        OpenDocument::from_bytes(Path::new(name), text.as_bytes().into(), &ReadLimits::default()).unwrap()
    }

    #[test]
    fn a_summary_has_the_title_and_the_first_sentences() {
        for (name, text, expected) in [
            (
                "a.md",
                "# Harbour\n\nBoats leave. They come back.\n\n## More\n\nx",
                Some("Harbour: Boats leave. They come back. x"),
            ),
            ("a.csv", "Region,Sum\nNorth,1\n", Some("Region, Sum")),
            ("a.md", "- one\n- two\n", Some("one, two")),
            ("a.txt", "港口很忙。渔船早上出发。", Some("港口很忙。渔船早上出发。")),
            ("a.md", "# Only a title\n", Some("Only a title")),
            ("a.md", "```\ncode\n```\n", None),
        ] {
            assert_eq!(open(name, text).summary().as_deref(), expected, "{text}");
        }
        let long = format!("# T\n\n{}", "word ".repeat(1_000));
        assert!(open("a.md", &long).summary().unwrap().chars().count() <= SUMMARY + 1);
    }

    #[test]
    fn keywords_are_those_of_the_file_and_those_of_its_text() {
        let html = "<html><head><meta name=keywords content='Ships, Harbour'></head><body><h1>The lighthouse</h1>\
                    <p>The lighthouse guides ships. A lighthouse stands on rock, and the harbour needs its lighthouse.</p>";
        let found = open("a.html", html).keywords();
        assert_eq!(found, ["Ships", "Harbour", "lighthouse"]);
        assert!(open("a.txt", "").keywords().is_empty());
    }
}
