//! Slides of PowerPoint: `.pptx`, `.pptm`, `.potx`, `.ppsx`.
//!
//! Opening reads the list of slides; a slide is read when its page is asked for.

mod bullets;
mod slide;
mod slide_notes;
mod slide_table;
mod text_blocks;

use std::collections::HashSet;

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, ElementDraft, PageDraft, PageHead, UnreadableFile,
};

use self::bullets::BulletCache;
use self::slide::SlideReader;
use self::slide_notes::{CommentAuthors, read_authors, read_comments, read_notes};
use crate::limits::ReadLimits;
use crate::ooxml::{OfficePackage, PartRelationships};
use crate::reader::{FormatReader, PageRequest, cut_page};
use crate::rich_text::MemoryBudget;
use crate::source::Source;
use crate::xml::{XmlEvent, XmlReader};

/// The most slides of a presentation.
const SLIDES: usize = 10_000;

/// The beginning of a slide that tells whether it is hidden.
const SLIDE_HEAD: u64 = 4096;

/// How many warnings are kept.
const WARNINGS: usize = 50;

/// Opens a presentation.
pub fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut package = OfficePackage::open(source, limits)?;
    let properties = package.properties();
    let main = package.main_part("ppt/presentation.xml")?;
    let relationships = package.relationships_of(&main)?;
    let slides = read_slide_list(&mut package, &main, &relationships)?;
    let hidden = |package: &mut OfficePackage, slide: &SlideEntry| is_hidden(package, &slide.part);
    let heads = slides.iter().map(|slide| PageHead { title: None, hidden: hidden(&mut package, slide) }).collect();
    let authors = read_authors(&mut package, &relationships);
    let cache = BulletCache::default();
    Ok(Box::new(SlideDeck { package, properties, slides, heads, authors, cache, warnings: Vec::new() }))
}

/// A slide of a presentation.
#[derive(Debug)]
struct SlideEntry {
    /// The id that stays its own wherever it is moved.
    id: String,
    part: String,
}

struct SlideDeck {
    package: OfficePackage,
    properties: DocumentProperties,
    slides: Vec<SlideEntry>,
    heads: Vec<PageHead>,
    authors: CommentAuthors,
    cache: BulletCache,
    warnings: Vec<String>,
}

impl FormatReader for SlideDeck {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let Some(slide) = self.slides.get(index) else {
            return Err(UnreadableFile::corrupt(format!("the presentation has no slide {index}")));
        };
        let (part, key) = (slide.part.clone(), slide.id.clone());
        let mut page = self.read_slide(&part)?;
        page.key = key;
        page.hidden = self.heads[index].hidden;
        cut_page(&mut page, request, self.package.limits());
        Ok(page)
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.package.blob(place)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

impl SlideDeck {
    fn read_slide(&mut self, part: &str) -> Result<PageDraft, UnreadableFile> {
        let bytes = self.package.xml(part)?;
        let relationships = self.package.relationships_of(part)?;
        let layout = relationships.part_of_kind("slideLayout");
        let bullets = layout.map(|layout| self.cache.of_layout(&mut self.package, layout)).unwrap_or_default();
        let slides = &self.slides;
        let link = |id: &str, action: &str| resolve_link(&relationships, slides, id, action);
        let budget = MemoryBudget::new(self.package.limits().document_bytes);
        let mut reader = SlideReader {
            package: &mut self.package,
            relationships: &relationships,
            bullets: &bullets,
            link: &link,
            budget,
            title: String::new(),
            elements: Vec::new(),
            warnings: Vec::new(),
            drawn_parts: HashSet::new(),
        };
        let read = reader.read(&bytes, part);
        let SlideReader { title, elements, warnings, .. } = reader;
        let mut page = PageDraft { title, elements, ..PageDraft::default() };
        warnings.into_iter().for_each(|warning| self.warn(warning));
        if let Err(problem) = read {
            if page.elements.is_empty() {
                return Err(problem);
            }
            // What was read before the mistake is worth more than nothing.
            let mut draft = ElementDraft::from(ElementContent::error(problem.code.as_str(), &problem.message));
            draft.metadata.error = Some(problem.code.as_str().to_owned());
            page.elements.push(draft);
            page.partial = true;
            self.warn(problem.message);
        }
        self.add_notes(&relationships, &mut page);
        join_overflow(&mut page, self.package.limits().page_elements);
        Ok(page)
    }

