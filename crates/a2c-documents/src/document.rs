//! An open document: its pages and elements with their ids, cut to what one answer may hold.

use std::path::Path;
use std::sync::Arc;

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, IdAssigner, PageHead, ReadElement, ReadPage, RowWindow,
    UnreadableCode, UnreadableFile,
};

use serde::{Deserialize, Serialize};

use crate::file_type::FileType;
use crate::limits::ReadLimits;
use crate::reader::{FormatOpener, FormatReader, PageRequest};
use crate::source::Source;
use crate::{mail, odp, odt, picture, plain, rtf, slides, spreadsheet, word};

/// How many bytes tell the format of a file.
const HEAD: u64 = 4096;

/// A document that is open. Its pages are read when they are asked for.
pub struct OpenDocument {
    file_type: FileType,
    /// The name of the file without its ending.
    stem: String,
    reader: Box<dyn FormatReader>,
    limits: ReadLimits,
    /// The pages of a document that is one text: their ids depend on each other, so all of them are kept, whole.
    text: Option<Vec<ReadPage>>,
}

/// Why a page or an element is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotInDocument {
    /// The document has no such page.
    NoPage {
        /// Which.
        page_index: usize,
        /// How many it has.
        page_count: usize,
    },
    /// The page has no such element.
    NoElement {
        /// Which.
        element_id: String,
    },
    /// It cannot be read.
    Unreadable(UnreadableFile),
}

impl std::fmt::Display for NotInDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoPage { page_index, page_count } => {
                write!(f, "there is no page {page_index}: the document has {page_count}, counted from 0")
            }
            Self::NoElement { element_id } => write!(f, "there is no element `{element_id}` on this page"),
            Self::Unreadable(problem) => problem.fmt(f),
        }
    }
}

impl std::error::Error for NotInDocument {}

impl From<UnreadableFile> for NotInDocument {
    fn from(problem: UnreadableFile) -> Self {
        Self::Unreadable(problem)
    }
}

impl OpenDocument {
    /// Opens a file.
    pub fn open(path: &Path, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        Self::from_source(path, Source::open(path)?, limits, &[])
    }

    /// Opens bytes under the name of a file.
    pub fn from_bytes(name: &Path, bytes: Arc<[u8]>, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        Self::from_source(name, Source::Bytes(bytes), limits, &[])
    }

