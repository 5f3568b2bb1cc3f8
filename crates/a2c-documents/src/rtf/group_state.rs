//! What a group of RTF declares: groups inherit it, and their end takes it back.

use crate::rich_text::RunFormat;

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RtfDestination {
    #[default]
    Body,
    Fonts,
    Styles,
    Info,
    /// A property of the document.
    Property(RtfProperty),
    /// What a field does.
    Instruction,
    /// The label of an item.
    Label,
    Picture,
    /// The name and the value of a property of a picture.
    ShapeName,
    ShapeValue,
    /// Who wrote a comment.
    CommentAuthor,
    /// Nobody sees it.
    Skipped,
}

/// A property of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RtfProperty {
    Title,
    Author,
    Subject,
    Keywords,
    Created,
    Modified,
}

/// What holds within a group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupState {
    pub(super) destination: RtfDestination,
    pub(super) run: RunFormat,
    pub(super) hidden: bool,
    pub(super) font: i32,
    /// How many signs after a character in Unicode stand for it in programs that know none.
    pub(super) stand_ins: usize,
    pub(super) paragraph: ParagraphState,
    /// Whether the group is of a destination that programs may pass over.
    pub(super) optional: bool,
    /// Whether its end is the end of a link.
    pub(super) ends_link: bool,
    /// Whether its end is the end of a text beside the body.
    pub(super) ends_text: bool,
    /// Whether its end is the end of a field.
    pub(super) ends_field: bool,
    /// Whether its end is the end of a picture.
    pub(super) ends_picture: bool,
}

/// What a paragraph declares.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ParagraphState {
    pub(super) style: Option<i32>,
    pub(super) outline: Option<u8>,
    pub(super) list: Option<i32>,
    pub(super) list_level: u8,
    pub(super) in_table: bool,
    pub(super) indent: i32,
    /// How far the first line stands from the indentation.
    pub(super) first_indent: i32,
    pub(super) page_break_before: bool,
    pub(super) rule_below: bool,
}

impl GroupState {
    /// The state of a group within this one. What ends with this group does not end with the inner one.
    pub(super) fn inner(self) -> Self {
        Self { optional: false, ends_link: false, ends_text: false, ends_field: false, ends_picture: false, ..self }
    }
}
