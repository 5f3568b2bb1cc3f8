//! Which paragraphs of a placeholder have bullets: the layout of a slide and its master say so.

use std::collections::HashMap;
use std::sync::Arc;

use a2c_document_model::UnreadableFile;

use crate::ooxml::{BulletLevels, DrawingBullet, OfficePackage, read_bullet_levels};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Which placeholder a shape is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SlidePlaceholder {
    /// `title`, `body`, …; a placeholder for anything where it says nothing.
    pub(super) kind: String,
    pub(super) index: u32,
}

impl SlidePlaceholder {
    pub(super) fn read(tag: &XmlTag<'_>) -> Self {
        let kind = tag.attribute("type").unwrap_or_else(|| "obj".to_owned());
        Self { kind, index: tag.number("idx").unwrap_or(0) }
    }

    /// Whether it is the title of a slide.
    pub(super) fn is_title(&self) -> bool {
        matches!(self.kind.as_str(), "title" | "ctrTitle")
    }
}

/// The bullets that a layout or a master declares.
#[derive(Debug, Default)]
struct DeclaredBullets {
    placeholders: Vec<(SlidePlaceholder, BulletLevels)>,
    /// Those of every text that is no title.
    body: BulletLevels,
}

/// The bullets of the placeholders of a layout, with those of its master.
#[derive(Debug, Default)]
pub(super) struct LayoutBullets {
    layout: Arc<DeclaredBullets>,
    master: Arc<DeclaredBullets>,
}

impl LayoutBullets {
    /// The bullet of a level in a placeholder.
    pub(super) fn bullet(&self, placeholder: &SlidePlaceholder, level: usize) -> DrawingBullet {
        if placeholder.is_title() {
            return DrawingBullet::None;
        }
        let of_layout = self
            .layout
            .placeholders
            .iter()
            .find(|(one, _)| one.index == placeholder.index || (one.kind == placeholder.kind && one.kind != "obj"));
        let kind = of_layout.map_or(placeholder.kind.as_str(), |(one, _)| one.kind.as_str());
        // Placeholders for anything follow that of the text.
        let kind = if matches!(kind, "subTitle" | "obj") { "body" } else { kind };
        let of_master = self.master.placeholders.iter().find(|(one, _)| one.kind == kind);
        let declared = [of_layout, of_master].into_iter().flatten().find_map(|(_, levels)| levels[level]);
        declared.or(self.master.body[level]).unwrap_or(DrawingBullet::None)
    }
}

/// The layouts and masters that were read.
#[derive(Debug, Default)]
pub(super) struct BulletCache {
    parts: HashMap<String, Arc<DeclaredBullets>>,
}

impl BulletCache {
    /// The bullets of a layout. One that cannot be read declares none.
    pub(super) fn of_layout(&mut self, package: &mut OfficePackage, layout: &str) -> LayoutBullets {
        let master = package.relationships_of(layout).ok();
        let master = master.as_ref().and_then(|relationships| relationships.part_of_kind("slideMaster"));
        let master = master.map(|part| self.part(package, part)).unwrap_or_default();
        LayoutBullets { layout: self.part(package, layout), master }
    }

    fn part(&mut self, package: &mut OfficePackage, part: &str) -> Arc<DeclaredBullets> {
        if let Some(known) = self.parts.get(part) {
            return known.clone();
        }
        let read = Arc::new(read_part(package, part).unwrap_or_default());
        self.parts.insert(part.to_owned(), read.clone());
        read
    }
}

fn read_part(package: &mut OfficePackage, part: &str) -> Result<DeclaredBullets, UnreadableFile> {
    let bytes = package.xml(part)?;
    let mut xml = XmlReader::new(&bytes, part, package.limits());
    let (mut declared, mut current) = (DeclaredBullets::default(), None);
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"sp" => current = None,
            b"ph" => {
                let placeholder = SlidePlaceholder::read(&tag);
                declared.placeholders.push((placeholder, BulletLevels::default()));
                current = Some(declared.placeholders.len() - 1);
            }
            b"lstStyle" => {
                let levels = read_bullet_levels(&mut xml)?;
                if let Some(at) = current.take() {
                    declared.placeholders[at].1 = levels;
                }
            }
            b"bodyStyle" => declared.body = read_bullet_levels(&mut xml)?,
            b"titleStyle" | b"otherStyle" | b"timing" | b"extLst" => xml.skip()?,
            _ => {}
        }
    }
    Ok(declared)
}
