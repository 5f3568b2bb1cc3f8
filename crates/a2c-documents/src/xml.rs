//! XML of unknown origin: no document type, no entities but the five of XML, limits on depth, attributes and sizes.

use std::borrow::Cow;

use a2c_document_model::UnreadableFile;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::{BytesEnd, BytesStart, Event};

use crate::limits::ReadLimits;

/// A reader of one XML part. Its events borrow from the part.
pub struct XmlReader<'a> {
    reader: Reader<&'a [u8]>,
    bytes: &'a [u8],
    part: String,
    depth: usize,
    limits: ReadLimits,
}

/// What comes next in an XML part.
#[derive(Debug)]
pub enum XmlEvent<'a> {
    /// An element begins. One that is empty begins and ends.
    Start(XmlTag<'a>),
    /// An element ends.
    End(XmlEnd<'a>),
    /// Text, with its entities resolved.
    Text(Cow<'a, str>),
    /// The part is over.
    Eof,
}

/// The beginning of an element.
#[derive(Debug)]
pub struct XmlTag<'a>(BytesStart<'a>);

/// The end of an element.
#[derive(Debug)]
pub struct XmlEnd<'a>(BytesEnd<'a>);

impl XmlEnd<'_> {
    /// The element's name without its prefix.
    pub fn name(&self) -> &[u8] {
        local(self.0.name().into_inner())
    }
}

impl XmlTag<'_> {
    /// Its name without its prefix.
    pub fn name(&self) -> &[u8] {
        local(self.0.name().into_inner())
    }

    /// The value of an attribute, by its name without its prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().find(|attribute| local(attribute.key.into_inner()) == name.as_bytes())?;
        Some(unescaped(found.value).into_owned())
    }

    /// Whether a switch is on: an element such as `<w:b/>`, unless its attribute says otherwise.
    pub fn is_on(&self, name: &str) -> bool {
        !matches!(self.attribute(name).as_deref(), Some("0" | "false" | "off" | "none"))
    }

    /// The value of an attribute as a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Every attribute, by its name without its prefix.
    pub fn attributes(&self) -> Vec<(String, String)> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let pair = |attribute: quick_xml::events::attributes::Attribute<'_>| {
            let name = String::from_utf8_lossy(local(attribute.key.into_inner())).into_owned();
            (name, unescaped(attribute.value).into_owned())
        };
        attributes.flatten().map(pair).collect()
    }
}

fn local(name: &[u8]) -> &[u8] {
    match name.iter().position(|byte| *byte == b':') {
        Some(colon) => &name[colon + 1..],
        None => name,
    }
}

/// A text as it is written in XML, with its entities resolved.
pub(crate) fn resolve(bytes: &[u8]) -> Cow<'_, str> {
    unescaped(Cow::Borrowed(bytes))
}

/// A text with its entities resolved; one that is not known stays as it is.
fn unescaped(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    let text = lossy(bytes);
    if !text.contains('&') {
        return text;
    }
    let mut written = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, entity)) = rest.split_once('&') {
        written.push_str(before);
        match entity.split_once(';').and_then(|(name, after)| Some((resolved(name)?, after))) {
            Some((c, after)) => {
                written.push(c);
                rest = after;
            }
            None => {
                written.push('&');
                rest = entity;
            }
        }
    }
    written.push_str(rest);
    written.into()
}

fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
            .into(),
    }
}

