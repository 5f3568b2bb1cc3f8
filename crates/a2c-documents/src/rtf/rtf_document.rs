//! Follows the tokens of a rich text, group by group.

use std::collections::{HashMap, VecDeque};

use a2c_document_model::{DocumentProperties, UnreadableFile};
use encoding_rs::{Encoding, WINDOWS_1252};

use super::group_state::{GroupState, ParagraphState, RtfDestination};
use super::rtf_picture::RtfPicture;
use super::rtf_text::{RtfStyle, RtfText};
use super::rtf_token::{RtfToken, RtfTokens};
use crate::limits::ReadLimits;
use crate::rich_text::{FlowForm, FlowItem, MemoryBudget, RunFormat, SectionBands, link_address};

/// How deep groups are nested.
const DEPTH: usize = 400;

/// The bytes of a name, an instruction or a property.
pub(super) const WORDS: usize = 8 << 10;

/// A font, as far as it matters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RtfFont {
    pub(super) encoding: Option<&'static Encoding>,
    pub(super) fixed: bool,
}

/// What a text beside the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Body,
    Footnote,
    Endnote,
    Comment,
    Header,
    Footer,
}

/// A text that is open, and where the paragraph around it stands.
pub(super) struct OpenRtfText {
    pub(super) kind: TextKind,
    pub(super) text: RtfText,
    pub(super) paragraph: ParagraphState,
}

/// A rich text while it is read.
pub(super) struct RtfDocument<'a> {
    pub(super) tokens: RtfTokens<'a>,
    pub(super) state: GroupState,
    pub(super) groups: Vec<GroupState>,
    pub(super) texts: Vec<OpenRtfText>,
    pub(super) encoding: &'static Encoding,
    pub(super) fonts: HashMap<i32, RtfFont>,
    pub(super) default_font: i32,
    pub(super) styles: HashMap<i32, RtfStyle>,
    pub(super) budget: MemoryBudget,
    pub(super) properties: DocumentProperties,
    /// Bytes that are not decoded yet.
    pub(super) raw: Vec<u8>,
    pub(super) high_surrogate: Option<u16>,
    /// How many signs are still to be passed over.
    pub(super) passed_over: usize,
    /// Words that are collected for names, instructions and properties.
    pub(super) words: String,
    /// The charset of the font that is declared.
    pub(super) font_charset: i32,
    pub(super) font_is_modern: bool,
    /// The addresses of the fields that are open.
    pub(super) fields: Vec<Option<String>>,
    pub(super) picture: RtfPicture,
    pub(super) pictures: Vec<RtfPicture>,
    pub(super) shape_name: String,
    pub(super) comment_author: Option<String>,
    /// The numbers of a date, from the year on.
    pub(super) date: [i32; 5],
    pub(super) sections: VecDeque<SectionBands>,
    pub(super) bands: SectionBands,
    pub(super) footnotes: i64,
    pub(super) endnotes: i64,
}

