//! The notes of a slide and the comments on it.

use std::collections::HashMap;

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, UnreadableFile};

use super::bullets::SlidePlaceholder;
use crate::ooxml::{OfficePackage, PartRelationships, read_drawing_text};
use crate::xml::{XmlEvent, XmlReader};

/// The most comments of a slide.
const COMMENTS: usize = 1_000;

/// The names of those who comment, by their ids.
pub(super) type CommentAuthors = HashMap<String, String>;

/// Reads who comments: the older and the newer form have a part each.
pub(super) fn read_authors(package: &mut OfficePackage, presentation: &PartRelationships) -> CommentAuthors {
    let mut authors = CommentAuthors::new();
    for kind in ["commentAuthors", "authors"] {
        let Some(part) = presentation.part_of_kind(kind) else { continue };
        // Comments are worth reading without their authors.
        let Ok(bytes) = package.xml(part) else { continue };
        let mut xml = XmlReader::new(&bytes, part, package.limits());
        while let Ok(Some(event)) = xml.within(0) {
            let XmlEvent::Start(tag) = event else { continue };
            if let (b"cmAuthor" | b"author", Some(id), Some(name)) =
                (tag.name(), tag.attribute("id"), tag.attribute("name"))
            {
                authors.insert(id, name);
            }
        }
    }
    authors
}

/// Reads the notes of a slide.
pub(super) fn read_notes(package: &mut OfficePackage, part: &str) -> Result<Option<ElementDraft>, UnreadableFile> {
    let bytes = package.xml(part)?;
    let mut xml = XmlReader::new(&bytes, part, package.limits());
    let (mut is_text, mut text) = (false, String::new());
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"sp" => is_text = false,
            b"ph" => is_text = SlidePlaceholder::read(&tag).kind == "body",
            b"txBody" if is_text => {
                let lines = read_drawing_text(&mut xml, &|_, _| None)?.lines();
                text.push_str(&lines);
            }
            b"txBody" => xml.skip()?,
            _ => {}
        }
    }
    Ok(Some(annotation(AnnotationKind::Note, text, None, None)).filter(has_text))
}

/// Reads the comments on a slide.
pub(super) fn read_comments(
    package: &mut OfficePackage,
    part: &str,
    authors: &CommentAuthors,
) -> Result<Vec<ElementDraft>, UnreadableFile> {
    let bytes = package.xml(part)?;
    let mut xml = XmlReader::new(&bytes, part, package.limits());
    let (mut comments, mut author, mut date) = (Vec::new(), None, None);
    let mut replies = Vec::new();
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"cm" => {
                author = tag.attribute("authorId").and_then(|id| authors.get(&id).cloned());
                date = tag.attribute("dt").or_else(|| tag.attribute("created"));
            }
            b"text" => {
                let text = xml.text()?;
                comments.push(annotation(AnnotationKind::Comment, text, author.take(), date.take()));
            }
            // The replies stand before the words that they reply to.
            b"replyLst" => replies = read_replies(&mut xml, authors)?,
            b"txBody" => {
                let text = read_drawing_text(&mut xml, &|_, _| None)?.lines();
                comments.push(annotation(AnnotationKind::Comment, text, author.take(), date.take()));
                comments.append(&mut replies);
            }
            _ => {}
        }
        if comments.len() >= COMMENTS {
            break;
        }
    }
    comments.retain(has_text);
    Ok(comments)
}

fn read_replies(xml: &mut XmlReader<'_>, authors: &CommentAuthors) -> Result<Vec<ElementDraft>, UnreadableFile> {
    let (depth, mut replies, mut author, mut date) = (xml.depth(), Vec::new(), None, None);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"reply" => {
                author = tag.attribute("authorId").and_then(|id| authors.get(&id).cloned());
                date = tag.attribute("created");
            }
            b"txBody" if replies.len() < COMMENTS => {
                let text = read_drawing_text(xml, &|_, _| None)?.lines();
                replies.push(annotation(AnnotationKind::Comment, text, author.take(), date.take()));
            }
            _ => {}
        }
    }
    Ok(replies)
}

fn has_text(draft: &ElementDraft) -> bool {
    matches!(&draft.content, ElementContent::Annotation { text, .. } if !text.trim().is_empty())
}

fn annotation(kind: AnnotationKind, text: String, author: Option<String>, date: Option<String>) -> ElementDraft {
    ElementContent::Annotation { kind, text, author, date, target: None, error: None }.into()
}
