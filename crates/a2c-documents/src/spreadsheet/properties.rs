//! What an Office file says about itself.

use a2c_document_model::{DocumentProperties, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The longest property that is kept, in bytes.
const PROPERTY_BYTES: usize = 4096;

/// Reads `docProps/core.xml`, or the `meta.xml` of an OpenDocument file: both use the words of Dublin Core.
pub(super) fn read_properties(
    bytes: &[u8],
    part: &str,
    limits: &ReadLimits,
) -> Result<DocumentProperties, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let mut properties = DocumentProperties::default();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => {
                let place = match tag.name() {
                    b"title" => &mut properties.title,
                    b"creator" | b"initial-creator" => &mut properties.author,
                    b"subject" => &mut properties.subject,
                    b"created" | b"creation-date" => &mut properties.created,
                    b"modified" | b"date" => &mut properties.modified,
                    b"language" => &mut properties.language,
                    b"keywords" | b"keyword" => {
                        let words = reader.text()?;
                        let words = words.split([',', ';']).map(str::trim).filter(|word| !word.is_empty());
                        properties.keywords.extend(words.take(100).map(shortened));
                        continue;
                    }
                    _ => continue,
                };
                let text = reader.text()?;
                if !text.trim().is_empty() {
                    *place = Some(shortened(text.trim()));
                }
            }
            XmlEvent::Eof => return Ok(properties),
            _ => {}
        }
    }
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(PROPERTY_BYTES)].to_owned()
}
