//! Tags and texts of a large XML part, out of a window of bytes that slides over it. A general XML reader spends most of its
//! time on what no sheet has; a sheet has millions of small tags.

use std::borrow::Cow;
use std::io::Read;

use a2c_document_model::UnreadableFile;

use crate::archive;

/// What is read at once.
const CHUNK: usize = 128 << 10;
/// A tag that is longer belongs to no sheet.
const TAG_BYTES: usize = 64 << 10;
/// A piece of text that is longer comes in several pieces.
const TEXT_BYTES: usize = 64 << 10;

/// What comes next in a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkupToken<'a> {
    /// A tag opens: its name without prefix, and its attributes.
    Open(&'a [u8], TagAttributes<'a>),
    /// The same, of an element that is empty.
    Empty(&'a [u8], TagAttributes<'a>),
    /// A tag closes.
    Close(&'a [u8]),
    /// Text, with its entities as they are written. Long texts come in pieces.
    Text(&'a [u8]),
    /// Text without entities.
    Verbatim(&'a [u8]),
    /// The part is over.
    End,
}

/// The attributes of a tag, as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TagAttributes<'a>(&'a [u8]);

impl<'a> TagAttributes<'a> {
    /// The attributes in their order: names with their prefix, and values as they are written.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
            rest = &rest[begin..];
            let equals = memchr::memchr(b'=', rest)?;
            let name = rest[..equals].trim_ascii_end();
            let value = rest[equals + 1..].trim_ascii_start();
            let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
            let length = memchr::memchr(quote, &value[1..])?;
            rest = &value[length + 2..];
            Some((name, &value[1..=length]))
        })
    }

    /// The value of an attribute by its name without its prefix, as it is written.
    pub(super) fn raw(self, name: &[u8]) -> Option<&'a [u8]> {
        self.iter().find(|(key, _)| without_prefix(key) == name).map(|(_, value)| value)
    }

    /// The value of an attribute, with its entities resolved.
    pub(super) fn text(self, name: &[u8]) -> Option<Cow<'a, str>> {
        self.raw(name).map(crate::xml::resolve)
    }
}

fn without_prefix(name: &[u8]) -> &[u8] {
    match memchr::memchr(b':', name) {
        Some(colon) => &name[colon + 1..],
        None => name,
    }
}

/// A reader of one part.
pub(super) struct ByteScanner<R> {
    reader: R,
    part: String,
    window: Vec<u8>,
    /// Where the bytes begin that are not given out yet.
    at: usize,
    /// Where the bytes end that are read.
    end: usize,
    over: bool,
}

impl<R: Read> ByteScanner<R> {
    /// A scanner of a part, whose name its errors show.
    pub(super) fn new(reader: R, part: &str) -> Self {
        Self { reader, part: part.to_owned(), window: vec![0; CHUNK], at: 0, end: 0, over: false }
    }

