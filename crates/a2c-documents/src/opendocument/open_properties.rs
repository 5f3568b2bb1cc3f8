//! What an OpenDocument file says about itself.

use a2c_document_model::{DocumentProperties, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The longest property that is kept, in bytes, and the most keywords.
const PROPERTY_BYTES: usize = 4096;
const KEYWORDS: usize = 100;

/// Reads `meta.xml`.
pub(super) fn read_open_properties(bytes: &[u8], limits: &ReadLimits) -> Result<DocumentProperties, UnreadableFile> {
    let mut xml = XmlReader::new(bytes, "meta.xml", limits);
    let (mut properties, mut last_author) = (DocumentProperties::default(), None);
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        let field = match tag.name() {
            b"title" => &mut properties.title,
            b"initial-creator" => &mut properties.author,
            b"creator" => &mut last_author,
            b"subject" => &mut properties.subject,
            b"creation-date" => &mut properties.created,
            b"date" => &mut properties.modified,
            b"language" => &mut properties.language,
            b"keyword" => {
                let words = xml.text()?;
                let words = words.split([',', ';', '，', '；']).map(str::trim).filter(|word| !word.is_empty());
                properties.keywords.extend(words.map(shortened));
                properties.keywords.truncate(KEYWORDS);
                continue;
            }
            _ => continue,
        };
        let text = xml.text()?;
        *field = Some(shortened(text.trim())).filter(|text| !text.is_empty());
    }
    properties.author = properties.author.or(last_author);
    Ok(properties)
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(PROPERTY_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_began_a_file_is_its_author() {
        let text = "<m><dc:title>T</dc:title><dc:creator>Last</dc:creator><meta:initial-creator>First</meta:initial-creator>\
                    <meta:keyword>a, b</meta:keyword><meta:keyword>c</meta:keyword><dc:date>2024-01-02</dc:date></m>";
        let properties = read_open_properties(text.as_bytes(), &ReadLimits::default()).unwrap();
        assert_eq!((properties.title.as_deref(), properties.author.as_deref()), (Some("T"), Some("First")));
        assert_eq!(
            (properties.keywords.join(" "), properties.modified.as_deref()),
            ("a b c".into(), Some("2024-01-02"))
        );
    }
}
