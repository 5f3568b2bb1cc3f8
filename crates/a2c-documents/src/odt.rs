//! OpenDocument texts: `.odt`, `.ott`.
//!
//! The text is read once, when the file is opened, because its pages are a division of it.

use std::collections::{HashMap, HashSet, VecDeque};

use a2c_document_model::{BlobPlace, DocumentProperties, ElementContent, PageDraft, PageHead, UnreadableFile};

use crate::flow::FlowDocument;
use crate::limits::ReadLimits;
use crate::opendocument::{OpenBody, OpenPackage, OpenStyles};
use crate::reader::{FormatReader, PageRequest};
use crate::rich_text::{DocumentFlow, FlowForm, SectionBands, divide, keep_before_mistake};
use crate::source::Source;
use crate::xml::{XmlEvent, XmlReader};

/// The master pages that are read.
const MASTERS: usize = 1_000;

/// Opens a text.
pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut package = OpenPackage::open(source, limits)?;
    let mut warnings = Vec::new();
    let properties = package.properties().unwrap_or_else(|problem| {
        warnings.push(problem.message);
        DocumentProperties::default()
    });
    let pages = read_text(&mut package, limits, &mut warnings)?;
    Ok(Box::new(OpenText { text: FlowDocument::new(properties, pages), package, warnings }))
}

struct OpenText {
    text: FlowDocument,
    package: OpenPackage,
    warnings: Vec<String>,
}

impl FormatReader for OpenText {
    fn properties(&self) -> &DocumentProperties {
        self.text.properties()
    }

    fn pages(&self) -> &[PageHead] {
        self.text.pages()
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        self.text.page(index, request)
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.package.blob(place)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

fn read_text(
    package: &mut OpenPackage,
    limits: &ReadLimits,
    warnings: &mut Vec<String>,
) -> Result<Vec<PageDraft>, UnreadableFile> {
    let bytes = package.xml("content.xml")?;
    let styles_part = package.xml_if_there("styles.xml").unwrap_or_default().unwrap_or_default();
    let (mut styles, mut band_styles) = (OpenStyles::default(), OpenStyles::default());
    // A mistake in the styles costs formatting only.
    for read in [
        styles.add(&styles_part, "styles.xml", false, limits),
        styles.add(&bytes, "content.xml", true, limits),
        band_styles.add(&styles_part, "styles.xml", true, limits),
    ] {
        warnings.extend(read.err().map(|problem| problem.message));
    }
    let mut body = OpenBody::new(package, styles);
    let mut flow = DocumentFlow::new(FlowForm::Elements);
    let read = read_body(&mut body, &bytes, limits, &mut flow);
    drop(bytes);
    body.styles = band_styles;
    let sections = match read_masters(&mut body, &styles_part, limits) {
        Ok(masters) => sections(&body.masters, masters),
        Err(problem) => {
            body.warn(&problem.message);
            VecDeque::new()
        }
    };
    let mut pages = divide(flow.into_items(), sections, limits.page_elements);
    if let Err(problem) = read {
        body.warn(&problem.message);
        keep_before_mistake(&mut pages, problem)?;
    }
    warnings.append(&mut body.warnings);
    Ok(pages)
}

fn read_body(
    body: &mut OpenBody<'_>,
    bytes: &[u8],
    limits: &ReadLimits,
    flow: &mut DocumentFlow,
) -> Result<(), UnreadableFile> {
    let (mut xml, mut has_text) = (XmlReader::new(bytes, "content.xml", limits), false);
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"automatic-styles" | b"font-face-decls" | b"scripts" => xml.skip()?,
            b"text" => {
                has_text = true;
                body.blocks(&mut xml, flow)?;
            }
            _ => {}
        }
    }
    match has_text {
        true => Ok(()),
        false => Err(UnreadableFile::corrupt("the file is an archive without a text in its part `content.xml`")),
    }
}

/// The headers and footers of a master page.
#[derive(Default)]
struct MasterBands {
    headers: Vec<String>,
    footers: Vec<String>,
    /// The master page of the pages after the first.
    next: Option<String>,
}

/// The master pages by their names, and the name of the first.
struct MasterPages {
    by_name: HashMap<String, MasterBands>,
    first: Option<String>,
}

fn read_masters(body: &mut OpenBody<'_>, bytes: &[u8], limits: &ReadLimits) -> Result<MasterPages, UnreadableFile> {
    let mut xml = XmlReader::new(bytes, "styles.xml", limits);
    let mut masters = MasterPages { by_name: HashMap::new(), first: None };
    let mut name = String::new();
    while let Some(event) = xml.within(0)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"styles" | b"automatic-styles" | b"font-face-decls" => xml.skip()?,
            b"master-page" if masters.by_name.len() < MASTERS => {
                name = tag.attribute("name").unwrap_or_default();
                masters.first.get_or_insert_with(|| name.clone());
                let next = tag.attribute("next-style-name");
                masters.by_name.insert(name.clone(), MasterBands { next, ..MasterBands::default() });
            }
            kind if kind.starts_with(b"header") || kind.starts_with(b"footer") => {
                let is_header = kind.starts_with(b"header");
                let shown = tag.attribute("display").as_deref() != Some("false");
                let (text, _) = body.lines(&mut xml)?;
                let Some(master) = masters.by_name.get_mut(&name).filter(|_| shown) else { continue };
                let bands = if is_header { &mut master.headers } else { &mut master.footers };
                if !text.is_empty() && !bands.contains(&text) {
                    bands.push(text);
                }
            }
            _ => {}
        }
    }
    Ok(masters)
}

/// The headers and footers of every section. Those of a master page stand with its first section.
fn sections(used: &[Option<String>], mut masters: MasterPages) -> VecDeque<SectionBands> {
    let (mut seen, mut sections) = (HashSet::new(), VecDeque::new());
    for master in used {
        let mut bands = SectionBands::default();
        let mut name = master.clone().or_else(|| masters.first.clone());
        // The first page of a section may look different from those after it.
        for _ in 0..2 {
            let Some(read) = name.take().and_then(|name| masters.by_name.remove(&name)) else { break };
            let new = |text: &String| seen.insert(text.clone());
            let (headers, footers) = (read.headers, read.footers);
            let mut new = new;
            bands
                .headers
                .extend(headers.into_iter().filter(&mut new).map(|text| ElementContent::Header { text }.into()));
            bands
                .footers
                .extend(footers.into_iter().filter(&mut new).map(|text| ElementContent::Footer { text }.into()));
            name = read.next;
        }
        sections.push_back(bands);
    }
    sections
}
