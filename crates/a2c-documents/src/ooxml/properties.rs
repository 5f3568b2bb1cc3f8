//! The core properties of a package.

use a2c_document_model::{DocumentProperties, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// Reads the part of the core properties.
pub(super) fn read_properties(
    bytes: &[u8],
    part: &str,
    limits: &ReadLimits,
) -> Result<DocumentProperties, UnreadableFile> {
    let mut xml = XmlReader::new(bytes, part, limits);
    let mut properties = DocumentProperties::default();
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        let field = match tag.name() {
            b"title" => &mut properties.title,
            b"creator" => &mut properties.author,
            b"subject" => &mut properties.subject,
            b"created" => &mut properties.created,
            b"modified" => &mut properties.modified,
            b"language" => &mut properties.language,
            b"keywords" => {
                let words = xml.text()?;
                let words = words.split([',', ';', '，', '；']).map(str::trim).filter(|word| !word.is_empty());
                properties.keywords = words.map(str::to_owned).collect();
                continue;
            }
            _ => continue,
        };
        let text = xml.text()?;
        *field = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }
    Ok(properties)
}
