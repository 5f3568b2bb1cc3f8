//! The directory of an xlsx file: its sheets, and the parts that all of them need.

use a2c_document_model::{DocumentProperties, PageHead, UnreadableFile};

use super::properties::read_properties;
use super::relationships::{PartRelationship, of_id, of_kind, relationships};
use super::serial_date::DateSystem;
use super::styles::CellStyles;
use crate::archive::DocumentArchive;
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader, utf8};

/// The sheets of a workbook that are read.
const SHEETS: usize = 10_000;

/// What a workbook says of its sheets.
#[derive(Debug, Default)]
pub(super) struct WorkbookDirectory {
    pub(super) properties: DocumentProperties,
    /// The sheets in their order.
    pub(super) sheets: Vec<SheetEntry>,
    pub(super) dates: DateSystem,
    pub(super) styles: CellStyles,
    /// The part with the texts that cells share.
    pub(super) strings: Option<String>,
    /// The part with the names of those who commented.
    pub(super) persons: Option<String>,
    /// What could not be read.
    pub(super) warnings: Vec<String>,
}

/// A sheet of a workbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SheetEntry {
    pub(super) name: String,
    /// Its part; `None` where the workbook does not say it.
    pub(super) part: Option<String>,
    pub(super) hidden: bool,
}

impl SheetEntry {
    /// What is known of its page.
    pub(super) fn head(&self) -> PageHead {
        PageHead { title: Some(self.name.clone()), hidden: self.hidden }
    }
}

/// The part that holds the directory of a workbook.
pub(super) fn workbook_part(
    archive: &mut DocumentArchive,
    limits: &ReadLimits,
) -> Result<Option<String>, UnreadableFile> {
    let root = relationships(archive, "", limits)?;
    let named = of_kind(&root, "officeDocument").map(str::to_owned).filter(|part| archive.has(part));
    let usual = ["xl/workbook.xml", "xl/workbook.bin"].into_iter().find(|part| archive.has(part));
    Ok(named.or(usual.map(str::to_owned)))
}

impl WorkbookDirectory {
    /// Reads the directory. Styles and properties that cannot be read cost only themselves.
    pub(super) fn read(archive: &mut DocumentArchive, part: &str, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut directory = Self::default();
        let related = relationships(archive, part, limits)?;
        let bytes = utf8(archive.read(part)?);
        directory.read_sheets(&bytes, part, &related, limits)?;
        directory.strings = of_kind(&related, "sharedStrings").map(str::to_owned).filter(|part| archive.has(part));
        directory.persons = of_kind(&related, "person").map(str::to_owned).filter(|part| archive.has(part));
        if let Some(part) = of_kind(&related, "styles").filter(|part| archive.has(part)) {
            let styles = archive.read(part).and_then(|bytes| CellStyles::parse(&utf8(bytes), part, limits));
            directory.styles = directory.or_warn(styles);
        }
        let root = relationships(archive, "", limits)?;
        if let Some(part) = of_kind(&root, "core-properties").filter(|part| archive.has(part)) {
            let properties = archive.read(part).and_then(|bytes| read_properties(&utf8(bytes), part, limits));
            directory.properties = directory.or_warn(properties);
        }
        Ok(directory)
    }

    fn or_warn<T: Default>(&mut self, result: Result<T, UnreadableFile>) -> T {
        result.unwrap_or_else(|error| {
            self.warnings.push(error.message);
            T::default()
        })
    }

    fn read_sheets(
        &mut self,
        bytes: &[u8],
        part: &str,
        related: &[PartRelationship],
        limits: &ReadLimits,
    ) -> Result<(), UnreadableFile> {
        let mut reader = XmlReader::new(bytes, part, limits);
        loop {
            match reader.event()? {
                XmlEvent::Start(tag) => match tag.name() {
                    b"workbookPr" if tag.attribute("date1904").is_some_and(|value| value == "1" || value == "true") => {
                        self.dates = DateSystem::Since1904;
                    }
                    b"sheet" if self.sheets.len() < SHEETS => {
                        let name = tag.attribute("name").unwrap_or_default();
                        let part = tag.attribute("id").and_then(|id| Some(of_id(related, &id)?.target.clone()));
                        let hidden = tag.attribute("state").is_some_and(|state| state != "visible");
                        self.sheets.push(SheetEntry { name, part, hidden });
                    }
                    _ => {}
                },
                XmlEvent::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}
