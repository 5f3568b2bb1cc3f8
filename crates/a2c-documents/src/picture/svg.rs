//! Drawings in SVG: their size, title and words.

use a2c_document_model::UnreadableFile;

use super::lengths::{css_pixels, whole};
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader, utf8, without_document_type};

/// The bytes of all words that are kept.
const WORDS: usize = 256 << 10;

/// What a drawing says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SvgFacts {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// The words in it, a line for each text.
    pub(super) texts: Vec<String>,
    /// In pixels.
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
}

impl SvgFacts {
    pub(super) fn read(bytes: &[u8], limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let bytes = without_document_type(utf8(bytes.to_vec()));
        let mut xml = XmlReader::new(&bytes, "svg", limits);
        let (mut facts, mut is_drawing, mut left) = (Self::default(), false, WORDS);
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"svg" if !is_drawing => {
                    is_drawing = true;
                    let view: Vec<f64> = numbers(&tag.attribute("viewBox").unwrap_or_default());
                    let of_view = |at: usize| view.get(at).copied().and_then(whole);
                    let side = |name: &str| tag.attribute(name).and_then(|length| css_pixels(&length));
                    (facts.width, facts.height) = (side("width").or(of_view(2)), side("height").or(of_view(3)));
                }
                b"title" if xml.depth() == 2 && facts.title.is_none() => facts.title = words(&xml.text()?),
                b"desc" if xml.depth() == 2 && facts.description.is_none() => facts.description = words(&xml.text()?),
                b"text" | b"flowRoot" => {
                    if let Some(text) = words(&text_of(&mut xml)?).filter(|text| text.len() <= left) {
                        left -= text.len();
                        facts.texts.push(text);
                    }
                }
                b"style" | b"script" | b"metadata" => xml.skip()?,
                _ => {}
            }
        }
        match is_drawing {
            true => Ok(facts),
            false => Err(UnreadableFile::corrupt("the file is no SVG: it has no drawing")),
        }
    }
}

/// The words of a text, whose lines are elements of their own.
fn text_of(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let (depth, mut written) = (xml.depth(), String::new());
    while let Some(event) = xml.within(depth)? {
        match event {
            XmlEvent::Text(text) => written.push_str(&text),
            // A line that stands at a place of its own is not glued to the one before.
            XmlEvent::Start(tag) if tag.attribute("y").is_some() || tag.attribute("dy").is_some() => written.push(' '),
            XmlEvent::Start(tag) if matches!(tag.name(), b"title" | b"desc") => xml.skip()?,
            _ => {}
        }
    }
    Ok(written)
}

fn words(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SvgFacts, UnreadableFile> {
        SvgFacts::read(text.as_bytes(), &ReadLimits::default())
    }

    #[test]
    fn a_drawing_has_a_size_a_title_and_words() {
        let facts = read(
            "<?xml version='1.0'?><!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x.dtd' [<!ENTITY a 'b'>]><svg width='2in' viewBox='0 0 100 50.4'>\
             <title>A  plan</title><desc>of a house</desc><style>text { }</style><g><title>inner</title><text>Kit<tspan>chen</tspan><tspan y='4'>below &a;</tspan></text></g>\
             <text> </text></svg>",
        )
        .unwrap();
        assert_eq!((facts.width, facts.height), (Some(192), Some(50)));
        assert_eq!((facts.title.as_deref(), facts.description.as_deref()), (Some("A plan"), Some("of a house")));
        assert_eq!(facts.texts, ["Kitchen below &a;"]);
    }

    #[test]
    fn what_is_no_drawing_is_refused() {
        for text in ["", "hello", "<html/>", "<!DOCTYPE svg", "<svg", "<svg><!DOCTYPE x></svg>"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("<svg width='100%' height='1e99999'/>").unwrap(), SvgFacts::default());
    }
}
