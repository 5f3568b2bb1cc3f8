//! The shapes of a slide, in the order of its tree.

use std::collections::HashSet;

use a2c_document_model::{ElementContent, ElementDraft, InlineLink, UnreadableFile};

use super::bullets::{LayoutBullets, SlidePlaceholder};
use super::slide_table::read_slide_table;
use super::text_blocks::text_blocks;
use crate::ooxml::{
    AlternateForms, DrawingBullet, DrawingText, LinkResolver, OfficePackage, PartRelationships, PictureFacts,
    picture_draft, read_chart, read_diagram, read_drawing_text,
};
use crate::rich_text::MemoryBudget;
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Reads the shapes of a slide.
pub(super) struct SlideReader<'r> {
    pub(super) package: &'r mut OfficePackage,
    pub(super) relationships: &'r PartRelationships,
    pub(super) bullets: &'r LayoutBullets,
    pub(super) link: LinkResolver<'r>,
    pub(super) budget: MemoryBudget,
    /// What was read.
    pub(super) title: String,
    pub(super) elements: Vec<ElementDraft>,
    pub(super) warnings: Vec<String>,
    /// The charts and diagrams that were drawn: each stands on a slide once.
    pub(super) drawn_parts: HashSet<String>,
}

/// What a shape says about itself.
#[derive(Default)]
struct ShapeFacts {
    placeholder: Option<SlidePlaceholder>,
    name: String,
    picture: PictureFacts,
    media: Option<MediaFacts>,
}

/// A film or a sound.
struct MediaFacts {
    is_video: bool,
    relation: String,
}

