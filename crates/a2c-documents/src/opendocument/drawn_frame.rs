//! What is drawn in a text or on a slide: pictures, charts, equations, films, and boxes with text.

use a2c_document_model::{ElementContent, ElementDraft, UnreadableFile};

use super::open_body::OpenBody;
use super::open_chart::read_open_chart;
use crate::picture::css_pixels;
use crate::rich_text::DocumentFlow;
use crate::xml::{XmlEvent, XmlReader, XmlTag, without_document_type};

/// The characters of an equation that are kept.
const EQUATION: usize = 10_000;

/// What a frame says.
#[derive(Default)]
struct FrameFacts {
    title: Option<String>,
    description: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    image: Option<String>,
    object: Option<String>,
    /// A film or a sound.
    media: Option<String>,
}

impl OpenBody<'_> {
    /// Reads what is drawn and began last. An equation comes back as its words, to stand in a text.
    pub(super) fn shape(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
    ) -> Result<Option<String>, UnreadableFile> {
        let mut equation = None;
        self.deeper(xml, |body, xml| match tag.name() {
            b"frame" => {
                equation = body.frame(xml, tag, flow)?;
                Ok(())
            }
            _ => body.blocks(xml, flow),
        })?;
        Ok(equation)
    }

    fn frame(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
    ) -> Result<Option<String>, UnreadableFile> {
        let side = |name: &str| tag.attribute(name).and_then(|length| css_pixels(&length));
        let mut facts = FrameFacts { width: side("width"), height: side("height"), ..FrameFacts::default() };
        let depth = xml.depth();
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            let href = tag.attribute("href").filter(|href| !href.is_empty());
            match tag.name() {
                b"title" => facts.title = Some(xml.text()?),
                b"desc" => facts.description = Some(xml.text()?),
                // The first of several forms is the one that its author chose.
                b"image" => facts.image = facts.image.or(href),
                b"object" => facts.object = href,
                b"plugin" => facts.media = href,
                b"text-box" => self.blocks(xml, flow)?,
                _ => self.block(xml, &tag, flow)?,
            }
        }
        Ok(self.finish_frame(facts, flow))
    }

    fn finish_frame(&mut self, facts: FrameFacts, flow: &mut DocumentFlow) -> Option<String> {
        let alt = facts.description.or(facts.title).filter(|alt| !alt.trim().is_empty());
        if let Some(object) = &facts.object {
            match self.object(object) {
                Ok(Some(DrawnObject::Equation(equation))) => return Some(equation),
                Ok(Some(DrawnObject::Chart(mut draft))) => {
                    draft.summary = draft.summary.or(alt);
                    self.budget.take_draft(&draft);
                    flow.element(*draft);
                    return None;
                }
                Ok(None) => {}
                Err(problem) => self.warn(&problem.message),
            }
        }
        let mut draft = match (facts.media, facts.image) {
            (Some(media), _) => self.media(&media),
            (None, Some(image)) => self.package.picture(&image, alt),
            (None, None) => return None,
        };
        if let ElementContent::Image { width, height, .. } = &mut draft.content {
            (*width, *height) = (facts.width, facts.height);
        }
        self.budget.take_draft(&draft);
        flow.element(draft);
        None
    }

    fn media(&self, href: &str) -> ElementDraft {
        let name = href.rsplit('/').next().unwrap_or_default().to_owned();
        let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_sound = matches!(ending.as_str(), "mp3" | "wav" | "ogg" | "oga" | "m4a" | "flac");
        let mime_type = format!("{}/{ending}", if is_sound { "audio" } else { "video" });
        let blob = self.package.blob_place(href, &mime_type);
        let mime_type = Some(mime_type);
        let content = match is_sound {
            true => ElementContent::Audio { name, mime_type },
            false => ElementContent::Video { name, mime_type },
        };
        ElementDraft { blob, ..content.into() }
    }

    /// A chart or an equation that is embedded as a document of its own; `None` for others, and for what was read before.
    fn object(&mut self, href: &str) -> Result<Option<DrawnObject>, UnreadableFile> {
        let part = format!("{}/content.xml", href.trim_start_matches("./").trim_end_matches('/'));
        if !self.objects.insert(part.clone()) {
            return Ok(None);
        }
        let Some(bytes) = self.package.xml_if_there(&part)? else { return Ok(None) };
        // Older programs name the document type of equations.
        let bytes = without_document_type(bytes);
        let limits = self.package.limits().clone();
        let mut xml = XmlReader::new(&bytes, &part, &limits);
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"math" => return Ok(equation(&mut xml)?.map(DrawnObject::Equation)),
                b"document-content" => break,
                _ => {}
            }
        }
        let chart = read_open_chart(&bytes, &part, &limits)?;
        Ok(chart.map(|chart| DrawnObject::Chart(Box::new(chart))))
    }
}

/// What is embedded in a frame.
enum DrawnObject {
    Chart(Box<ElementDraft>),
    Equation(String),
}

/// The words of an equation: as its author wrote them, or one sign after the other.
fn equation(xml: &mut XmlReader<'_>) -> Result<Option<String>, UnreadableFile> {
    let (depth, mut signs, mut written) = (xml.depth(), Vec::new(), None);
    while let Some(event) = xml.within(depth)? {
        match event {
            XmlEvent::Start(tag) if tag.name() == b"annotation" => written = Some(xml.text()?),
            XmlEvent::Text(text) if !text.trim().is_empty() && signs.len() < EQUATION => {
                signs.push(text.trim().to_owned());
            }
            _ => {}
        }
    }
    let words = written.unwrap_or_else(|| signs.join(" "));
    let words: String = words.trim().chars().take(EQUATION).collect();
    Ok(Some(words).filter(|words| !words.is_empty()))
}
