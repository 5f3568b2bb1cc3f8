//! The texts that the cells of a workbook share, read as far as they are wanted.

use std::io::Read;

use a2c_document_model::UnreadableFile;

use super::bounds::CELL_BYTES;
use super::byte_scanner::{ByteScanner, MarkupToken};

/// The first texts of a workbook, one behind the other. Programs write texts in the order of their first use, so that the
/// first rows of a sheet want only the first texts.
#[derive(Debug, Default)]
pub(super) struct SharedStrings {
    texts: String,
    /// Where each text ends.
    ends: Vec<u32>,
    /// Whether there are no more.
    complete: bool,
}

impl SharedStrings {
    /// Whether a text is here, or known not to be anywhere.
    pub(super) fn reaches(&self, index: u32) -> bool {
        self.complete || (index as usize) < self.ends.len()
    }

    /// A text; empty where the workbook has none of this number.
    pub(super) fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let Some(end) = self.ends.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.texts.get(start as usize..*end as usize).unwrap_or_default()
    }

    /// No text at all.
    pub(super) fn none() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// Reads the texts up to a number, or all.
    pub(super) fn read(reader: impl Read, part: &str, last: u32, limit: usize) -> Result<Self, UnreadableFile> {
        let mut scanner = ByteScanner::new(reader, part);
        let mut strings = Self::default();
        let (mut inside, mut phonetic, mut begin) = (false, false, 0);
        loop {
            match scanner.token()? {
                MarkupToken::Open(b"si", _) => begin = strings.texts.len(),
                MarkupToken::Open(b"t", _) => inside = !phonetic,
                MarkupToken::Open(b"rPh", _) => phonetic = true,
                MarkupToken::Close(b"rPh") => phonetic = false,
                MarkupToken::Close(b"t") => inside = false,
                MarkupToken::Text(text) if inside => strings.append(&crate::xml::resolve(text), begin),
                MarkupToken::Verbatim(text) if inside => strings.append(&String::from_utf8_lossy(text), begin),
                MarkupToken::Empty(b"si", _) => strings.ends.push(strings.texts.len() as u32),
                MarkupToken::Close(b"si") => {
                    strings.unescape_from(begin);
                    strings.ends.push(strings.texts.len() as u32);
                    if strings.texts.len() + strings.ends.len() * 4 > limit {
                        return Err(UnreadableFile::too_large(format!(
                            "the texts of its cells are more than {} MiB",
                            limit >> 20
                        )));
                    }
                    if strings.ends.len() > last as usize {
                        return Ok(strings);
                    }
                }
                MarkupToken::End => {
                    strings.complete = true;
                    return Ok(strings);
                }
                _ => {}
            }
        }
    }

    fn append(&mut self, text: &str, begin: usize) {
        let room = CELL_BYTES.saturating_sub(self.texts.len() - begin);
        self.texts.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn unescape_from(&mut self, begin: usize) {
        if let Some(plain) = unescaped(&self.texts[begin..]) {
            self.texts.truncate(begin);
            self.texts.push_str(&plain);
        }
    }
}

/// A text with the characters that XML cannot hold, which Excel writes as `_x000D_`; `None` where there are none.
pub(super) fn unescaped(text: &str) -> Option<String> {
    if !text.contains("_x") && !text.contains('\r') {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let letter = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match letter {
            Some(letter) => {
                plain.push(letter);
                rest = &rest[at + 7..];
            }
            None => {
                plain.push_str("_x");
                rest = &rest[at + 2..];
            }
        }
    }
    plain.push_str(rest);
    Some(plain.replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use a2c_document_model::UnreadableCode;

    use super::*;

    const TEXTS: &str = r#"<sst><si><t>a &amp; b</t></si><si/><si><r><t xml:space="preserve">rich </t></r><r><t>text</t></r>
        <rPh sb="0" eb="1"><t>reading</t></rPh></si><si><t>one_x000D__x000a_two_x_3</t></si></sst>"#;

    #[test]
    fn texts_are_read_as_far_as_they_are_wanted() {
        let all = SharedStrings::read(TEXTS.as_bytes(), "s.xml", u32::MAX, 1 << 20).unwrap();
        let texts: Vec<&str> = (0..5).map(|index| all.get(index)).collect();
        assert_eq!(texts, ["a & b", "", "rich text", "one\ntwo_x_3", ""]);
        assert!(all.reaches(99));
        let first = SharedStrings::read(TEXTS.as_bytes(), "s.xml", 0, 1 << 20).unwrap();
        assert_eq!((first.get(0), first.reaches(0), first.reaches(1)), ("a & b", true, false));
    }

    #[test]
    fn texts_beyond_the_limit_are_refused() {
        let refused = SharedStrings::read(TEXTS.as_bytes(), "s.xml", u32::MAX, 10).unwrap_err();
        assert_eq!(refused.code, UnreadableCode::TooLarge);
    }
}
