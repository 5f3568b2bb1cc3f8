//! The relationships of a part of an Office file: which other parts belong to it.

use a2c_document_model::UnreadableFile;

use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader, utf8};

/// The relationships of one part that are kept; a sheet has one for every link.
const RELATIONSHIPS: usize = 100_000;

/// A part, or an address, that another part belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartRelationship {
    /// How the part calls it.
    pub(super) id: String,
    /// What it is: the last segment of its type.
    pub(super) kind: String,
    /// The name of a part, or an address outside of the file, which is shown and never opened.
    pub(super) target: String,
    /// Whether it is outside of the file.
    pub(super) external: bool,
}

/// The relationships of a part.
pub(super) fn relationships(
    archive: &mut DocumentArchive,
    part: &str,
    limits: &ReadLimits,
) -> Result<Vec<PartRelationship>, UnreadableFile> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let separator = if folder.is_empty() { "" } else { "/" };
    let place = format!("{folder}{separator}_rels/{name}.rels");
    let Some(bytes) = archive.read_if_there(&place)? else { return Ok(Vec::new()) };
    let bytes = utf8(bytes);
    let mut reader = XmlReader::new(&bytes, &place, limits);
    let mut found = Vec::new();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) if tag.name() == b"Relationship" && found.len() < RELATIONSHIPS => {
                let [id, kind, target] = ["Id", "Type", "Target"].map(|name| tag.attribute(name).unwrap_or_default());
                let external = tag.attribute("TargetMode").is_some_and(|mode| mode == "External");
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let target = if external { target } else { resolved(folder, &target) };
                found.push(PartRelationship { id, kind, target, external });
            }
            XmlEvent::Eof => return Ok(found),
            _ => {}
        }
    }
}

/// The first part of a kind.
pub(super) fn of_kind<'a>(all: &'a [PartRelationship], kind: &str) -> Option<&'a str> {
    all_of_kind(all, kind).next()
}

/// All parts of a kind.
pub(super) fn all_of_kind<'a>(all: &'a [PartRelationship], kind: &str) -> impl Iterator<Item = &'a str> {
    all.iter().filter(move |one| one.kind == kind && !one.external).map(|one| one.target.as_str())
}

/// What the id of a relationship stands for.
pub(super) fn of_id<'a>(all: &'a [PartRelationship], id: &str) -> Option<&'a PartRelationship> {
    all.iter().find(|one| one.id == id)
}

/// The name of a part that is written relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in target.split('/') {
        match segment {
            ".." => _ = segments.pop(),
            "." | "" => {}
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_folder_of_their_part() {
        assert_eq!(resolved("xl/worksheets", "../drawings/drawing1.xml"), "xl/drawings/drawing1.xml");
        assert_eq!(resolved("xl", "worksheets/sheet1.xml"), "xl/worksheets/sheet1.xml");
        assert_eq!(resolved("xl", "/xl/styles.xml"), "xl/styles.xml");
        assert_eq!(resolved("xl", "../../../../etc/passwd"), "etc/passwd");
    }
}
