//! OpenDocument slides: `.odp`, `.otp`. A slide is a page; all of them stand in one part, which is read once.

use std::collections::HashSet;

use a2c_document_model::{
    AnnotationKind, BlobPlace, DocumentProperties, ElementContent, ElementDraft, PageDraft, PageHead, UnreadableFile,
};

use crate::flow::FlowDocument;
use crate::limits::ReadLimits;
use crate::opendocument::{OpenBody, OpenPackage, OpenStyles, StyleFamily};
use crate::reader::{FormatReader, PageRequest, cut_page};
use crate::rich_text::{BULLET, DocumentFlow, FlowForm, FlowItem, keep_before_mistake};
use crate::source::Source;
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The most slides of a presentation.
const SLIDES: usize = 10_000;

/// Opens slides.
pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut package = OpenPackage::open(source, limits)?;
    let mut warnings = Vec::new();
    let properties = package.properties().unwrap_or_else(|problem| {
        warnings.push(problem.message);
        DocumentProperties::default()
    });
    let pages = read_slides(&mut package, limits, &mut warnings)?;
    let limits = limits.clone();
    Ok(Box::new(OpenSlides { slides: FlowDocument::new(properties, pages), package, limits, warnings }))
}

struct OpenSlides {
    slides: FlowDocument,
    package: OpenPackage,
    limits: ReadLimits,
    warnings: Vec<String>,
}

impl FormatReader for OpenSlides {
    fn properties(&self) -> &DocumentProperties {
        self.slides.properties()
    }

    fn pages(&self) -> &[PageHead] {
        self.slides.pages()
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let mut page = self.slides.page(index, request)?;
        cut_page(&mut page, request, &self.limits);
        Ok(page)
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.package.blob(place)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

fn read_slides(
    package: &mut OpenPackage,
    limits: &ReadLimits,
    warnings: &mut Vec<String>,
) -> Result<Vec<PageDraft>, UnreadableFile> {
    let bytes = package.xml("content.xml")?;
    let styles_part = package.xml_if_there("styles.xml").unwrap_or_default().unwrap_or_default();
    let mut styles = OpenStyles::default();
    // A mistake in the styles costs formatting only.
    for read in [styles.add(&styles_part, "styles.xml", false, limits), styles.add(&bytes, "content.xml", true, limits)]
    {
        warnings.extend(read.err().map(|problem| problem.message));
    }
    let mut body = OpenBody::new(package, styles);
    body.joins_lists = true;
    let (mut pages, mut keys) = (Vec::new(), HashSet::new());
    let read = read_presentation(&mut body, &bytes, limits, &mut pages);
    for (number, page) in pages.iter_mut().enumerate() {
        // The names of slides are unique unless the file is broken.
        if page.key.is_empty() || !keys.insert(page.key.clone()) {
            page.key = format!("{} {number}", page.key);
        }
    }
    if let Err(problem) = read {
        body.warn(&problem.message);
        keep_before_mistake(&mut pages, problem)?;
    }
    warnings.append(&mut body.warnings);
    Ok(pages)
}

fn read_presentation(
    body: &mut OpenBody<'_>,
    bytes: &[u8],
    limits: &ReadLimits,
    pages: &mut Vec<PageDraft>,
) -> Result<(), UnreadableFile> {
    let (mut xml, mut has_slides) = (XmlReader::new(bytes, "content.xml", limits), false);
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"automatic-styles" | b"font-face-decls" | b"scripts" | b"settings" => xml.skip()?,
            b"presentation" => has_slides = true,
            b"page" if pages.len() >= SLIDES => {
                return Err(UnreadableFile::too_large(format!("the presentation has more than {SLIDES} slides")));
            }
            b"page" => {
                let style = tag.attribute("style-name").unwrap_or_default();
                let hidden = body.styles.get(StyleFamily::DrawingPage, &style).hidden;
                let key = tag.attribute("name").unwrap_or_default();
                let mut slide = OpenSlide::default();
                let read = slide.read(body, &mut xml);
                pages.push(slide.finish(key, hidden, limits.page_elements));
                read?;
            }
            _ => {}
        }
    }
    match has_slides {
        true => Ok(()),
        false => Err(UnreadableFile::corrupt("the file is an archive without slides in its part `content.xml`")),
    }
}

/// A slide while it is read.
#[derive(Default)]
struct OpenSlide {
    title: String,
    elements: Vec<ElementDraft>,
    notes: Vec<ElementDraft>,
}

impl OpenSlide {
    fn read(&mut self, body: &mut OpenBody<'_>, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let depth = xml.depth();
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            let class = tag.attribute("class").unwrap_or_default();
            match tag.name() {
                _ if is_decoration(&class) || is_empty_placeholder(&tag) => xml.skip()?,
                b"notes" => self.read_notes(body, xml)?,
                b"par" | b"seq" | b"forms" => xml.skip()?,
                b"frame" if class == "title" && self.title.is_empty() => {
                    let (text, _) = body.lines(xml)?;
                    let words = text.split_whitespace().filter(|word| *word != BULLET);
                    let text = words.collect::<Vec<_>>().join(" ");
                    if !text.is_empty() {
                        body.budget.take_element(text.len(), 0);
                        self.elements.push(ElementContent::Heading { level: 1, text: text.clone() }.into());
                        self.title = text;
                    }
                }
                _ => {
                    let mut flow = DocumentFlow::new(FlowForm::Elements);
                    let read = body.block(xml, &tag, &mut flow);
                    self.take(flow);
                    read?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, flow: DocumentFlow) {
        for item in flow.into_items() {
            match item {
                FlowItem::Element(draft) => self.elements.push(draft),
                FlowItem::Note(draft) => self.notes.push(draft),
                FlowItem::PageBreak | FlowItem::SectionEnd => {}
            }
        }
    }

    fn read_notes(&mut self, body: &mut OpenBody<'_>, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let depth = xml.depth();
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            if tag.name() != b"frame"
                || tag.attribute("class").as_deref() != Some("notes")
                || is_empty_placeholder(&tag)
            {
                continue;
            }
            let (text, _) = body.lines(xml)?;
            if !text.trim().is_empty() {
                let kind = AnnotationKind::Note;
                let note =
                    ElementContent::Annotation { kind, text, author: None, date: None, target: None, error: None };
                self.notes.insert(0, note.into());
            }
        }
        Ok(())
    }

    fn finish(mut self, key: String, hidden: bool, most: usize) -> PageDraft {
        let partial = self.elements.len() + self.notes.len() > most;
        self.elements.truncate(most.saturating_sub(self.notes.len().min(most)));
        self.elements.append(&mut self.notes);
        self.elements.truncate(most);
        PageDraft { title: self.title, elements: self.elements, key, hidden, partial }
    }
}

/// What every slide has: numbers, dates, and the picture of the slide on its notes.
fn is_decoration(class: &str) -> bool {
    matches!(class, "page-number" | "date-time" | "header" | "footer" | "page" | "handout")
}

/// Whether a shape only says what may be put into it.
fn is_empty_placeholder(tag: &XmlTag<'_>) -> bool {
    tag.attribute("placeholder").as_deref() == Some("true")
}