    /// What comes next.
    pub(super) fn token(&mut self) -> Result<MarkupToken<'_>, UnreadableFile> {
        loop {
            if self.at == self.end && !self.more()? {
                return Ok(MarkupToken::End);
            }
            if self.window[self.at] != b'<' {
                let (from, to) = self.text_end()?;
                return Ok(MarkupToken::Text(&self.window[from..to]));
            }
            match self.byte(1)? {
                Some(b'!') => {
                    if self.begins(b"<![CDATA[")? {
                        let (from, to) = self.until(9, b"]]>")?;
                        return Ok(MarkupToken::Verbatim(&self.window[from..to]));
                    }
                    if !self.begins(b"<!--")? {
                        return Err(self.problem("declares a document type, which no document needs"));
                    }
                    self.skip_until(b"-->")?;
                }
                Some(b'?') => self.skip_until(b"?>")?,
                Some(b'/') => {
                    let (from, to) = self.tag_end()?;
                    return Ok(MarkupToken::Close(without_prefix(self.window[from + 2..to].trim_ascii_end())));
                }
                Some(_) => {
                    let (from, to) = self.tag_end()?;
                    return Ok(opened(&self.window[from + 1..to]));
                }
                None => return Err(self.problem("ends within a tag")),
            }
        }
    }

    /// Reads more, after what is there already. `false` at the end.
    fn more(&mut self) -> Result<bool, UnreadableFile> {
        if self.over {
            return Ok(false);
        }
        if self.at > 0 {
            self.window.copy_within(self.at..self.end, 0);
            self.end -= self.at;
            self.at = 0;
        }
        if self.end == self.window.len() {
            let longer = self.window.len() * 2;
            self.window.resize(longer, 0);
        }
        let read = self.reader.read(&mut self.window[self.end..]);
        let read = read.map_err(|error| archive::broken(&self.part, &error))?;
        self.end += read;
        self.over = read == 0;
        Ok(read > 0)
    }

    /// The byte this far ahead.
    fn byte(&mut self, ahead: usize) -> Result<Option<u8>, UnreadableFile> {
        while self.at + ahead >= self.end {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(Some(self.window[self.at + ahead]))
    }

    fn begins(&mut self, with: &[u8]) -> Result<bool, UnreadableFile> {
        self.byte(with.len() - 1)?;
        Ok(self.window[self.at..self.end].starts_with(with))
    }

    /// Takes the text up to the next tag.
    fn text_end(&mut self) -> Result<(usize, usize), UnreadableFile> {
        let mut seen = 0;
        loop {
            if let Some(length) = memchr::memchr(b'<', &self.window[self.at + seen..self.end]) {
                return Ok(self.take(seen + length, 0));
            }
            seen = self.end - self.at;
            if seen >= TEXT_BYTES {
                return Ok(self.take(whole_pieces(&self.window[self.at..self.end]), 0));
            }
            if !self.more()? {
                return Ok(self.take(seen, 0));
            }
        }
    }

    /// Takes a tag. A `>` between quotes does not end it.
    fn tag_end(&mut self) -> Result<(usize, usize), UnreadableFile> {
        let (mut seen, mut quote) = (1, None);
        loop {
            for (ahead, byte) in self.window[self.at + seen..self.end].iter().enumerate() {
                match (quote, *byte) {
                    (None, b'>') => return Ok(self.take(seen + ahead, 1)),
                    (None, b'"' | b'\'') => quote = Some(*byte),
                    (Some(open), byte) if open == byte => quote = None,
                    _ => {}
                }
            }
            seen = self.end - self.at;
            if seen > TAG_BYTES {
                return Err(UnreadableFile::too_large(format!("its part `{}` has a tag that is too long", self.part)));
            }
            if !self.more()? {
                return Err(self.problem("ends within a tag"));
            }
        }
    }

    /// Takes what stands after `from` bytes, up to an end mark.
    fn until(&mut self, from: usize, mark: &[u8]) -> Result<(usize, usize), UnreadableFile> {
        loop {
            let here = &self.window[(self.at + from).min(self.end)..self.end];
            if let Some(length) = memchr::memmem::find(here, mark) {
                let (begin, end) = self.take(from + length, mark.len());
                return Ok((begin + from, end));
            }
            if self.end - self.at > (1 << 20) {
                return Err(UnreadableFile::too_large(format!("its part `{}` has a text that is too long", self.part)));
            }
            if !self.more()? {
                return Err(self.problem("ends within a text"));
            }
        }
    }

    /// Passes over everything up to the end of a mark, without holding it.
    fn skip_until(&mut self, mark: &[u8]) -> Result<(), UnreadableFile> {
        loop {
            if let Some(length) = memchr::memmem::find(&self.window[self.at..self.end], mark) {
                self.at += length + mark.len();
                return Ok(());
            }
            // The mark may lie across two readings.
            self.at = self.at.max(self.end.saturating_sub(mark.len() - 1));
            if !self.more()? {
                return Err(self.problem("ends within a comment"));
            }
        }
    }

    /// Gives out bytes, and passes over those that end them.
    fn take(&mut self, length: usize, end_mark: usize) -> (usize, usize) {
        let from = self.at;
        self.at += length + end_mark;
        (from, from + length)
    }

    fn problem(&self, what: &str) -> UnreadableFile {
        UnreadableFile::corrupt(format!("its part `{}` {what}", self.part))
    }
}

