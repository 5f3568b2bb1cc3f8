//! Fonts whose codes are of one to four bytes: those of Chinese, Japanese and Korean, and most embedded ones of today.

use std::collections::HashMap;
use std::sync::Mutex;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily, WritingMode, load_embedded};
use hayro_syntax::object::{self, Array, Dict, Name, Object};

use super::{CodeText, TextCode};
use crate::unpack::unpack;

/// The most widths of a font.
const WIDTHS: usize = 1 << 17;

/// The most codes of which the text is remembered.
const REMEMBERED: usize = 1 << 14;

/// A font with a table of codes.
pub(super) struct CompositeFont {
    /// Which character of the font a code is.
    encoding: CMap,
    /// The text of codes.
    to_unicode: Option<CMap>,
    /// The text of characters, for the families of fonts that everybody knows.
    of_family: Option<CMap>,
    /// Whether codes are UTF-16 by their encoding.
    is_unicode: bool,
    widths: HashMap<u32, f32>,
    default_width: f32,
    vertical: Option<f32>,
    /// The texts that were looked up.
    texts: Mutex<HashMap<u32, Option<BfString>>>,
}

impl CompositeFont {
    pub(super) fn read(dict: &Dict<'_>, most: usize) -> Option<Self> {
        let descendant = dict.get::<Array<'_>>("DescendantFonts")?.iter::<Dict<'_>>().next()?;
        let (encoding, name) = read_encoding(&dict.get::<Object<'_>>("Encoding")?, most)?;
        let to_unicode = match dict.get::<Object<'_>>("ToUnicode") {
            Some(Object::Stream(stream)) => {
                unpack(&stream, most).ok().and_then(|bytes| CMap::parse(&bytes, load_embedded))
            }
            Some(Object::Name(name)) => named_map(&name),
            _ => None,
        };
        let family = encoding.metadata().character_collection.as_ref().map(|known| known.family.clone());
        let family = family.filter(|family| *family != CidFamily::AdobeIdentity).or_else(|| family_of(&descendant));
        let of_family = family.and_then(|family| load_embedded(family.ucs2_cmap()?));
        let is_vertical = encoding.metadata().writing_mode == Some(WritingMode::Vertical);
        let vertical = descendant.get::<[f32; 2]>("DW2").map_or(-1000.0, |[_, advance]| advance);
        Some(Self {
            encoding,
            to_unicode,
            of_family: of_family.and_then(|bytes| CMap::parse(bytes, load_embedded)),
            is_unicode: name.is_some_and(|name| name.contains("UCS2") || name.contains("UTF16")),
            widths: descendant.get::<Array<'_>>("W").map(|list| read_widths(&list)).unwrap_or_default(),
            default_width: descendant.get::<f32>("DW").unwrap_or(1000.0),
            vertical: is_vertical.then_some(vertical),
            texts: Mutex::new(HashMap::new()),
        })
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.vertical.is_some()
    }

    pub(super) fn code(&self, bytes: &[u8]) -> TextCode<'_> {
        let (code, length, cid) = self.read_code(bytes);
        let advance = match self.vertical {
            Some(advance) => -advance,
            None => self.widths.get(&cid).copied().unwrap_or(self.default_width),
        };
        let text = match self.text(code, length, cid) {
            Some(BfString::Char(c)) => CodeText::One(c),
            Some(BfString::String(text)) => CodeText::Owned(text),
            None => CodeText::Unknown,
        };
        TextCode { bytes: length, text, advance, is_blank: length == 1 && code == 32 }
    }

    /// The first code of some bytes, how many it takes, and the character that it is.
    fn read_code(&self, bytes: &[u8]) -> (u32, usize, u32) {
        let mut code = 0;
        for (place, byte) in bytes.iter().take(4).enumerate() {
            code = code << 8 | u32::from(*byte);
            if let Some(cid) = self.encoding.lookup_cid_code(code, place as u8 + 1) {
                return (code, place + 1, cid);
            }
        }
        // No code of this font: most have two bytes.
        let length = bytes.len().min(2);
        (bytes[..length].iter().fold(0, |code, byte| code << 8 | u32::from(*byte)), length, 0)
    }

    fn text(&self, code: u32, length: usize, cid: u32) -> Option<BfString> {
        let mut texts = self.texts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(text) = texts.get(&code) {
            return text.clone();
        }
        let known = |text: &BfString| *text != BfString::Char('\0');
        let text = self
            .to_unicode
            .as_ref()
            .and_then(|map| map.lookup_bf_string(code))
            .filter(known)
            .or_else(|| self.of_family.as_ref().and_then(|map| map.lookup_bf_string(cid)).filter(known))
            .or_else(|| {
                let c = char::from_u32(code).filter(|_| self.is_unicode && length == 2);
                c.map(BfString::Char)
            });
        if texts.len() < REMEMBERED {
            texts.insert(code, text.clone());
        }
        text
    }
}

