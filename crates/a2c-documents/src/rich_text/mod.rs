//! Texts with formatting, lists, tables, and the flow of a document that is divided into pages: what readers of word
//! processors and slides put together, whatever the format.

mod budget;
mod counting;
mod document_flow;
mod link_field;
mod list_builder;
mod placed_paragraph;
mod run_toggles;
mod runs;
mod section_pages;
mod style_names;
mod table_grid;

pub(crate) use budget::MemoryBudget;
pub(crate) use counting::{CountFormat, number_label};
pub(crate) use document_flow::{DocumentFlow, FlowForm, FlowItem, SectionBands};
pub(crate) use link_field::link_address;
pub(crate) use list_builder::{BULLET, ListBuilder, ListItem};
pub(crate) use placed_paragraph::PlacedParagraph;
pub(crate) use run_toggles::RunToggles;
pub(crate) use runs::{RichText, RunFormat};
pub(crate) use section_pages::{divide, keep_before_mistake};
pub(crate) use style_names::{contents_level, heading_level, is_code_name, is_fixed_width};
pub(crate) use table_grid::{GridCell, TableGrid, VerticalMerge};