    /// Opens bytes under the name of a file, with readers of more formats than this crate has.
    pub fn from_source(
        path: &Path,
        source: Source,
        limits: &ReadLimits,
        more: &[FormatOpener],
    ) -> Result<Self, UnreadableFile> {
        use std::io::Read as _;
        let mut head = Vec::new();
        source.reader()?.take(HEAD).read_to_end(&mut head).map_err(|error| crate::source::failed(&error))?;
        let unsupported = |what: &str| UnreadableFile::new(UnreadableCode::Unsupported, what.to_owned());
        let file_type =
            FileType::detect(path, &head).ok_or_else(|| unsupported("no reader knows this kind of file"))?;
        let reader = match file_type {
            FileType::Xlsx | FileType::Xlsb | FileType::Xls | FileType::Ods => spreadsheet::open(&source, limits)?,
            FileType::Docx => word::open(&source, limits)?,
            FileType::Pptx => slides::open(&source, limits)?,
            FileType::Odt => odt::open(&source, limits)?,
            FileType::Odp => odp::open(&source, limits)?,
            FileType::Rtf => rtf::open(&source, limits)?,
            FileType::Csv | FileType::Tsv => plain::csv::open(source, limits)?,
            FileType::Markdown => plain::markdown::open(&source, limits)?,
            FileType::Html => plain::html::open(&source, limits)?,
            FileType::Text => plain::text::open(&source, limits)?,
            FileType::Json => plain::json::open(&source, limits)?,
            FileType::Email => mail::open(&source, limits)?,
            FileType::Image => picture::open(source, path, limits)?,
            FileType::Code => plain::code::open(&source, path, limits)?,
            other => match more.iter().find(|format| format.file_type == other) {
                Some(format) => (format.open)(&source, limits)?,
                None => return Err(unsupported(&format!("files of the kind {} cannot be read yet", other.as_str()))),
            },
        };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { file_type, stem, reader, limits: limits.clone(), text: None })
    }

    /// Its format.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// What the file says about itself.
    pub fn properties(&self) -> &DocumentProperties {
        self.reader.properties()
    }

    /// Its title: its own, or the name of its file.
    pub fn title(&self) -> &str {
        let own = self.reader.properties().title.as_deref().map(str::trim);
        own.filter(|title| !title.is_empty()).unwrap_or(&self.stem)
    }

    /// Its pages, as far as they are known without reading them.
    pub fn pages(&self) -> &[PageHead] {
        self.reader.pages()
    }

    /// What could not be read and was passed over, in sentences.
    pub fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }

    /// A page, with the first rows of its tables and the beginnings of its texts.
    pub fn page(&mut self, index: usize) -> Result<ReadPage, NotInDocument> {
        self.read_page(index, &PageRequest::default())
    }

    /// The beginning of a page: no more of the file is read than that takes.
    pub fn page_head(&mut self, index: usize) -> Result<ReadPage, NotInDocument> {
        self.read_page(index, &PageRequest { head_only: true, ..PageRequest::default() })
    }

    /// An element with all there is of it, and these rows if it is a table.
    pub fn element(&mut self, page: usize, element_id: &str, rows: RowWindow) -> Result<ReadElement, NotInDocument> {
        let missing = || NotInDocument::NoElement { element_id: element_id.to_owned() };
        let shown = self.page(page)?;
        let place = shown.elements.iter().position(|element| element.element_id == element_id).ok_or_else(missing)?;
        let mut element = match &self.text {
            Some(pages) => pages[page].elements[place].clone(),
            None => {
                let request = PageRequest { detail: Some((place, rows)), ..PageRequest::default() };
                let draft = self.reader.page(page, &request)?;
                let mut whole = IdAssigner::default().page(page, draft);
                if place >= whole.elements.len() {
                    return Err(missing());
                }
                whole.elements.swap_remove(place)
            }
        };
        if self.text.is_some()
            && let ElementContent::Table(table) = &mut element.content
        {
            table.cut(rows);
        }
        cut_text(&mut element.content, self.limits.element_bytes);
        Ok(element)
    }

    /// The bytes of a picture, or of what else an element names.
    pub fn blob(&mut self, element: &ReadElement) -> Result<Option<Vec<u8>>, UnreadableFile> {
        element.blob.as_ref().map(|place| self.reader.blob(place)).transpose()
    }

    /// The bytes at a place that an element of this document names.
    pub fn blob_at(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.reader.blob(place)
    }

    fn read_page(&mut self, index: usize, request: &PageRequest) -> Result<ReadPage, NotInDocument> {
        let page_count = self.reader.pages().len();
        if index >= page_count {
            return Err(NotInDocument::NoPage { page_index: index, page_count });
        }
        if self.text.is_none() {
            let draft = self.reader.page(index, request)?;
            if !draft.key.is_empty() {
                return Ok(self.cut(IdAssigner::default().page(index, draft)));
            }
            let mut ids = IdAssigner::default();
            let mut pages = Vec::with_capacity(page_count);
            for index in 0..page_count {
                let draft = self.reader.page(index, &PageRequest::default())?;
                pages.push(ids.page(index, draft));
            }
            self.text = Some(pages);
        }
        let page = self.text.as_ref().and_then(|pages| pages.get(index)).cloned().unwrap_or_default();
        Ok(self.cut(page))
    }

    /// What of a page one answer holds.
    fn cut(&self, mut page: ReadPage) -> ReadPage {
        for element in &mut page.elements {
            if let ElementContent::Table(table) = &mut element.content {
                table.cut(RowWindow { offset: 0, limit: RowWindow::OF_PAGE.limit });
            }
            cut_text(&mut element.content, self.limits.page_text);
        }
        page
    }
}