/// The character that an entity stands for.
fn resolved(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

impl<'a> XmlReader<'a> {
    /// A reader of a part, whose name its errors show.
    pub fn new(bytes: &'a [u8], part: &str, limits: &ReadLimits) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = Reader::from_reader(bytes);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.check_comments = false;
        Self { reader, bytes, part: part.to_owned(), depth: 0, limits: limits.clone() }
    }

    /// What comes next.
    pub fn event(&mut self) -> Result<XmlEvent<'a>, UnreadableFile> {
        loop {
            let event = self.reader.read_event();
            let event = event.map_err(|error| self.problem(&format!("is no XML: {error}")))?;
            return Ok(match event {
                Event::Start(start) => {
                    self.check_start(&start)?;
                    XmlEvent::Start(XmlTag(start))
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    XmlEvent::End(XmlEnd(end))
                }
                Event::Text(text) => XmlEvent::Text(unescaped(text.into_inner())),
                Event::CData(text) => XmlEvent::Text(lossy(text.into_inner())),
                Event::GeneralRef(entity) => {
                    let name = lossy(entity.into_inner());
                    XmlEvent::Text(resolved(&name).map_or_else(|| format!("&{name};"), String::from).into())
                }
                Event::DocType(_) => return Err(self.problem("declares a document type, which no document needs")),
                Event::Eof => XmlEvent::Eof,
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::Empty(_) => continue,
            });
        }
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// What comes next within the element that was the last to begin at this depth; `None` at its end. Depth 0 is the part
    /// as a whole.
    pub fn within(&mut self, depth: usize) -> Result<Option<XmlEvent<'a>>, UnreadableFile> {
        match self.event()? {
            XmlEvent::End(_) if self.depth < depth => Ok(None),
            XmlEvent::Eof if depth == 0 => Ok(None),
            XmlEvent::Eof => Err(self.problem("ends too early")),
            event => Ok(Some(event)),
        }
    }

    /// The bytes within the element that began last, which is passed over: another reader can read them later.
    pub fn inner(&mut self) -> Result<&'a [u8], UnreadableFile> {
        let position = |reader: &Self| usize::try_from(reader.reader.buffer_position()).unwrap_or(usize::MAX);
        let (depth, start) = (self.depth, position(self));
        loop {
            let end = position(self);
            if self.within(depth)?.is_none() {
                return Ok(self.bytes.get(start..end).unwrap_or_default());
            }
        }
    }

    /// Passes over the rest of the element that began last.
    pub fn skip(&mut self) -> Result<(), UnreadableFile> {
        let depth = self.depth;
        loop {
            match self.event()? {
                XmlEvent::End(_) if self.depth < depth => return Ok(()),
                XmlEvent::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// The text of the element that began last, with all that is in it.
    pub fn text(&mut self) -> Result<String, UnreadableFile> {
        let (depth, mut written) = (self.depth, String::new());
        loop {
            match self.event()? {
                XmlEvent::Text(text) => written.push_str(&text),
                XmlEvent::End(_) if self.depth < depth => return Ok(written),
                XmlEvent::Eof => return Ok(written),
                _ => {}
            }
        }
    }

    fn check_start(&mut self, start: &BytesStart<'_>) -> Result<(), UnreadableFile> {
        self.depth += 1;
        if self.depth > self.limits.xml_depth {
            return Err(self.beyond("elements nested too deeply"));
        }
        // Counting the attributes of every tag would take as long as reading them: most tags are short.
        if start.len() > self.limits.xml_attributes {
            let mut attributes = start.attributes();
            attributes.with_checks(false);
            if attributes.count() > self.limits.xml_attributes {
                return Err(self.beyond("an element with too many attributes"));
            }
        }
        Ok(())
    }

    fn problem(&self, what: &str) -> UnreadableFile {
        UnreadableFile::corrupt(format!("its part `{}` {what}", self.part))
    }

    fn beyond(&self, what: &str) -> UnreadableFile {
        UnreadableFile::too_large(format!("its part `{}` has {what}", self.part))
    }
}

/// The bytes of an XML part as UTF-8; Office reads and some programs write UTF-16.
pub fn utf8(bytes: Vec<u8>) -> Vec<u8> {
    let units: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => return bytes,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| units([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
}

/// A part without its document type, for formats that many programs write one in and nobody needs it of: nothing that it
/// declares is resolved. One that stands after the first element stays, and is an error.
pub(crate) fn without_document_type(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(start) = memmem::find(&bytes, b"<!DOCTYPE") else { return bytes };
    let begins_element = |at: usize| bytes.get(at + 1).is_some_and(|byte| byte.is_ascii_alphabetic());
    if memchr::memchr_iter(b'<', &bytes[..start]).any(begins_element) {
        return bytes;
    }
    let rest = &bytes[start..];
    let declares = memchr::memchr2(b'[', b'>', rest).filter(|at| rest[*at] == b'[');
    let from = declares.and_then(|at| Some(at + memchr::memchr(b']', &rest[at..])?)).unwrap_or(0);
    if let Some(end) = memchr::memchr(b'>', &rest[from..]) {
        bytes.drain(start..=start + from + end);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use a2c_document_model::UnreadableCode;

    use super::*;

    fn all(text: &str) -> Result<String, UnreadableFile> {
        let mut reader = XmlReader::new(text.as_bytes(), "p.xml", &ReadLimits::default());
        let mut seen = String::new();
        loop {
            match reader.event()? {
                XmlEvent::Start(tag) => {
                    let attributes: Vec<String> =
                        tag.attributes().iter().map(|(name, value)| format!("{name}={value}")).collect();
                    seen += &format!("<{} {}>", String::from_utf8_lossy(tag.name()), attributes.join(" "));
                }
                XmlEvent::End(end) => seen += &format!("</{}>", String::from_utf8_lossy(end.name())),
                XmlEvent::Text(text) => seen += &text,
                XmlEvent::Eof => return Ok(seen),
            }
        }
    }

    #[test]
    fn names_lose_their_prefix_and_entities_are_resolved() {
        let seen = all(
            "<?xml version=\"1.0\"?><w:p a:b=\"1 &amp; 2\"><!-- x --><w:t/>a &lt;&#x4e2d;&nope; <![CDATA[<b>]]></w:p>",
        );
        assert_eq!(seen.unwrap(), "<p b=1 & 2><t ></t>a <中&nope; <b></p>");
    }

    #[test]
    fn what_no_document_needs_is_refused() {
        let deep = "<a>".repeat(300);
        let wide = format!("<a {}>", (0..80_000).map(|n| format!("a{n}=\"\"")).collect::<Vec<_>>().join(" "));
        for (text, code) in [
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>", UnreadableCode::Corrupt),
            (deep.as_str(), UnreadableCode::TooLarge),
            (wide.as_str(), UnreadableCode::TooLarge),
            ("<a", UnreadableCode::Corrupt),
        ] {
            assert_eq!(all(text).unwrap_err().code, code, "{}", &text[..text.len().min(40)]);
        }
    }

    #[test]
    fn utf_16_becomes_utf_8() {
        let text = "<a>中</a>";
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        for bytes in [little, big, text.as_bytes().to_vec()] {
            assert_eq!(utf8(bytes), text.as_bytes());
        }
    }

    #[test]
    fn an_element_is_passed_over_or_read_as_text() {
        let mut reader = XmlReader::new(b"<a><b>x<c>y</c></b><d>z<e>!</e></d>end</a>", "p", &ReadLimits::default());
        let mut seen = Vec::new();
        loop {
            match reader.event().unwrap() {
                XmlEvent::Start(tag) if tag.name() == b"b" => reader.skip().unwrap(),
                XmlEvent::Start(tag) if tag.name() == b"d" => seen.push(reader.text().unwrap()),
                XmlEvent::Text(text) => seen.push(text.into_owned()),
                XmlEvent::Eof => break,
                _ => {}
            }
        }
        assert_eq!(seen, ["z!", "end"]);
    }

    #[test]
    fn an_element_is_read_to_its_end_or_kept_for_later() {
        let limits = ReadLimits::default();
        let mut reader = XmlReader::new(b"\xef\xbb\xbf<a><b>x<c/></b><d/>y</a><e>", "p", &limits);
        reader.event().unwrap();
        let depth = reader.depth();
        reader.event().unwrap();
        assert_eq!(reader.inner().unwrap(), b"x<c/>");
        reader.event().unwrap();
        assert_eq!(reader.inner().unwrap(), b"");
        assert!(matches!(reader.within(depth), Ok(Some(XmlEvent::Text(text))) if text == "y"));
        assert!(reader.within(depth).unwrap().is_none());
        reader.event().unwrap();
        let depth = reader.depth();
        assert_eq!(reader.within(depth).unwrap_err().code, UnreadableCode::Corrupt, "the part ends too early");
    }
}
