//! What Word documents, slides and other Office Open XML files share: the package with its parts and relationships, the
//! properties, texts with formatting, pictures, charts, diagrams and equations.

mod alternate;
mod chart;
mod content_types;
mod diagram;
mod drawing_text;
mod equation;
mod old_container;
mod package;
mod picture;
mod properties;
mod relationships;

pub(crate) use alternate::AlternateForms;
pub(crate) use chart::read_chart;
pub(crate) use diagram::read_diagram;
pub(crate) use drawing_text::{
    BulletLevels, DrawingBullet, DrawingParagraph, DrawingText, LinkResolver, read_bullet_levels, read_drawing_text,
};
pub(crate) use equation::read_equation;
pub(crate) use package::OfficePackage;
pub(crate) use picture::{PictureFacts, picture_draft};
pub(crate) use relationships::PartRelationships;
