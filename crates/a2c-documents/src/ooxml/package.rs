//! The package that an Office Open XML file is: its main part, and other parts by their relationships.

use std::io::Read as _;

use a2c_document_model::{BlobPlace, DocumentProperties, UnreadableFile};

use super::content_types::ContentTypes;
use super::old_container;
use super::properties::read_properties;
use super::relationships::{PartRelationships, rels_name};
use crate::archive::{DocumentArchive, broken};
use crate::limits::ReadLimits;
use crate::source::Source;
use crate::xml::utf8;

/// An open package.
pub(crate) struct OfficePackage {
    archive: DocumentArchive,
    types: ContentTypes,
    relationships: PartRelationships,
    limits: ReadLimits,
}

impl OfficePackage {
    /// Opens a package and reads its directory.
    pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        old_container::refuse(source)?;
        let archive = DocumentArchive::open(source, limits)?;
        let mut package = Self {
            archive,
            types: ContentTypes::default(),
            relationships: PartRelationships::default(),
            limits: limits.clone(),
        };
        if let Some(types) = package.xml_if_there("[Content_Types].xml")? {
            package.types = ContentTypes::read(&types, limits)?;
        }
        package.relationships = package.relationships_of("")?;
        Ok(package)
    }

    /// The limits of reading.
    pub(crate) fn limits(&self) -> &ReadLimits {
        &self.limits
    }

    /// The name of the part where reading begins. `usual` is its name where the package does not say it.
    pub(crate) fn main_part(&mut self, usual: &str) -> Result<String, UnreadableFile> {
        let named = self.relationships.part_of_kind("officeDocument").map(str::to_owned);
        let found = [named.as_deref(), Some(usual)].into_iter().flatten().find(|name| self.archive.has(name));
        found.map(str::to_owned).ok_or_else(|| {
            UnreadableFile::corrupt(format!("the file is an archive without the part `{usual}` that holds its text"))
        })
    }

    /// What the file says about itself. Properties that cannot be read are no reason to refuse a file.
    pub(crate) fn properties(&mut self) -> DocumentProperties {
        let part = self.relationships.part_of_kind("core-properties").unwrap_or("docProps/core.xml").to_owned();
        let bytes = self.xml_if_there(&part).ok().flatten();
        bytes.and_then(|bytes| read_properties(&bytes, &part, &self.limits).ok()).unwrap_or_default()
    }

    /// The relationships of a part.
    pub(crate) fn relationships_of(&mut self, part: &str) -> Result<PartRelationships, UnreadableFile> {
        match self.xml_if_there(&rels_name(part))? {
            Some(bytes) => PartRelationships::read(&bytes, part, &self.limits),
            None => Ok(PartRelationships::default()),
        }
    }

    /// Whether there is a part of this name.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.archive.has(part)
    }

    /// The XML of a part, as UTF-8.
    pub(crate) fn xml(&mut self, part: &str) -> Result<Vec<u8>, UnreadableFile> {
        let (limit, mut bytes) = (self.limits.text_part_bytes, Vec::new());
        // The directory may lie about sizes: it only saves growing, up to a point.
        bytes.reserve(self.archive.size(part).unwrap_or(0).min(limit).min(16 << 20) as usize);
        let stream = self.archive.stream(part)?;
        stream.take(limit + 1).read_to_end(&mut bytes).map_err(|error| broken(part, &error))?;
        if bytes.len() as u64 > limit {
            return Err(UnreadableFile::too_large(format!(
                "its part `{part}` holds more than {} MiB of text",
                limit >> 20
            )));
        }
        Ok(utf8(bytes))
    }

    /// The XML of a part, where there is one of this name.
    pub(crate) fn xml_if_there(&mut self, part: &str) -> Result<Option<Vec<u8>>, UnreadableFile> {
        match self.archive.has(part) {
            true => self.xml(part).map(Some),
            false => Ok(None),
        }
    }

    /// The first bytes of a part.
    pub(crate) fn head(&mut self, part: &str, length: u64) -> Result<Vec<u8>, UnreadableFile> {
        let mut bytes = Vec::new();
        self.archive.stream(part)?.take(length).read_to_end(&mut bytes).map_err(|error| broken(part, &error))?;
        Ok(utf8(bytes))
    }

    /// What tells the bytes of a part from others.
    pub(crate) fn fingerprint(&mut self, part: &str) -> Option<String> {
        self.archive.fingerprint(part)
    }

    /// Where the bytes of a part are, for an element that shows them.
    pub(crate) fn blob_place(&self, part: &str) -> BlobPlace {
        BlobPlace { part: part.to_owned(), mime_type: self.types.of(part) }
    }

    /// The bytes of a picture or another part.
    pub(crate) fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.archive.read(&place.part)
    }
}