/// Keeps the beginning of a text that is too long, up to a whole character.
fn cut_text(content: &mut ElementContent, most: usize) {
    let (ElementContent::Text { text, truncated } | ElementContent::Code { text, truncated, .. }) = content else {
        return;
    };
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        *truncated = true;
    }
}

/// What is shown of a file that cannot be read.
pub fn error_page(problem: &UnreadableFile) -> ReadPage {
    let mut draft: a2c_document_model::ElementDraft =
        ElementContent::error(problem.code.as_str(), problem.message.clone()).into();
    draft.metadata.error = Some(problem.code.as_str().to_owned());
    let page = a2c_document_model::PageDraft { elements: vec![draft], ..Default::default() };
    IdAssigner::default().page(0, page)
}

#[cfg(test)]
mod tests {
    use a2c_document_model::render;

    use super::*;

    fn open(name: &str, text: &str) -> OpenDocument {
        OpenDocument::from_bytes(Path::new(name), text.as_bytes().into(), &ReadLimits::default()).unwrap()
    }

    #[test]
    fn a_text_is_divided_and_its_twins_are_numbered_over_all_pages() {
        let mut document = open("notes.md", "# One\n\nsame\n\n# Two\n\nsame\n");
        assert_eq!((document.title(), document.pages().len()), ("notes", 2));
        let second = document.page(1).unwrap();
        assert_eq!(second.title, "Two");
        let first = document.page(0).unwrap();
        assert_eq!(second.elements[1].element_id, format!("{}-2", first.elements[1].element_id));
        assert_eq!(document.page(2), Err(NotInDocument::NoPage { page_index: 2, page_count: 2 }));
    }

    #[test]
    fn a_long_table_is_cut_on_its_page_and_read_by_windows_as_an_element() {
        let text: String = std::iter::once("n,m\n".to_owned()).chain((0..6000).map(|n| format!("{n},x\n"))).collect();
        let mut document = open("t.csv", &text);
        let page = document.page(0).unwrap();
        let id = page.elements[0].element_id.clone();
        assert!(render::markdown(&page).ends_with("(rows 1–20 of 6000)"), "{}", render::markdown(&page));
        assert_eq!(document.page_head(0).unwrap().elements[0].element_id, id);
        let element = document.element(0, &id, RowWindow { offset: 5998, limit: 10 }).unwrap();
        let ElementContent::Table(table) = element.content else { panic!("a table") };
        assert_eq!((table.rows[0][0].as_str(), table.rows.len(), table.total_rows), ("5998", 2, Some(6000)));
        let missing = document.element(0, "tbl-none", RowWindow::OF_ELEMENT).unwrap_err();
        assert_eq!(missing, NotInDocument::NoElement { element_id: "tbl-none".into() });
    }

    #[test]
    fn a_long_text_is_cut_on_its_page_and_whole_as_an_element() {
        let text = "词".repeat(40_000);
        let mut document = open("t.txt", &text);
        let page = document.page(0).unwrap();
        let ElementContent::Text { text: shown, truncated } = &page.elements[0].content else { panic!("a text") };
        assert!(*truncated && shown.len() <= 64 << 10 && text.starts_with(shown.as_str()));
        let whole = document.element(0, &page.elements[0].element_id, RowWindow::OF_ELEMENT).unwrap();
        assert_eq!(whole.content, ElementContent::text(text));
    }

    #[test]
    fn what_nobody_can_read_says_so() {
        let limits = ReadLimits::default();
        let problem = OpenDocument::from_bytes(Path::new("x.bin"), vec![0, 1, 2].into(), &limits).err().unwrap();
        assert_eq!(problem.code, UnreadableCode::Unsupported);
        let page = error_page(&problem);
        let json = serde_json::to_value(&page.elements[0]).unwrap();
        assert_eq!(
            (&json["content"]["error"]["code"], &json["metadata"]["error"]),
            (&"unsupported".into(), &"unsupported".into())
        );
        let problem = OpenDocument::open(Path::new("/nowhere/x.md"), &limits).err().unwrap();
        assert_eq!(problem.code, UnreadableCode::Unreadable);
    }
}