/// How much of a text can be given out without cutting a character or an entity in two.
fn whole_pieces(text: &[u8]) -> usize {
    let tail = text.len().saturating_sub(16);
    match memchr::memrchr(b'&', &text[tail..]) {
        Some(entity) if !text[tail + entity..].contains(&b';') => tail + entity,
        _ => {
            let cut = text.iter().rev().take(4).position(|byte| (*byte as i8) >= -64).unwrap_or(0);
            let lead = text.len() - 1 - cut;
            match text[lead] {
                byte if byte < 0x80 => text.len(),
                _ => lead,
            }
        }
    }
    .max(1)
}

/// A tag between its brackets.
fn opened(tag: &[u8]) -> MarkupToken<'_> {
    let (tag, empty) = match tag.strip_suffix(b"/") {
        Some(tag) => (tag, true),
        None => (tag, false),
    };
    let name = tag.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(tag.len());
    let (name, attributes) = (without_prefix(&tag[..name]), TagAttributes(&tag[name..]));
    match empty {
        true => MarkupToken::Empty(name, attributes),
        false => MarkupToken::Open(name, attributes),
    }
}

#[cfg(test)]
mod tests {
    use a2c_document_model::UnreadableCode;

    use super::*;

    /// A reader that gives one byte at a time: every token lies across readings.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn all(reader: impl Read) -> Result<String, UnreadableFile> {
        let mut scanner = ByteScanner::new(reader, "p.xml");
        let mut seen = String::new();
        let show = String::from_utf8_lossy;
        loop {
            match scanner.token()? {
                MarkupToken::Open(name, attributes) => {
                    seen += &format!("<{}", show(name));
                    for (name, value) in attributes.iter() {
                        seen += &format!(" {}={}", show(name), show(value));
                    }
                    seen += ">";
                }
                MarkupToken::Empty(name, _) => seen += &format!("<{}/>", show(name)),
                MarkupToken::Close(name) => seen += &format!("</{}>", show(name)),
                MarkupToken::Text(text) => seen += &show(text),
                MarkupToken::Verbatim(text) => seen += &format!("[{}]", show(text)),
                MarkupToken::End => return Ok(seen),
            }
        }
    }

    #[test]
    fn tokens_are_the_same_however_the_bytes_come() {
        let text =
            "<?xml version='1.0'?><!-- <x> --><x:a b=\"1>2\" c='&quot;' >t &amp; 中<d e=\"\"/><![CDATA[<f>]]></x:a >";
        let expected = "<a b=1>2 c=&quot;>t &amp; 中<d/>[<f>]</a>";
        assert_eq!(all(text.as_bytes()).unwrap(), expected);
        assert_eq!(all(Slow(text.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn what_no_sheet_has_is_refused() {
        let long = format!("<a {}>", "b=\"1\" ".repeat(80_000));
        for (text, code) in [
            ("<!DOCTYPE x><x/>", UnreadableCode::Corrupt),
            ("<a", UnreadableCode::Corrupt),
            ("<a b=\"", UnreadableCode::Corrupt),
            ("<!-- a", UnreadableCode::Corrupt),
            (long.as_str(), UnreadableCode::TooLarge),
        ] {
            assert_eq!(all(text.as_bytes()).unwrap_err().code, code, "{}", &text[..text.len().min(20)]);
        }
    }

    #[test]
    fn a_long_text_comes_in_pieces_that_are_whole() {
        for word in ["中", "a&amp;b", "é", "a"] {
            let text = word.repeat(200_000);
            let document = format!("<a>{text}</a>");
            let mut scanner = ByteScanner::new(document.as_bytes(), "p.xml");
            let mut seen = String::new();
            loop {
                match scanner.token().unwrap() {
                    MarkupToken::Text(piece) => seen += std::str::from_utf8(piece).expect("whole characters"),
                    MarkupToken::End => break,
                    _ => {}
                }
            }
            assert_eq!(seen, text);
        }
    }
}