impl<'a> RtfDocument<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &ReadLimits) -> Self {
        let body = OpenRtfText {
            kind: TextKind::Body,
            text: RtfText::new(FlowForm::Elements),
            paragraph: ParagraphState::default(),
        };
        Self {
            tokens: RtfTokens::new(bytes),
            state: GroupState { stand_ins: 1, ..GroupState::default() },
            groups: Vec::new(),
            texts: vec![body],
            encoding: WINDOWS_1252,
            fonts: HashMap::new(),
            default_font: 0,
            styles: HashMap::new(),
            budget: MemoryBudget::new(limits.document_bytes),
            properties: DocumentProperties::default(),
            raw: Vec::new(),
            high_surrogate: None,
            passed_over: 0,
            words: String::new(),
            font_charset: 0,
            font_is_modern: false,
            fields: Vec::new(),
            picture: RtfPicture::default(),
            pictures: Vec::new(),
            shape_name: String::new(),
            comment_author: None,
            date: [0; 5],
            sections: VecDeque::new(),
            bands: SectionBands::default(),
            footnotes: 0,
            endnotes: 0,
        }
    }

    /// Reads all tokens.
    pub(super) fn read(&mut self) -> Result<(), UnreadableFile> {
        loop {
            let start = self.tokens.position();
            let Some(token) = self.tokens.next() else { break };
            match token {
                RtfToken::Open => {
                    self.decode();
                    self.passed_over = 0;
                    if self.groups.len() >= DEPTH {
                        return Err(UnreadableFile::too_large("its groups are nested too deeply"));
                    }
                    self.groups.push(self.state);
                    self.state = self.state.inner();
                }
                RtfToken::Close => {
                    self.decode();
                    self.passed_over = 0;
                    if self.close_group() {
                        break;
                    }
                }
                RtfToken::Text(bytes) => {
                    let passed = self.passed_over.min(bytes.len());
                    self.passed_over -= passed;
                    self.text(&bytes[passed..], start + passed);
                }
                RtfToken::Byte(_) | RtfToken::Sign(_) | RtfToken::Binary(..) if self.passed_over > 0 => {
                    self.passed_over -= 1;
                }
                RtfToken::Byte(byte) => self.byte(byte),
                RtfToken::Sign(sign) => self.sign(sign),
                RtfToken::Binary(start, end) => {
                    if self.state.destination == RtfDestination::Picture {
                        self.picture.binary = Some((start, end));
                    }
                }
                RtfToken::Word(word, number) => {
                    if word != b"u" {
                        self.decode();
                    }
                    self.word(word, number);
                }
            }
            if self.budget.is_spent() {
                return Err(UnreadableFile::too_large("the text is too long to be kept: the rest of it is not shown"));
            }
        }
        self.decode();
        match self.groups.is_empty() {
            true => Ok(()),
            false => Err(UnreadableFile::corrupt("the file ends within a group")),
        }
    }

    /// What was read: the text, the headers and footers of its sections, what it says about itself, and its pictures.
    pub(super) fn finish(mut self) -> (Vec<FlowItem>, VecDeque<SectionBands>, DocumentProperties, Vec<RtfPicture>) {
        while self.texts.len() > 1 {
            self.end_text();
        }
        self.sections.push_back(std::mem::take(&mut self.bands));
        let paragraph = self.state.paragraph;
        let flow = self.texts.pop().map(|body| body.text.finish(&paragraph, &self.styles, &mut self.budget));
        let items = flow.map(|flow| flow.into_items()).unwrap_or_default();
        (items, self.sections, self.properties, self.pictures)
    }

    /// Ends a group; whether it was the last.
    fn close_group(&mut self) -> bool {
        let ended = self.state;
        match ended.destination {
            RtfDestination::Fonts => self.end_font(),
            RtfDestination::Styles => self.end_style(),
            RtfDestination::Property(property) => self.end_property(property),
            RtfDestination::Instruction => {
                let instruction = std::mem::take(&mut self.words);
                if let Some(field) = self.fields.last_mut() {
                    *field = link_address(instruction.trim()).or(field.take());
                }
            }
            RtfDestination::ShapeName => self.shape_name = std::mem::take(&mut self.words),
            RtfDestination::ShapeValue => {
                let value = std::mem::take(&mut self.words);
                if self.shape_name == "wzDescription" && !value.trim().is_empty() {
                    self.picture.alt = Some(value.trim().to_owned());
                }
            }
            RtfDestination::CommentAuthor => {
                let author = std::mem::take(&mut self.words).trim().to_owned();
                self.comment_author = Some(author).filter(|author| !author.is_empty());
            }
            _ => {}
        }
        if ended.ends_link {
            self.current().text.end_link();
        }
        if ended.ends_picture {
            self.end_picture();
        }
        if ended.ends_text && self.texts.len() > 1 {
            self.end_text();
        }
        if ended.ends_field {
            self.fields.pop();
        }
        let Some(outer) = self.groups.pop() else { return true };
        self.state = outer;
        self.groups.is_empty()
    }

    pub(super) fn current(&mut self) -> &mut RtfText {
        // The body is never taken away while tokens are read.
        let last = self.texts.len() - 1;
        &mut self.texts[last].text
    }

    /// The bytes that wait, as text.
    pub(super) fn decode(&mut self) {
        if self.raw.is_empty() {
            return;
        }
        let font = self.fonts.get(&self.state.font).copied().unwrap_or_default();
        let encoding = font.encoding.unwrap_or(self.encoding);
        let raw = std::mem::take(&mut self.raw);
        let (text, _) = encoding.decode_without_bom_handling(&raw);
        self.push(&text);
    }

    pub(super) fn push(&mut self, text: &str) {
        let state = self.state;
        match state.destination {
            RtfDestination::Body if !state.hidden => {
                let code = self.fonts.get(&state.font).is_some_and(|font| font.fixed);
                let all_fixed = self.fonts.get(&self.default_font).is_some_and(|font| font.fixed);
                let run = RunFormat { code: code && !all_fixed, ..state.run };
                if self.budget.take(text.len()) {
                    self.current().text.push(text, run);
                }
            }
            RtfDestination::Label => {
                let label = &mut self.current().label;
                if label.len() < 64 {
                    label.push_str(text);
                }
            }
            RtfDestination::Body | RtfDestination::Skipped | RtfDestination::Picture | RtfDestination::Info => {}
            _ if self.words.len() < WORDS => self.words.push_str(text),
            _ => {}
        }
    }

    fn text(&mut self, bytes: &[u8], at: usize) {
        match self.state.destination {
            RtfDestination::Picture if !bytes.is_empty() => {
                let end = at + bytes.len();
                let pieces = self.picture.hex.len();
                // Data is broken into lines.
                match self.picture.hex.last_mut().filter(|last| at.saturating_sub(last.1) <= 2) {
                    Some(last) => last.1 = end,
                    None if pieces < 64 => self.picture.hex.push((at, end)),
                    None => {}
                }
            }
            RtfDestination::Skipped | RtfDestination::Picture => {}
            _ => self.raw.extend_from_slice(bytes),
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.state.destination != RtfDestination::Skipped {
            self.raw.push(byte);
        }
    }

    fn sign(&mut self, sign: u8) {
        self.decode();
        match sign {
            b'~' => self.push("\u{a0}"),
            b'_' => self.push("\u{2011}"),
            b'{' | b'}' | b'\\' => self.push(&char::from(sign).to_string()),
            b'*' => self.state.optional = true,
            _ => {}
        }
    }

    pub(super) fn unicode(&mut self, number: i32) {
        self.decode();
        self.passed_over = self.state.stand_ins;
        let unit = number as u16;
        let c = match (self.high_surrogate.take(), unit) {
            (_, 0xd800..=0xdbff) => {
                self.high_surrogate = Some(unit);
                return;
            }
            (Some(high), 0xdc00..=0xdfff) => char::decode_utf16([high, unit]).next().and_then(Result::ok),
            _ => char::from_u32(u32::from(unit)),
        };
        self.push(&c.unwrap_or(char::REPLACEMENT_CHARACTER).to_string());
    }
}