fn read_encoding(object: &Object<'_>, most: usize) -> Option<(CMap, Option<String>)> {
    match object {
        Object::Name(name) => Some((named_map(name)?, Some(name.as_str().to_owned()))),
        Object::Stream(stream) => Some((CMap::parse(&unpack(stream, most).ok()?, load_embedded)?, None)),
        _ => None,
    }
}

fn named_map(name: &Name<'_>) -> Option<CMap> {
    match name.as_str() {
        "Identity-H" => Some(CMap::identity_h()),
        "Identity-V" => Some(CMap::identity_v()),
        _ => CMap::parse(load_embedded(CMapName::from_bytes(name.as_ref()))?, load_embedded),
    }
}

fn family_of(descendant: &Dict<'_>) -> Option<CidFamily> {
    let info = descendant.get::<Dict<'_>>("CIDSystemInfo")?;
    let entry = |key: &str| info.get::<object::String<'_>>(key);
    let family = CidFamily::from_registry_ordering(entry("Registry")?.as_bytes(), entry("Ordering")?.as_bytes());
    Some(family).filter(|family| *family != CidFamily::AdobeIdentity)
}

/// Widths by character: `first [w1 w2 …]` or `first last w`, in any order.
fn read_widths(list: &Array<'_>) -> HashMap<u32, f32> {
    let mut widths = HashMap::new();
    let mut objects = list.iter::<Object<'_>>();
    let number = |object: Option<Object<'_>>| object.and_then(Object::into_f32);
    while widths.len() < WIDTHS {
        let Some(first) = number(objects.next()) else { break };
        let first = first as u32;
        match objects.next() {
            Some(Object::Array(each)) => {
                widths.extend((first..).zip(each.iter::<f32>().take(WIDTHS)));
            }
            Some(last) => {
                let (Some(last), Some(width)) = (last.into_f32(), number(objects.next())) else { break };
                widths.extend((first..=last as u32).take(WIDTHS).map(|cid| (cid, width)));
            }
            None => break,
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayro_syntax::object::FromBytes as _;

    #[test]
    fn widths_are_read_in_both_forms() {
        let list = Array::from_bytes(b"[ 1 [500 600] 10 12 700 20 [1] ]").unwrap();
        let widths = read_widths(&list);
        let of = |cid: u32| widths.get(&cid).copied();
        assert_eq!([of(1), of(2), of(3)], [Some(500.0), Some(600.0), None]);
        assert_eq!([of(10), of(12), of(13), of(20)], [Some(700.0), Some(700.0), None, Some(1.0)]);
        let endless = Array::from_bytes(b"[ 0 4000000000 1 5 ]").unwrap();
        assert!(read_widths(&endless).len() <= WIDTHS);
    }

    #[test]
    fn codes_of_known_families_have_texts() {
        let dict = Dict::from_bytes(
            b"<< /Encoding /UniGB-UCS2-H /DescendantFonts [ << /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) >> >> ] >>",
        )
        .unwrap();
        let font = CompositeFont::read(&dict, 1000).unwrap();
        let code = font.code(&[0x4e, 0x2d, 0x65]);
        assert!(matches!(code.text, CodeText::One('中')));
        assert_eq!((code.bytes, code.advance), (2, 1000.0));
        assert_eq!(font.code(&[0x4e]).bytes, 1, "half a code ends");
    }
}
