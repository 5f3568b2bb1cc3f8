//! A cell as its file has it, and who takes cells one after the other.

use std::ops::ControlFlow;

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};

use super::shared_strings::SharedStrings;

/// A cell that is not empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct SheetCell<'a> {
    /// Where it is.
    pub(super) place: CellPlace,
    /// The number of its style.
    pub(super) style: u32,
    /// Its value; of a formula, the last one that was computed.
    pub(super) value: CellValue<'a>,
    /// Its formula.
    pub(super) formula: Option<CellFormula<'a>>,
}

/// The value of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CellValue<'a> {
    /// Nothing: a formula that was never computed.
    Nothing,
    /// A number, as it is written.
    Number(&'a str),
    /// A number whose text is known already.
    Shown {
        /// The text.
        text: &'a str,
        /// The number, as it is written.
        number: &'a str,
    },
    /// The number of a text that cells share.
    Shared(u32),
    /// A text of its own.
    Text(&'a str),
    /// True or false.
    Flag(bool),
    /// An error, such as `#DIV/0!`.
    Error(&'a str),
    /// A date, in ISO 8601.
    Date(&'a str),
}

/// The formula of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CellFormula<'a> {
    /// Its text without the equals sign; empty where the formula of another cell holds here too.
    pub(super) text: &'a str,
    /// The number of the formula that several cells share.
    pub(super) shared: Option<u32>,
}

/// Takes the cells of a sheet: row by row, from left to right.
pub(super) trait CellVisitor {
    /// Takes a cell, and says whether it wants more.
    fn cell(&mut self, cell: &SheetCell<'_>) -> Result<ControlFlow<()>, UnreadableFile>;
}

/// Whatever can give the cells of one sheet, as often as wanted.
pub(super) trait CellSource {
    /// Gives cells until there are no more, or the visitor wants no more. What stands below the cells is known only where
    /// all cells were given.
    fn visit(&mut self, visitor: &mut dyn CellVisitor) -> Result<Option<SheetTail>, UnreadableFile>;

    /// The texts that cells share, at least up to this number.
    fn strings(&mut self, last: u32) -> Result<&SharedStrings, UnreadableFile>;

    /// Where a link leads.
    fn link_target(&self, link: &SheetLink) -> Option<String>;
}

/// What a sheet says besides its cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SheetTail {
    /// The merged cells.
    pub(super) merges: Vec<CellRange>,
    /// The links of cells.
    pub(super) links: Vec<SheetLink>,
    /// The relationship of its drawing.
    pub(super) drawing: Option<String>,
    /// What is printed above its pages.
    pub(super) header: Option<String>,
    /// What is printed below its pages.
    pub(super) footer: Option<String>,
}

/// A link of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SheetLink {
    /// The cell.
    pub(super) place: CellPlace,
    /// Its relationship, where it leads out of the workbook.
    pub(super) relationship: Option<String>,
    /// The place in the workbook, or within what the relationship leads to.
    pub(super) location: Option<String>,
}