impl SlideReader<'_> {
    /// Reads a slide.
    pub(super) fn read(&mut self, bytes: &[u8], part: &str) -> Result<(), UnreadableFile> {
        let limits = self.package.limits().clone();
        let mut xml = XmlReader::new(bytes, part, &limits);
        let mut forms = AlternateForms::default();
        while let Some(event) = xml.within(0)? {
            let tag = match event {
                XmlEvent::Start(tag) => tag,
                XmlEvent::End(end) => {
                    forms.end(end.name());
                    continue;
                }
                _ => continue,
            };
            if forms.passes_over(tag.name()) {
                xml.skip()?;
                continue;
            }
            match tag.name() {
                b"sp" => self.shape(&mut xml)?,
                b"pic" => self.picture(&mut xml, None)?,
                b"graphicFrame" => self.frame(&mut xml)?,
                b"nvGrpSpPr" | b"grpSpPr" | b"cxnSp" | b"bg" | b"timing" | b"transition" | b"extLst" => xml.skip()?,
                // Groups and trees: what is in them counts.
                _ => {}
            }
            if self.budget.is_spent() {
                return Err(UnreadableFile::too_large("the slide holds too much to be kept: the rest is not shown"));
            }
        }
        Ok(())
    }

    fn push(&mut self, draft: ElementDraft) {
        let length = match &draft.content {
            ElementContent::Text { text, .. } | ElementContent::Heading { text, .. } => text.len(),
            _ => 0,
        };
        // A table has taken its part before.
        let is_table = matches!(draft.content, ElementContent::Table(_));
        let marks = draft.metadata.spans.len() + draft.metadata.links.len();
        if is_table || (self.budget.take_element(length, marks) && self.budget.take_draft(&draft)) {
            self.elements.push(draft);
        }
    }

    fn shape(&mut self, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let (depth, mut facts, mut text) = (xml.depth(), ShapeFacts::default(), DrawingText::default());
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"txBody" => text = read_drawing_text(xml, self.link)?,
                b"spPr" | b"style" => xml.skip()?,
                _ => self.note_fact(&tag, &mut facts),
            }
        }
        let (hidden, url) = (facts.picture.hidden, facts.picture.url.take());
        let first = self.elements.len();
        self.place_text(facts.placeholder.as_ref(), text);
        for draft in self.elements.iter_mut().skip(first) {
            draft.metadata.hidden |= hidden;
            // A click on the shape leads there from each of its texts.
            if let Some(url) = url.clone().filter(|_| draft.metadata.links.is_empty()) {
                draft.metadata.links.push(InlineLink { text: String::new(), url, cell: None });
            }
        }
        Ok(())
    }

    fn place_text(&mut self, placeholder: Option<&SlidePlaceholder>, text: DrawingText) {
        match placeholder.map(|placeholder| placeholder.kind.as_str()) {
            Some("title" | "ctrTitle") => self.place_title(text),
            // Every slide has its number.
            Some("sldNum") => {}
            Some("ftr" | "dt") => {
                let text = text.lines();
                if !text.is_empty() {
                    self.push(ElementContent::Footer { text }.into());
                }
            }
            Some("hdr") => {
                let text = text.lines();
                if !text.is_empty() {
                    self.push(ElementContent::Header { text }.into());
                }
            }
            _ => {
                let (levels, bullets) = (text.levels, self.bullets);
                let blocks = text_blocks(text.paragraphs, |level| {
                    levels[level].unwrap_or_else(|| match placeholder {
                        Some(placeholder) => bullets.bullet(placeholder, level),
                        None => DrawingBullet::None,
                    })
                });
                blocks.into_iter().for_each(|block| self.push(block));
            }
        }
    }

    /// The paragraphs of a title are one heading.
    fn place_title(&mut self, text: DrawingText) {
        let mut paragraphs: Vec<_> =
            text.paragraphs.into_iter().filter(|paragraph| !paragraph.text.text().trim().is_empty()).collect();
        let (text, metadata) = match paragraphs.len() {
            0 => return,
            1 => paragraphs.remove(0).text.finish(),
            _ => {
                let lines: Vec<String> = paragraphs.into_iter().map(|paragraph| paragraph.text.finish().0).collect();
                (lines.join(" "), Default::default())
            }
        };
        let text = text.replace(['\n', '\t', '\u{b}'], " ");
        if self.title.is_empty() {
            self.title.clone_from(&text);
        }
        let mut draft = ElementDraft::from(ElementContent::Heading { level: 1, text });
        draft.metadata = metadata;
        self.push(draft);
    }

    /// Keeps what a tag says about its shape.
    fn note_fact(&self, tag: &XmlTag<'_>, facts: &mut ShapeFacts) {
        let target = |name: &str| tag.attribute(name).filter(|id| !id.is_empty());
        match tag.name() {
            b"cNvPr" => {
                facts.name = tag.attribute("name").unwrap_or_default();
                let words = [tag.attribute("descr"), tag.attribute("title")].into_iter().flatten();
                facts.picture.alt = words.into_iter().find(|words| !words.trim().is_empty());
                facts.picture.hidden = tag.attribute("hidden").is_some() && tag.is_on("hidden");
            }
            b"ph" => facts.placeholder = Some(SlidePlaceholder::read(tag)),
            b"hlinkClick" => {
                let id = tag.attribute("id").unwrap_or_default();
                facts.picture.url = (self.link)(&id, &tag.attribute("action").unwrap_or_default());
            }
            b"ext" if tag.attribute("cx").is_some() => {
                (facts.picture.width, facts.picture.height) = (tag.number("cx"), tag.number("cy"));
            }
            b"blip" => facts.picture.relation = target("embed").or_else(|| target("link")),
            name @ (b"videoFile" | b"audioFile" | b"wavAudioFile" | b"quickTimeFile") => {
                let is_video = matches!(name, b"videoFile" | b"quickTimeFile");
                let relation = target("link").or_else(|| target("embed"));
                facts.media = relation.map(|relation| MediaFacts { is_video, relation });
            }
            // The newer place of the bytes, while the older one may be an address.
            b"media" => {
                if let (Some(media), Some(id)) = (&mut facts.media, target("embed"))
                    && self.relationships.part(&id).is_some()
                {
                    media.relation = id;
                }
            }
            _ => {}
        }
    }

    /// A picture, or a film or sound that it stands for, or the look of an embedded object.
    fn picture(&mut self, xml: &mut XmlReader<'_>, description: Option<String>) -> Result<(), UnreadableFile> {
        let (depth, mut facts) = (xml.depth(), ShapeFacts::default());
        while let Some(event) = xml.within(depth)? {
            if let XmlEvent::Start(tag) = event {
                self.note_fact(&tag, &mut facts);
            }
        }
        if let Some(media) = facts.media {
            let draft = self.media(&media, facts.name, facts.picture.alt);
            self.push(draft);
            return Ok(());
        }
        facts.picture.description = description;
        if let Some(draft) = picture_draft(self.package, self.relationships, facts.picture) {
            self.push(draft);
        }
        Ok(())
    }

    fn media(&mut self, media: &MediaFacts, name: String, alt: Option<String>) -> ElementDraft {
        let part = self.relationships.part(&media.relation).filter(|part| self.package.has(part));
        let blob = part.map(|part| self.package.blob_place(part));
        let address = self.relationships.address(&media.relation).map(str::to_owned);
        let mime_type = blob.as_ref().map(|blob| blob.mime_type.clone());
        let name = address.unwrap_or(name);
        let mut draft = ElementDraft::from(match media.is_video {
            true => ElementContent::Video { name, mime_type },
            false => ElementContent::Audio { name, mime_type },
        });
        draft.summary = alt;
        draft.blob = blob;
        draft
    }

    /// A frame holds a table, a chart, a diagram, or an embedded object.
    fn frame(&mut self, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let (depth, mut facts, mut program) = (xml.depth(), ShapeFacts::default(), None);
        let first = self.elements.len();
        // An embedded object comes in two forms, of which the older one has its picture: both are read.
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"tbl" => {
                    let table = read_slide_table(xml, self.link, &mut self.budget)?;
                    table.into_iter().for_each(|draft| self.push(draft));
                }
                b"chart" => self.part(&tag, "id"),
                b"relIds" => self.part(&tag, "dm"),
                b"oleObj" => program = tag.attribute("progId").or(program),
                b"pic" if self.elements.len() == first => {
                    let description = program.as_ref().map(|program| format!("embedded object ({program})"));
                    self.picture(xml, description)?;
                }
                b"pic" => xml.skip()?,
                _ => self.note_fact(&tag, &mut facts),
            }
        }
        for draft in self.elements.iter_mut().skip(first) {
            draft.metadata.hidden |= facts.picture.hidden;
            if draft.summary.is_none() {
                draft.summary.clone_from(&facts.picture.alt);
            }
        }
        Ok(())
    }

    /// A chart or a diagram, whose part an attribute names.
    fn part(&mut self, tag: &XmlTag<'_>, attribute: &str) {
        let id = tag.attribute(attribute).unwrap_or_default();
        let Some(part) = self.relationships.part(&id).map(str::to_owned) else { return };
        if !self.drawn_parts.insert(part.clone()) {
            return;
        }
        let read = match attribute {
            "dm" => read_diagram(self.package, &part),
            _ => read_chart(self.package, &part),
        };
        match read {
            Ok(draft) => self.push(draft),
            Err(problem) => self.warnings.push(problem.message),
        }
    }
}
