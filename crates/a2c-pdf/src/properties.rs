//! What a file says about itself.

use a2c_document_model::DocumentProperties;
use hayro_syntax::Pdf;
use hayro_syntax::object::{DateTime, Dict, Stream};

use crate::text_string::{text_entry, text_string};
use crate::unpack::unpack;

/// The longest description in XML that is looked into for a title.
const DESCRIPTION: usize = 1 << 20;

/// What programs write where nobody gave a title or a name.
const NOTHING: [&str; 3] = ["untitled", "anonymous", "unspecified"];

/// The properties of a file.
pub(crate) fn read_properties(pdf: &Pdf, catalog: &Dict<'_>) -> DocumentProperties {
    let facts = pdf.metadata();
    let text = |bytes: &Option<Box<[u8]>>| {
        let text = bytes.as_ref().map(|bytes| text_string(bytes));
        text.filter(|text| !text.is_empty() && !NOTHING.contains(&text.trim_matches(['(', ')'])))
    };
    let keywords = text(&facts.keywords).unwrap_or_default();
    let keywords = keywords.split([',', ';', '，', '；']).map(str::trim).filter(|word| !word.is_empty());
    DocumentProperties {
        title: text(&facts.title).or_else(|| described_title(catalog)),
        author: text(&facts.author),
        subject: text(&facts.subject),
        keywords: keywords.map(str::to_owned).collect(),
        created: facts.creation_date.as_ref().map(iso),
        modified: facts.modification_date.as_ref().map(iso),
        language: text_entry(catalog, "Lang"),
    }
}

fn iso(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = date;
    let sign = if *utc_offset_hour < 0 { '-' } else { '+' };
    let offset = utc_offset_hour.unsigned_abs();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{offset:02}:{utc_offset_minute:02}")
}

/// The title in the description that newer files have.
fn described_title(catalog: &Dict<'_>) -> Option<String> {
    let bytes = unpack(&catalog.get::<Stream<'_>>("Metadata")?, DESCRIPTION).ok()?;
    title_in(&String::from_utf8_lossy(&bytes))
}

fn title_in(description: &str) -> Option<String> {
    let (_, title) = description.split_once("<dc:title>")?;
    let (title, _) = title.split_once("</dc:title>")?;
    let (_, item) = title.split_once("<rdf:li")?;
    let (item, _) = item.split_once('>')?.1.split_once("</rdf:li>")?;
    let item = item.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    let item = item.replace("&amp;", "&").trim().to_owned();
    Some(item).filter(|title| !title.is_empty() && title != "untitled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_found_in_a_description() {
        let text = r#"<dc:title><rdf:Alt><rdf:li xml:lang="x-default">A &amp; B</rdf:li></rdf:Alt></dc:title>"#;
        assert_eq!(title_in(text).as_deref(), Some("A & B"));
        assert_eq!(title_in("<dc:title></dc:title>"), None);
        assert_eq!(title_in("<dc:title><rdf:li>never ends"), None);
    }
}
