//! The relationships of a part: its links, its pictures, and the other parts that belong to it.

use std::collections::HashMap;

use a2c_document_model::UnreadableFile;

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// What a part is related to, by the ids that its XML uses.
#[derive(Debug, Default)]
pub(crate) struct PartRelationships {
    by_id: HashMap<String, PartRelation>,
    /// The ids in the order of the file.
    order: Vec<String>,
}

/// One relationship.
#[derive(Debug)]
struct PartRelation {
    /// The last segment of its type: `image`, `hyperlink`, `notesSlide`. It is the same in the transitional and the strict
    /// form of the format, which differ in what comes before.
    kind: String,
    /// The name of a part, or the address of something outside of the file.
    target: String,
    external: bool,
}

impl PartRelationships {
    pub(super) fn read(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut xml = XmlReader::new(bytes, &rels_name(part), limits);
        let mut relationships = Self::default();
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            let (Some(id), Some(target)) = (tag.attribute("Id"), tag.attribute("Target")) else { continue };
            let kind = tag.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let external = tag.attribute("TargetMode").as_deref() == Some("External");
            let target = if external { target } else { resolve_part(part, &target) };
            relationships.order.push(id.clone());
            relationships.by_id.insert(id, PartRelation { kind, target, external });
        }
        Ok(relationships)
    }

    /// The name of the part that an id stands for.
    pub(crate) fn part(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).filter(|found| !found.external).map(|found| found.target.as_str())
    }

    /// The address outside of the file that an id stands for.
    pub(crate) fn address(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).filter(|found| found.external).map(|found| found.target.as_str())
    }

    /// The first part of a kind.
    pub(crate) fn part_of_kind(&self, kind: &str) -> Option<&str> {
        let mut found = self.order.iter().filter_map(|id| self.by_id.get(id));
        found.find(|found| found.kind == kind && !found.external).map(|found| found.target.as_str())
    }
}

/// The name of the part that holds the relationships of a part; that of the package for an empty name.
pub(super) fn rels_name(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/_rels/{name}.rels"),
        None => format!("_rels/{part}.rels"),
    }
}

/// The name of a part that another one refers to. It never leaves the package: its root is the top.
fn resolve_part(from: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default().replace('\\', "/");
    let mut folders: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => from.rsplit_once('/').map(|(folder, _)| folder.split('/').collect()).unwrap_or_default(),
    };
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(folders.pop()),
            name => folders.push(name),
        }
    }
    unquoted(&folders.join("/"))
}

/// A name with its `%20`s resolved: archives store names as they are, relationships as addresses.
fn unquoted(name: &str) -> String {
    if !name.contains('%') {
        return name.to_owned();
    }
    let (bytes, mut written, mut at) = (name.as_bytes(), Vec::with_capacity(name.len()), 0);
    while at < bytes.len() {
        let hex = name.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                written.push(byte);
                at += 3;
            }
            None => {
                written.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&written).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_names_within_the_package() {
        for (from, target, expected) in [
            ("word/document.xml", "media/image1.png", "word/media/image1.png"),
            ("word/document.xml", "/word/media/image1.png", "word/media/image1.png"),
            ("ppt/slides/slide1.xml", "../media/a%20b.png", "ppt/media/a b.png"),
            ("", "word/document.xml", "word/document.xml"),
            ("a.xml", "../../../etc/passwd", "etc/passwd"),
            ("word/document.xml", "media\\x.png", "word/media/x.png"),
            ("word/document.xml", "a%zz%4", "word/a%zz%4"),
        ] {
            assert_eq!(resolve_part(from, target), expected, "{from} {target}");
        }
        assert_eq!(rels_name("word/document.xml"), "word/_rels/document.xml.rels");
        assert_eq!(rels_name(""), "_rels/.rels");
    }
}
