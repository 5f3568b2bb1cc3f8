//! SmartArt: the words of a diagram, as they hang together.

use std::collections::HashMap;

use a2c_document_model::{ElementContent, ElementDraft, ListEntry, UnreadableFile};

use super::package::OfficePackage;
use crate::xml::{XmlEvent, XmlReader};

/// The most points of a diagram, and how deep they hang below each other.
const POINTS: usize = 5_000;
const DEPTH: usize = 32;

/// Reads the data part of a diagram.
pub(crate) fn read_diagram(package: &mut OfficePackage, part: &str) -> Result<ElementDraft, UnreadableFile> {
    let bytes = package.xml(part)?;
    let items = read_points(&mut XmlReader::new(&bytes, part, package.limits()))?;
    Ok(ElementContent::Diagram { items }.into())
}

/// The points of a diagram and the order in which they hang below others.
#[derive(Default)]
struct Points {
    /// The words of a point and whether the diagram begins there.
    words: HashMap<String, String>,
    root: Option<String>,
    below: HashMap<String, Vec<(u32, String)>>,
}

fn read_points(xml: &mut XmlReader<'_>) -> Result<Vec<ListEntry>, UnreadableFile> {
    let mut points = Points::default();
    let mut current = None;
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"pt" => {
                let kind = tag.attribute("type");
                let id = tag.attribute("modelId").unwrap_or_default();
                if kind.as_deref() == Some("doc") {
                    points.root = Some(id.clone());
                }
                // Points of other types are only there for the layout.
                let counts = matches!(kind.as_deref(), None | Some("node" | "asst" | "doc"));
                current = Some(id).filter(|_| counts && points.words.len() < POINTS);
            }
            b"t" => {
                let words = words(xml)?;
                if let Some(id) = current.take() {
                    points.words.insert(id, words);
                }
            }
            b"cxn" => {
                let kind = tag.attribute("type");
                if matches!(kind.as_deref(), None | Some("parOf")) && points.below.len() < POINTS {
                    let (from, to) = (tag.attribute("srcId"), tag.attribute("destId"));
                    if let (Some(from), Some(to)) = (from, to) {
                        points.below.entry(from).or_default().push((tag.number("srcOrd").unwrap_or(0), to));
                    }
                }
            }
            _ => {}
        }
    }
    let root = points.root.take().unwrap_or_default();
    Ok(points.hanging(&root, 0))
}

impl Points {
    /// The items below a point. A point is taken once, so that a circle ends.
    fn hanging(&mut self, id: &str, depth: usize) -> Vec<ListEntry> {
        let mut below = self.below.remove(id).unwrap_or_default();
        below.sort_by_key(|(order, _)| *order);
        let mut items = Vec::new();
        for (_, id) in below {
            let Some(words) = self.words.remove(&id) else { continue };
            let inner = if depth < DEPTH { self.hanging(&id, depth + 1) } else { Vec::new() };
            match words.is_empty() {
                true => items.extend(inner),
                false => items.push(ListEntry::new(words, inner)),
            }
        }
        items
    }
}

fn words(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let (depth, mut written) = (xml.depth(), String::new());
    while let Some(event) = xml.within(depth)? {
        match event {
            XmlEvent::Start(tag) => match tag.name() {
                b"t" => {
                    let text = xml.text()?;
                    written.push_str(&text);
                }
                b"br" => written.push('\n'),
                _ => {}
            },
            XmlEvent::End(end) if end.name() == b"p" => written.push('\n'),
            _ => {}
        }
    }
    Ok(written.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ReadLimits;

    #[test]
    fn points_hang_below_their_parents_in_order() {
        let point = |id: &str, words: &str| {
            format!(
                "<dgm:pt modelId=\"{id}\"><dgm:t><a:p><a:r><a:t>{words}</a:t></a:r></a:p></dgm:t></dgm:pt>\
                 <dgm:pt modelId=\"{id}p\" type=\"pres\"><dgm:t/></dgm:pt>"
            )
        };
        let link =
            |from: &str, to: &str, order: u8| format!("<dgm:cxn srcId=\"{from}\" destId=\"{to}\" srcOrd=\"{order}\"/>");
        let text = format!(
            "<dgm:dataModel><dgm:ptLst><dgm:pt modelId=\"0\" type=\"doc\"><dgm:t/></dgm:pt>{}{}{}</dgm:ptLst><dgm:cxnLst>{}{}{}{}\
             </dgm:cxnLst></dgm:dataModel>",
            point("1", "second"),
            point("2", "first"),
            point("3", "inner"),
            link("0", "1", 1),
            link("0", "2", 0),
            link("2", "3", 0),
            link("3", "2", 0),
        );
        let limits = ReadLimits::default();
        let items = read_points(&mut XmlReader::new(text.as_bytes(), "p", &limits)).unwrap();
        let first = ListEntry::new("first", vec![ListEntry::Plain("inner".into())]);
        assert_eq!(items, [first, ListEntry::Plain("second".into())]);
    }
}