    fn add_notes(&mut self, relationships: &PartRelationships, page: &mut PageDraft) {
        if let Some(part) = relationships.part_of_kind("notesSlide") {
            match read_notes(&mut self.package, part) {
                Ok(notes) => page.elements.extend(notes),
                Err(problem) => self.warn(problem.message),
            }
        }
        if let Some(part) = relationships.part_of_kind("comments") {
            match read_comments(&mut self.package, part, &self.authors) {
                Ok(comments) => page.elements.extend(comments),
                Err(problem) => self.warn(problem.message),
            }
        }
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

fn read_slide_list(
    package: &mut OfficePackage,
    main: &str,
    relationships: &PartRelationships,
) -> Result<Vec<SlideEntry>, UnreadableFile> {
    let bytes = package.xml(main)?;
    let mut xml = XmlReader::new(&bytes, main, package.limits());
    let mut slides = Vec::new();
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        if tag.name() != b"sldId" {
            continue;
        }
        // Two attributes are named `id`; the relationship's has a prefix.
        let ids = tag.attributes();
        let mut ids = ids.into_iter().filter(|(name, _)| name == "id").map(|(_, id)| id);
        let (Some(first), Some(second)) = (ids.next(), ids.next()) else { continue };
        let (id, relation) = if relationships.part(&second).is_some() { (first, second) } else { (second, first) };
        if let Some(part) = relationships.part(&relation) {
            slides.push(SlideEntry { id, part: part.to_owned() });
        }
        if slides.len() > SLIDES {
            return Err(UnreadableFile::too_large(format!("the presentation has more than {SLIDES} slides")));
        }
    }
    Ok(slides)
}

/// Whether a slide is hidden. Its first tag says so.
fn is_hidden(package: &mut OfficePackage, part: &str) -> bool {
    let Ok(bytes) = package.head(part, SLIDE_HEAD) else { return false };
    let mut xml = XmlReader::new(&bytes, part, package.limits());
    // The first bytes may end within a tag: an error there tells nothing.
    while let Ok(event) = xml.event() {
        match event {
            XmlEvent::Start(tag) => return tag.attribute("show").is_some() && !tag.is_on("show"),
            XmlEvent::Eof => break,
            _ => {}
        }
    }
    false
}

/// Where a link leads: an address, or the page of another slide.
fn resolve_link(relationships: &PartRelationships, slides: &[SlideEntry], id: &str, action: &str) -> Option<String> {
    if let Some(address) = relationships.address(id) {
        return Some(address.to_owned());
    }
    if !action.starts_with("ppaction://hlinksldjump") {
        return None;
    }
    let part = relationships.part(id)?;
    slides.iter().position(|slide| slide.part == part).map(|index| format!("#page-{index}"))
}

/// Slides with masses of little texts keep their words, in one element.
fn join_overflow(page: &mut PageDraft, limit: usize) {
    if page.elements.len() <= limit {
        return;
    }
    let rest = page.elements.split_off(limit.saturating_sub(1));
    let (mut lines, mut all_texts) = (Vec::new(), true);
    for draft in rest {
        match draft.content {
            ElementContent::Text { text, .. }
            | ElementContent::Heading { text, .. }
            | ElementContent::Annotation { text, .. } => lines.push(text),
            ElementContent::List { items, .. } => lines.extend(items.iter().map(|item| item.text().to_owned())),
            ElementContent::Link { text, url } => lines.push(format!("{text} ({url})")),
            _ => all_texts = false,
        }
    }
    page.partial |= !all_texts;
    page.elements.push(ElementContent::text(lines.join("\n")).into());
}
