//! Marked content: what a page says about its own parts.

use std::collections::HashSet;

use hayro_syntax::object::{Dict, Name, ObjRef, ObjectIdentifier};

use crate::text_string::text_entry;

/// How deep marks are nested; deeper ones are counted only.
const DEPTH: usize = 256;

/// What a part of a page is, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ContentRole {
    #[default]
    Body,
    Heading(u8),
    /// What stands above every page.
    RunningHeader,
    /// What stands below every page.
    RunningFooter,
}

/// A text that stands for the glyphs of a part.
#[derive(Debug)]
struct ActualText {
    text: String,
    is_used: bool,
}

struct Mark {
    role: ContentRole,
    hidden: bool,
    actual: Option<ActualText>,
}

/// The marks that are open.
#[derive(Default)]
pub(super) struct MarkStack {
    marks: Vec<Mark>,
    beyond: usize,
}

impl MarkStack {
    /// Opens a mark.
    pub(super) fn begin(
        &mut self,
        tag: &[u8],
        properties: Option<&Dict<'_>>,
        layer: Option<ObjRef>,
        off: &HashSet<ObjectIdentifier>,
    ) {
        if self.marks.len() >= DEPTH {
            self.beyond += 1;
            return;
        }
        let hidden = tag == b"OC" && layer.is_some_and(|layer| off.contains(&layer.into()));
        let role = role_of(tag, properties).unwrap_or_else(|| self.role());
        let actual = properties.and_then(|properties| text_entry(properties, "ActualText"));
        let actual = actual.map(|text| ActualText { text, is_used: false });
        self.marks.push(Mark { role, hidden: hidden || self.is_hidden(), actual });
    }

    /// Closes the last mark.
    pub(super) fn end(&mut self) {
        match self.beyond.checked_sub(1) {
            Some(beyond) => self.beyond = beyond,
            None => drop(self.marks.pop()),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.marks.len()
    }

    /// Closes all marks above a depth.
    pub(super) fn end_to(&mut self, depth: usize) {
        self.beyond = 0;
        self.marks.truncate(depth);
    }

    pub(super) fn role(&self) -> ContentRole {
        self.marks.last().map(|mark| mark.role).unwrap_or_default()
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.marks.last().is_some_and(|mark| mark.hidden)
    }

    /// The text that stands for the next glyph, where one does: the whole of it for the first glyph, nothing for the others.
    pub(super) fn actual_text(&mut self) -> Option<String> {
        let actual = self.marks.iter_mut().rev().find_map(|mark| mark.actual.as_mut())?;
        match actual.is_used {
            true => Some(String::new()),
            false => {
                actual.is_used = true;
                Some(std::mem::take(&mut actual.text))
            }
        }
    }
}

fn role_of(tag: &[u8], properties: Option<&Dict<'_>>) -> Option<ContentRole> {
    match tag {
        b"H" | b"Title" => Some(ContentRole::Heading(1)),
        [b'H', level @ b'1'..=b'6'] => Some(ContentRole::Heading(level - b'0')),
        b"P" | b"LI" | b"LBody" | b"TD" | b"TH" => Some(ContentRole::Body),
        b"Artifact" => {
            let name = |key: &str| properties?.get::<Name<'_>>(key).map(|name| name.as_str().to_owned());
            match (name("Type").as_deref(), name("Subtype").as_deref()) {
                (_, Some("Header")) => Some(ContentRole::RunningHeader),
                (_, Some("Footer")) => Some(ContentRole::RunningFooter),
                _ => None,
            }
        }
        _ => None,
    }
}
