//! Texts with formatting, lists, tables, and the flow of a document that is divided into pages: what readers of word
//! processors and slides put together, whatever the format.

mod budget;
mod code_style;
mod counting;
mod document_flow;
mod list_builder;
mod placed_paragraph;
mod runs;
mod section_pages;
mod table_grid;

pub(crate) use budget::MemoryBudget;
pub(crate) use code_style::{is_code_name, is_fixed_width};
pub(crate) use counting::{CountingFormat, number_label};
pub(crate) use document_flow::{DocumentFlow, FlowForm, FlowItem, SectionBands};
pub(crate) use list_builder::{BULLET, ListBuilder, ListItem};
pub(crate) use placed_paragraph::PlacedParagraph;
pub(crate) use runs::{RichText, RunFormat};
pub(crate) use section_pages::divide;
pub(crate) use table_grid::{GridCell, TableGrid, VerticalMerge};
