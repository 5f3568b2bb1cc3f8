//! What OpenDocument files share: the package, its properties and styles, and the blocks of text that stand in the body of a
//! text as well as in the shapes of a slide.

mod changed_regions;
mod drawn_frame;
mod list_counts;
mod list_styles;
mod open_blocks;
mod open_body;
mod open_chart;
mod open_lists;
mod open_package;
mod open_paragraph;
mod open_properties;
mod open_styles;
mod open_table;

pub(crate) use open_body::OpenBody;
pub(crate) use open_package::OpenPackage;
pub(crate) use open_styles::{OpenStyles, StyleFamily};
