//! The headers and footers of sections.

use std::collections::HashSet;

use a2c_document_model::{ElementContent, UnreadableFile};

use super::body::WordBody;
use super::paragraph_properties::SectionProperties;
use crate::ooxml::PartRelationships;
use crate::rich_text::{DocumentFlow, FlowForm, FlowItem, SectionBands};
use crate::xml::{XmlEvent, XmlReader};

/// Reads what stands above and below the pages of a section. A section that refers to none has those of the one before it,
/// which are not repeated.
pub(super) fn read_bands(
    body: &mut WordBody<'_>,
    main: &PartRelationships,
    section: &SectionProperties,
    with_even: bool,
    seen: &mut HashSet<String>,
) -> SectionBands {
    let mut bands = SectionBands { continues: section.continues, ..SectionBands::default() };
    for reference in &section.bands {
        let shown = match reference.which.as_str() {
            "first" => section.first_differs,
            "even" => with_even,
            _ => true,
        };
        let Some(part) = main.part(&reference.relation).filter(|_| shown) else { continue };
        if !seen.insert(part.to_owned()) {
            continue;
        }
        let drafts = if reference.is_header { &mut bands.headers } else { &mut bands.footers };
        match read_band(body, part) {
            Ok((text, items)) => {
                let content = match reference.is_header {
                    true => ElementContent::Header { text: text.clone() },
                    false => ElementContent::Footer { text: text.clone() },
                };
                let known = drafts.iter().any(|draft| draft.content == content);
                drafts.extend(Some(content.into()).filter(|_| !text.is_empty() && !known));
                drafts.extend(items.into_iter().filter_map(|item| match item {
                    FlowItem::Element(draft) => Some(draft),
                    _ => None,
                }));
            }
            Err(problem) => body.context.warn(&problem),
        }
    }
    bands
}

/// The words of a header or a footer, and its pictures.
fn read_band(body: &mut WordBody<'_>, part: &str) -> Result<(String, Vec<FlowItem>), UnreadableFile> {
    let bytes = body.context.package.xml(part)?;
    let limits = body.context.package.limits().clone();
    body.context.relationships = body.context.package.relationships_of(part)?;
    let mut xml = XmlReader::new(&bytes, part, &limits);
    let mut flow = DocumentFlow::new(FlowForm::Lines);
    while let Some(event) = xml.within(0)? {
        if matches!(&event, XmlEvent::Start(tag) if matches!(tag.name(), b"hdr" | b"ftr")) {
            let depth = xml.depth();
            body.blocks(&mut xml, depth, &mut flow)?;
        }
    }
    let (text, _, items) = flow.into_lines();
    Ok((text, items))
}
