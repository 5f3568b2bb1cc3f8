//! What Word documents, slides and other Office Open XML files share: the package with its parts and relationships, the
//! properties, texts with formatting, pictures, charts, diagrams and equations.

mod alternate;
mod budget;
mod chart;
mod chart_words;
mod content_types;
mod counting;
mod diagram;
mod drawing_text;
mod equation;
mod list_builder;
mod old_container;
mod package;
mod picture;
mod properties;
mod relationships;
mod rich_text;
mod table_grid;

pub(crate) use alternate::AlternateForms;
pub(crate) use budget::MemoryBudget;
pub(crate) use chart::read_chart;
pub(crate) use counting::{CountingFormat, number_label};
pub(crate) use diagram::read_diagram;
pub(crate) use drawing_text::{
    BulletLevels, DrawingBullet, DrawingParagraph, DrawingText, LinkResolver, read_bullet_levels, read_drawing_text,
};
pub(crate) use equation::read_equation;
pub(crate) use list_builder::{BULLET, ListBuilder, ListItem};
pub(crate) use package::OfficePackage;
pub(crate) use picture::{PictureFacts, picture_draft};
pub(crate) use relationships::PartRelationships;
pub(crate) use rich_text::{RichText, RunFormat};
pub(crate) use table_grid::{GridCell, TableGrid, VerticalMerge};
