//! An open PDF file: its pages, read when they are asked for.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, ElementDraft, PageDraft, PageHead, UnreadableCode, UnreadableFile,
};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source};
use hayro_syntax::object::{Array, Dict, ObjectIdentifier};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf, PdfData};

use crate::annotations::PageAnnotations;
use crate::content::{ContentSource, DrawnPage, PageBudget, read_content};
use crate::destinations::{NamedPlaces, PageNumbers};
use crate::directory_check::check_directory;
use crate::font::FontShelf;
use crate::geometry::PageFrame;
use crate::layout::{EdgeLines, PageEdges, PageLayout};
use crate::links::PageLinks;
use crate::outline::page_titles;
use crate::page_limits::{cut, join_overflow};
use crate::pictures::picture_bytes;
use crate::properties::read_properties;
use crate::scans::mark_scan;

/// The most pages of a file.
const PAGES: usize = 100_000;
/// The most layers that may be hidden.
const LAYERS: usize = 10_000;
/// How many warnings are kept.
const WARNINGS: usize = 50;
/// How many pages the edges are kept of.
const EDGES: usize = 16;

/// Opens a PDF file. Its pages are counted, none is read.
pub fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    check_directory(&bytes, usize::try_from(limits.archive_bytes / 4).unwrap_or(usize::MAX))?;
    let document = guarded(|| PdfDocument::new(bytes, limits))?;
    Ok(Box::new(document))
}

