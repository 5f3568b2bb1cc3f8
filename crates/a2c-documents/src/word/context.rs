//! What is known of a document while its text is read.

use std::collections::HashSet;

use super::fields::OpenFields;
use super::notes::WordNotes;
use super::styles::WordStyles;
use a2c_document_model::UnreadableFile;

use crate::ooxml::{OfficePackage, PartRelationships};

/// How many warnings are kept.
const WARNINGS: usize = 50;

/// The package, its styles and notes, and where reading stands.
pub(super) struct WordContext<'p> {
    pub(super) package: &'p mut OfficePackage,
    pub(super) styles: WordStyles,
    pub(super) notes: WordNotes,
    pub(super) fields: OpenFields,
    /// The relationships of the part that is read.
    pub(super) relationships: PartRelationships,
    pub(super) warnings: Vec<String>,
    /// The charts and diagrams that were drawn: each stands in a text once.
    pub(super) drawn_parts: HashSet<String>,
}

impl WordContext<'_> {
    /// Remembers what was passed over.
    pub(super) fn warn(&mut self, problem: &UnreadableFile) {
        if self.warnings.len() < WARNINGS && !self.warnings.contains(&problem.message) {
            self.warnings.push(problem.message.clone());
        }
    }
}
