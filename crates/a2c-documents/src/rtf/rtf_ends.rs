//! What the end of a group completes: notes, headers, fonts, styles, properties, pictures.

use a2c_document_model::{AnnotationKind, BlobPlace, ElementContent, ElementDraft};

use super::code_pages::of_charset;
use super::group_state::{RtfDestination, RtfProperty};
use super::rtf_document::{OpenRtfText, RtfDocument, RtfFont, TextKind, WORDS};
use super::rtf_text::{RtfStyle, RtfText};
use crate::rich_text::{CountFormat, FlowForm, RunFormat, heading_level, is_code_name, is_fixed_width};

/// How many texts beside the body are open in each other: a note in a table in a header.
const TEXTS: usize = 16;

/// The pictures of a document.
const PICTURES: usize = 20_000;

impl RtfDocument<'_> {
    /// Begins a text beside the body.
    pub(super) fn begin_text(&mut self, kind: TextKind) {
        if self.texts.len() >= TEXTS {
            self.state.destination = RtfDestination::Skipped;
            return;
        }
        let paragraph = std::mem::take(&mut self.state.paragraph);
        self.texts.push(OpenRtfText { kind, text: RtfText::new(FlowForm::Lines), paragraph });
        (self.state.destination, self.state.ends_text) = (RtfDestination::Body, true);
        self.state.hidden = false;
    }

    /// Ends a text beside the body.
    pub(super) fn end_text(&mut self) {
        let Some(OpenRtfText { kind, text, paragraph }) = self.texts.pop() else { return };
        let flow = text.finish(&self.state.paragraph, &self.styles, &mut self.budget);
        self.state.paragraph = paragraph;
        let (text, links, items) = flow.into_lines();
        let text = text.trim().to_owned();
        self.current().flow.take_over(items);
        if text.is_empty() {
            return;
        }
        let (kind, mark, author) = match kind {
            TextKind::Footnote => {
                self.footnotes += 1;
                (AnnotationKind::Footnote, Some(CountFormat::Decimal.show(self.footnotes)), None)
            }
            TextKind::Endnote => {
                self.endnotes += 1;
                (AnnotationKind::Endnote, Some(CountFormat::LowerRoman.show(self.endnotes)), None)
            }
            TextKind::Comment => (AnnotationKind::Comment, None, self.comment_author.take()),
            TextKind::Header | TextKind::Footer | TextKind::Body => return self.add_band(kind, text),
        };
        let mark = mark.map(|mark| format!("[{mark}]"));
        if let Some(mark) = &mark {
            self.current().text.push(mark, RunFormat::default());
        }
        let content = ElementContent::Annotation { kind, text, author, date: None, target: mark, error: None };
        let mut draft = ElementDraft::from(content);
        draft.metadata.links = links;
        self.budget.take_draft(&draft);
        self.current().flow.note(draft);
    }

    fn add_band(&mut self, kind: TextKind, text: String) {
        let (bands, content) = match kind {
            TextKind::Header => (&mut self.bands.headers, ElementContent::Header { text }),
            _ => (&mut self.bands.footers, ElementContent::Footer { text }),
        };
        if self.budget.take_element(0, 0) && !bands.iter().any(|known| known.content == content) {
            bands.push(content.into());
        }
    }

    pub(super) fn end_font(&mut self) {
        let name = std::mem::take(&mut self.words);
        let name = name.trim().trim_end_matches(';');
        if !name.is_empty() && self.fonts.len() < WORDS {
            let encoding = of_charset(self.font_charset);
            // All signs of Chinese and Japanese fonts have one width.
            let is_east_asian = matches!(self.font_charset, 128..=136);
            let fixed = is_fixed_width(name) || (self.font_is_modern && !is_east_asian);
            self.fonts.insert(self.state.font, RtfFont { encoding, fixed });
        }
        (self.font_charset, self.font_is_modern) = (0, false);
    }

    pub(super) fn end_style(&mut self) {
        let name = std::mem::take(&mut self.words);
        let name = name.trim().trim_end_matches(';').to_lowercase();
        let paragraph = self.state.paragraph;
        if !name.is_empty() && self.styles.len() < WORDS {
            let outline = paragraph.outline.filter(|level| *level < 9).map(|level| level + 1);
            let style = RtfStyle { heading: outline.or_else(|| heading_level(&name)), code: is_code_name(&name) };
            self.styles.insert(paragraph.style.unwrap_or(0), style);
        }
    }

    pub(super) fn end_property(&mut self, property: RtfProperty) {
        let words = std::mem::take(&mut self.words).trim().to_owned();
        let [year, month, day, hour, minute] = std::mem::take(&mut self.date);
        let words = Some(words).filter(|words| !words.is_empty());
        let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00");
        let date = Some(date).filter(|_| year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day));
        match property {
            RtfProperty::Title => self.properties.title = words,
            RtfProperty::Author => self.properties.author = words,
            RtfProperty::Subject => self.properties.subject = words,
            RtfProperty::Keywords => {
                let words = words.unwrap_or_default();
                let words = words.split([',', ';', '，', '；']).map(str::trim).filter(|word| !word.is_empty());
                self.properties.keywords = words.map(str::to_owned).collect();
            }
            RtfProperty::Created => self.properties.created = date,
            RtfProperty::Modified => self.properties.modified = date,
        }
    }

    pub(super) fn end_picture(&mut self) {
        let picture = std::mem::take(&mut self.picture);
        let has_bytes = !picture.hex.is_empty() || picture.binary.is_some();
        if !has_bytes || self.pictures.len() >= PICTURES || self.state.hidden {
            return;
        }
        let number = self.pictures.len();
        let mime_type = picture.mime_type.to_owned();
        let content = ElementContent::Image {
            description: picture.alt.is_none().then(|| format!("picture {}", number + 1)),
            alt: picture.alt.clone(),
            url: None,
            mime_type: Some(mime_type.clone()),
            width: picture.width,
            height: picture.height,
        };
        let mut draft = ElementDraft::from(content);
        draft.blob = Some(BlobPlace { part: number.to_string(), mime_type });
        self.pictures.push(picture);
        if self.budget.take_element(0, 0) {
            let last = self.texts.len() - 1;
            self.texts[last].text.drawn.push(draft);
        }
    }
}
