//! Tracked changes: the text has them as if they were accepted, and an annotation tells each of them.

use std::collections::HashMap;

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, UnreadableFile};

use crate::xml::{XmlEvent, XmlReader};

/// The changes of a document that are told.
const CHANGES: usize = 10_000;

/// How much of a change, and of the paragraph that it stands in, an annotation quotes, in characters.
const QUOTED: usize = 400;
const TARGET: usize = 80;

/// A change as the head of the text has it.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangedRegion {
    pub(super) is_deletion: bool,
    author: Option<String>,
    date: Option<String>,
    /// What was deleted.
    text: String,
}

impl ChangedRegion {
    /// The annotation of a change; what was inserted stands in the text.
    pub(super) fn annotation(self, inserted: &str, paragraph: &str) -> Option<ElementDraft> {
        let (verb, text) = if self.is_deletion { ("deleted", self.text.as_str()) } else { ("inserted", inserted) };
        let text: String = text.trim().chars().take(QUOTED).collect();
        let target: String = paragraph.trim().chars().take(TARGET).collect();
        if text.is_empty() {
            return None;
        }
        let content = ElementContent::Annotation {
            kind: AnnotationKind::TrackedChange,
            text: format!("{verb}: {text}"),
            author: self.author,
            date: self.date,
            target: Some(target).filter(|target| !target.is_empty()),
            error: None,
        };
        Some(content.into())
    }
}

/// Reads the changes that the head of a text lists, by their ids.
pub(super) fn read_changes(xml: &mut XmlReader<'_>) -> Result<HashMap<String, ChangedRegion>, UnreadableFile> {
    let (depth, mut changes, mut id) = (xml.depth(), HashMap::new(), String::new());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"changed-region" => id = tag.attribute("id").unwrap_or_default(),
            kind @ (b"insertion" | b"deletion") if changes.len() < CHANGES => {
                let is_deletion = kind == b"deletion";
                let change = read_change(xml, is_deletion)?;
                changes.insert(std::mem::take(&mut id), change);
            }
            _ => {}
        }
    }
    Ok(changes)
}

fn read_change(xml: &mut XmlReader<'_>, is_deletion: bool) -> Result<ChangedRegion, UnreadableFile> {
    let (depth, mut change) = (xml.depth(), ChangedRegion { is_deletion, ..ChangedRegion::default() });
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"creator" => change.author = Some(xml.text()?),
            b"date" => change.date = Some(xml.text()?),
            b"p" | b"h" => {
                let text = xml.text()?;
                if !change.text.is_empty() {
                    change.text.push(' ');
                }
                let left = QUOTED.saturating_sub(change.text.chars().count());
                change.text.extend(text.chars().take(left));
            }
            _ => {}
        }
    }
    Ok(change)
}