/// Bytes that are shared with whoever gave them.
struct SharedBytes(Arc<[u8]>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

struct PdfDocument {
    pdf: Pdf,
    properties: DocumentProperties,
    heads: Vec<PageHead>,
    numbers: PageNumbers,
    /// Read when the first link needs them.
    names: OnceLock<NamedPlaces>,
    hidden_layers: HashSet<ObjectIdentifier>,
    fonts: FontShelf,
    /// The edges of the pages that were read last.
    edges: VecDeque<(usize, PageEdges)>,
    limits: ReadLimits,
    warnings: Vec<String>,
}

impl FormatReader for PdfDocument {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        let read = guarded(|| self.read_page(index));
        if read.is_err() {
            // What was being read may be half there.
            self.fonts = FontShelf::default();
        }
        let mut page = read?;
        cut(&mut page, request, &self.limits);
        Ok(page)
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        guarded(|| picture_bytes(self.pdf.xref(), place, &self.limits))
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

impl PdfDocument {
    fn new(bytes: Arc<[u8]>, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let pdf = Pdf::new(PdfData::from(Arc::new(SharedBytes(bytes)))).map_err(|error| refusal(&error))?;
        let count = pdf.pages().len();
        if count > PAGES {
            return Err(UnreadableFile::too_large(format!("the file has more than {PAGES} pages")));
        }
        if count == 0 {
            return Err(UnreadableFile::corrupt("the file has no pages"));
        }
        let (properties, heads, numbers, names, hidden_layers) = {
            let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
            let numbers = PageNumbers::of(pdf.pages());
            let names = OnceLock::new();
            let titles = match catalog.contains_key("Outlines") {
                true => {
                    let names = names.get_or_init(|| NamedPlaces::read(&catalog, &numbers));
                    page_titles(&catalog, count, &numbers, names)
                }
                false => vec![None; count],
            };
            let heads = titles.into_iter().map(|title| PageHead { title, hidden: false }).collect();
            (read_properties(&pdf, &catalog), heads, numbers, names, hidden_layers(&catalog))
        };
        Ok(Self {
            pdf,
            properties,
            heads,
            numbers,
            names,
            hidden_layers,
            fonts: FontShelf::default(),
            edges: VecDeque::new(),
            limits: limits.clone(),
            warnings: Vec::new(),
        })
    }

    fn read_page(&mut self, index: usize) -> Result<PageDraft, UnreadableFile> {
        let missing = || UnreadableFile::corrupt(format!("the file has no page {index}"));
        let (content, frame) = self.content(index, &self.limits.clone()).ok_or_else(missing)?;
        let edges = self.running_lines(index, &content, &frame);
        let annotations = self.annotations(index, &frame).ok_or_else(missing)?;
        let links = PageLinks::new(annotations.links.clone());
        let lost = content.unknown_glyphs;
        let problem = content.cut.clone();
        let scan = mark_scan(&content, &frame);
        let notes = annotations.drafts(&content.words);
        let letters: usize = content.words.iter().map(|word| word.text.chars().count()).sum();
        let layout = PageLayout { width: frame.width, height: frame.height, links: &links };
        let mut elements = layout.elements(content, &edges);
        if let Some(scan) = scan {
            scan.describe(&mut elements);
            self.warn(format!("page {} is a scan: its words are in a picture only", index + 1));
        }
        if lost > 20 && lost * 4 > letters {
            self.warn(format!("page {}: a font does not say which characters its letters are", index + 1));
        }
        elements.extend(notes);
        let mut page = PageDraft { elements, key: format!("page {index}"), ..PageDraft::default() };
        page.title = self.heads.get(index).and_then(|head| head.title.clone()).unwrap_or_else(|| first_heading(&page));
        if let Some(problem) = problem {
            if page.elements.is_empty() {
                return Err(problem);
            }
            // What was read before the limit is worth more than nothing.
            let mut draft = ElementDraft::from(ElementContent::error(problem.code.as_str(), &problem.message));
            draft.metadata.error = Some(problem.code.as_str().to_owned());
            page.elements.push(draft);
            page.partial = true;
            self.warn(format!("page {}: {}", index + 1, problem.message));
        }
        join_overflow(&mut page, self.limits.page_elements);
        Ok(page)
    }

    /// What a page draws.
    fn content(&mut self, index: usize, limits: &ReadLimits) -> Option<(DrawnPage, PageFrame)> {
        let page = self.pdf.pages().get(index)?;
        let frame = PageFrame::of(page);
        let budget = PageBudget::new(limits);
        let source = ContentSource { fonts: &mut self.fonts, hidden_layers: &self.hidden_layers, budget };
        Some((read_content(page, &frame, source), frame))
    }

    fn annotations(&self, index: usize, frame: &PageFrame) -> Option<PageAnnotations> {
        let page = self.pdf.pages().get(index)?;
        let names = self.names.get_or_init(|| {
            let xref = self.pdf.xref();
            let catalog = xref.get::<Dict<'_>>(xref.root_id()).unwrap_or_default();
            NamedPlaces::read(&catalog, &self.numbers)
        });
        Some(PageAnnotations::read(page, frame, &self.numbers, names))
    }

    /// The running headers and footers of a page: it is compared with two neighbours, those before it where there are some.
    fn running_lines(&mut self, index: usize, content: &DrawnPage, frame: &PageFrame) -> EdgeLines {
        let here = PageEdges::of(&content.words, frame.height);
        if !self.edges.iter().any(|(known, _)| *known == index) {
            self.keep_edges(index, here.clone());
        }
        if here.is_empty() {
            return EdgeLines::default();
        }
        let neighbours = match index {
            0 => [1, 2],
            1 => [0, 2],
            _ => [index - 1, index - 2],
        };
        let found = neighbours.map(|neighbour| self.edges_of(neighbour));
        here.running(&found)
    }

    fn edges_of(&mut self, index: usize) -> PageEdges {
        if let Some((_, edges)) = self.edges.iter().find(|(known, _)| *known == index) {
            return edges.clone();
        }
        // A neighbour must not cost what the page itself may.
        let limits = ReadLimits { page_operations: self.limits.page_operations / 50, ..self.limits.clone() };
        let edges = match self.content(index, &limits) {
            Some((content, frame)) => PageEdges::of(&content.words, frame.height),
            None => PageEdges::default(),
        };
        self.keep_edges(index, edges.clone());
        edges
    }

    fn keep_edges(&mut self, index: usize, edges: PageEdges) {
        if self.edges.len() >= EDGES {
            self.edges.pop_front();
        }
        self.edges.push_back((index, edges));
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

fn first_heading(page: &PageDraft) -> String {
    let heading = page.elements.iter().find_map(|element| match &element.content {
        ElementContent::Heading { text, .. } => Some(text.clone()),
        _ => None,
    });
    heading.unwrap_or_default()
}

/// The layers that the file does not show.
fn hidden_layers(catalog: &Dict<'_>) -> HashSet<ObjectIdentifier> {
    let layers = catalog.get::<Dict<'_>>("OCProperties").and_then(|layers| layers.get::<Dict<'_>>("D"));
    let off = layers.and_then(|layers| layers.get::<Array<'_>>("OFF"));
    let off = off.into_iter().flat_map(|off| off.raw_iter()).take(LAYERS);
    off.filter_map(|layer| layer.as_obj_ref()).map(ObjectIdentifier::from).collect()
}

/// Why a file is refused.
fn refusal(error: &LoadPdfError) -> UnreadableFile {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => UnreadableFile::new(
            UnreadableCode::Encrypted,
            "the file is encrypted and wants a password: save it without one to read it",
        ),
        LoadPdfError::Decryption(_) => {
            UnreadableFile::new(UnreadableCode::Encrypted, "the file is encrypted in a way that is not known")
        }
        LoadPdfError::Invalid => UnreadableFile::corrupt("the file is no PDF, or its structure is broken"),
    }
}

/// Does something with the library. A panic in it is an error like any other.
fn guarded<T>(what: impl FnOnce() -> Result<T, UnreadableFile>) -> Result<T, UnreadableFile> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        Err(UnreadableFile::corrupt("the file broke its reader: its structure is not as it should be"))
    })
}
