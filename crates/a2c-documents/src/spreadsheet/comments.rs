//! Comments on cells: the old ones, and the newer ones that are conversations.

use std::collections::HashMap;

use a2c_document_model::{AnnotationKind, ElementContent, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The comments of a sheet that are kept.
const COMMENTS: usize = 20_000;
/// The bytes of one comment.
const COMMENT_BYTES: usize = 64 << 10;

/// A comment on a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellComment {
    /// The cell.
    pub(super) cell: String,
    pub(super) text: String,
    /// Its author, or the number of its author among the persons of the workbook.
    pub(super) author: Option<String>,
    pub(super) date: Option<String>,
}

impl CellComment {
    /// The comment as an element.
    pub(super) fn element(self) -> ElementContent {
        let Self { cell, text, author, date } = self;
        ElementContent::Annotation {
            kind: AnnotationKind::Comment,
            text,
            author,
            date,
            target: Some(cell),
            error: None,
        }
    }
}

/// Reads the old comments of a sheet. Such a comment also stands in for every conversation, for programs that know no
/// others; those are left out.
pub(super) fn read_comments(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Vec<CellComment>, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let (mut authors, mut comments, mut open) = (Vec::new(), Vec::new(), None);
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => match tag.name() {
                b"author" if authors.len() < COMMENTS => authors.push(reader.text()?),
                b"comment" => {
                    let author = tag.attribute("authorId").and_then(|id| id.parse::<usize>().ok());
                    let author = author.and_then(|id| authors.get(id).cloned());
                    open = Some((tag.attribute("ref").unwrap_or_default(), author, String::new()));
                }
                b"rPh" => reader.skip()?,
                b"t" => {
                    let text = reader.text()?;
                    if let Some((_, _, written)) = open.as_mut().filter(|(_, _, text)| text.len() < COMMENT_BYTES) {
                        written.push_str(&text);
                    }
                }
                _ => {}
            },
            XmlEvent::End(end) if end.name() == b"comment" => {
                let Some((cell, author, text)) = open.take() else { continue };
                let stands_in = author.as_ref().is_some_and(|author: &String| author.starts_with("tc="));
                if !stands_in && comments.len() < COMMENTS {
                    // Excel begins a comment with its author's name in a line of its own.
                    let named = author.as_deref().and_then(|author| text.strip_prefix(author)?.strip_prefix(':'));
                    let text = named.unwrap_or(&text).trim().to_owned();
                    let author = author.filter(|author| !author.is_empty());
                    comments.push(CellComment { cell, text, author, date: None });
                }
            }
            XmlEvent::Eof => return Ok(comments),
            _ => {}
        }
    }
}

/// Reads the conversations of a sheet: each remark is a comment, answers after what they answer.
pub(super) fn read_threads(
    bytes: &[u8],
    part: &str,
    persons: &HashMap<String, String>,
    limits: &ReadLimits,
) -> Result<Vec<CellComment>, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let (mut comments, mut open) = (Vec::new(), None);
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => match tag.name() {
                b"threadedComment" => {
                    let author = tag.attribute("personId").and_then(|id| persons.get(&id).cloned());
                    open = Some((tag.attribute("ref").unwrap_or_default(), author, tag.attribute("dT")));
                }
                b"text" => {
                    let text = reader.text()?.trim().to_owned();
                    if let Some((cell, author, date)) = open.take().filter(|_| comments.len() < COMMENTS) {
                        comments.push(CellComment { cell, text, author, date });
                    }
                }
                _ => {}
            },
            XmlEvent::Eof => return Ok(comments),
            _ => {}
        }
    }
}

/// Reads the persons of a workbook: their names by their numbers.
pub(super) fn read_persons(
    bytes: &[u8],
    part: &str,
    limits: &ReadLimits,
) -> Result<HashMap<String, String>, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let mut persons = HashMap::new();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) if tag.name() == b"person" && persons.len() < COMMENTS => {
                persons.extend(tag.attribute("id").zip(tag.attribute("displayName")));
            }
            XmlEvent::Eof => return Ok(persons),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_have_their_authors_and_conversations_are_not_read_twice() {
        let limits = ReadLimits::default();
        let old = r#"<comments><authors><author>Ann</author><author>tc={1}</author></authors><commentList>
            <comment ref="B2" authorId="0"><text><r><t>Ann:</t></r><r><t xml:space="preserve">
check this</t></r></text></comment><comment ref="C3" authorId="1"><text><t>[Threaded comment] …</t></text></comment></commentList></comments>"#;
        let comments = read_comments(old.as_bytes(), "comments1.xml", &limits).unwrap();
        let seen: Vec<_> = comments.iter().map(|one| (&*one.cell, one.author.as_deref(), &*one.text)).collect();
        assert_eq!(seen, [("B2", Some("Ann"), "check this")]);

        let persons = r#"<personList><person displayName="Bo" id="{9}"/></personList>"#;
        let persons = read_persons(persons.as_bytes(), "person.xml", &limits).unwrap();
        let threads = r#"<ThreadedComments><threadedComment ref="C3" dT="2024-03-15T10:30:00.00" personId="{9}" id="{1}"><text>why?</text></threadedComment>
            <threadedComment ref="C3" personId="{8}" id="{2}" parentId="{1}"><text>because</text></threadedComment></ThreadedComments>"#;
        let threads = read_threads(threads.as_bytes(), "t.xml", &persons, &limits).unwrap();
        let seen: Vec<_> = threads.iter().map(|one| (&*one.cell, one.author.as_deref(), &*one.text)).collect();
        assert_eq!(seen, [("C3", Some("Bo"), "why?"), ("C3", None, "because")]);
        assert_eq!(threads[0].date.as_deref(), Some("2024-03-15T10:30:00.00"));
    }
}
