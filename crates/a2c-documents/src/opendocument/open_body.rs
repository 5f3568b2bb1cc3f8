//! What is known of a file while its texts are read.

use std::collections::{HashMap, HashSet};

use a2c_document_model::UnreadableFile;

use super::changed_regions::ChangedRegion;
use super::list_counts::ListCounts;
use super::open_package::OpenPackage;
use super::open_styles::{OpenStyle, OpenStyles};
use crate::rich_text::{DocumentFlow, FlowForm, MemoryBudget, PlacedParagraph};
use crate::xml::XmlReader;

/// How many tables, frames and notes may stand in each other.
const NESTING: usize = 24;

/// How many warnings are kept.
const WARNINGS: usize = 50;

/// Reads texts of a file.
pub(crate) struct OpenBody<'p> {
    pub(crate) package: &'p mut OpenPackage,
    pub(crate) styles: OpenStyles,
    pub(crate) budget: MemoryBudget,
    pub(crate) warnings: Vec<String>,
    /// Whether lists side by side are one: programs for slides write a list for every item.
    pub(crate) joins_lists: bool,
    /// The master pages of the sections so far; the first has one only where its first paragraph names it.
    pub(crate) masters: Vec<Option<String>>,
    pub(super) changes: HashMap<String, ChangedRegion>,
    pub(super) footnotes_seen: i64,
    pub(super) endnotes_seen: i64,
    /// The charts and equations that were read: each stands in a text once.
    pub(super) objects: HashSet<String>,
    pub(super) lists: ListCounts,
    pub(super) headings: ListCounts,
    nesting: usize,
    pub(super) in_contents: bool,
    has_begun: bool,
}

impl<'p> OpenBody<'p> {
    pub(crate) fn new(package: &'p mut OpenPackage, styles: OpenStyles) -> Self {
        let budget = MemoryBudget::new(package.limits().document_bytes);
        let mut headings = ListCounts::default();
        headings.begin(false, None);
        Self {
            package,
            styles,
            budget,
            warnings: Vec::new(),
            joins_lists: false,
            masters: vec![None],
            changes: HashMap::new(),
            footnotes_seen: 0,
            endnotes_seen: 0,
            objects: HashSet::new(),
            lists: ListCounts::default(),
            headings,
            nesting: 0,
            in_contents: false,
            has_begun: false,
        }
    }

    /// Remembers what was passed over.
    pub(crate) fn warn(&mut self, warning: &str) {
        if self.warnings.len() < WARNINGS && !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// Whether what is read now stands in no frame, and in no table but one.
    pub(super) fn is_outermost_table(&self) -> bool {
        self.nesting == 1
    }

    /// Puts a block into a flow, where there is memory for it.
    pub(super) fn put(&mut self, placed: PlacedParagraph, flow: &mut DocumentFlow) {
        if placed.afford(&mut self.budget, flow.form) {
            placed.put(flow);
        }
    }

    /// Does something one level deeper, where that is not too deep.
    pub(super) fn deeper(
        &mut self,
        xml: &mut XmlReader<'_>,
        read: impl FnOnce(&mut Self, &mut XmlReader<'_>) -> Result<(), UnreadableFile>,
    ) -> Result<(), UnreadableFile> {
        if self.nesting >= NESTING {
            self.warn("tables and frames stand in each other too deeply: the innermost are not shown");
            return xml.skip();
        }
        self.nesting += 1;
        let outcome = read(self, xml);
        self.nesting -= 1;
        outcome
    }

    /// A page or a section begins where the style of a block says so.
    pub(super) fn begin_block(&mut self, style: &OpenStyle, flow: &mut DocumentFlow) {
        if flow.form == FlowForm::Elements && self.nesting == 0 {
            self.begin_at_top(style, flow);
        }
    }

    /// The same for a table, which is one level deeper itself.
    pub(super) fn begin_table(&mut self, style: &OpenStyle, flow: &mut DocumentFlow) {
        if flow.form == FlowForm::Elements {
            self.begin_at_top(style, flow);
        }
    }

    fn begin_at_top(&mut self, style: &OpenStyle, flow: &mut DocumentFlow) {
        match &style.master {
            Some(master) if !self.has_begun => self.masters = vec![Some(master.clone())],
            Some(master) => {
                flow.section_end();
                self.masters.push(Some(master.clone()));
            }
            None if style.break_before => flow.page_break(),
            None => {}
        }
        self.has_begun = true;
    }

    /// Whether what is read stands in no table and no frame.
    pub(super) fn is_at_top(&self) -> bool {
        self.nesting == 0
    }
}

/// Whether an element is drawn.
pub(super) fn is_shape(name: &[u8]) -> bool {
    matches!(
        name,
        b"frame"
            | b"g"
            | b"custom-shape"
            | b"rect"
            | b"ellipse"
            | b"circle"
            | b"line"
            | b"polygon"
            | b"polyline"
            | b"path"
            | b"regular-polygon"
            | b"connector"
            | b"caption"
            | b"measure"
    )
}
