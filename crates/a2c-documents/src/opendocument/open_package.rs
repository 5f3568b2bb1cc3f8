//! The package that an OpenDocument file is.

use std::io::Read as _;

use a2c_document_model::{BlobPlace, DocumentProperties, ElementContent, ElementDraft, UnreadableCode, UnreadableFile};

use super::open_properties::read_open_properties;
use crate::archive::{DocumentArchive, broken};
use crate::limits::ReadLimits;
use crate::picture::mime_type_of_name;
use crate::source::Source;
use crate::xml::utf8;

/// An open package.
pub(crate) struct OpenPackage {
    archive: DocumentArchive,
    limits: ReadLimits,
}

impl OpenPackage {
    /// Opens a package, unless it is encrypted.
    pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        Self::new(DocumentArchive::open(source, limits)?, limits)
    }

    /// Takes an archive as a package, unless it is encrypted.
    pub(crate) fn new(mut archive: DocumentArchive, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        if let Some(manifest) = archive.read_if_there("META-INF/manifest.xml")?
            && memchr::memmem::find(&manifest, b"encryption-data").is_some()
        {
            let message = "the file is encrypted: it wants a password";
            return Err(UnreadableFile::new(UnreadableCode::Encrypted, message));
        }
        Ok(Self { archive, limits: limits.clone() })
    }

    /// The archive, for parts that are read as they are unpacked.
    pub(crate) fn archive(&mut self) -> &mut DocumentArchive {
        &mut self.archive
    }

    /// The limits of reading.
    pub(crate) fn limits(&self) -> &ReadLimits {
        &self.limits
    }

    /// What the file says about itself.
    pub(crate) fn properties(&mut self) -> Result<DocumentProperties, UnreadableFile> {
        match self.xml_if_there("meta.xml")? {
            Some(bytes) => read_open_properties(&bytes, &self.limits),
            None => Ok(DocumentProperties::default()),
        }
    }

    /// The XML of a part, as UTF-8.
    pub(crate) fn xml(&mut self, part: &str) -> Result<Vec<u8>, UnreadableFile> {
        let (limit, mut bytes) = (self.limits.text_part_bytes, Vec::new());
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

    /// A picture that a frame shows; one that is not in the package has only its address.
    pub(crate) fn picture(&mut self, href: &str, alt: Option<String>) -> ElementDraft {
        let part = href.trim_start_matches("./");
        let is_here = self.archive.has(part);
        let mime_type = mime_type_of_name(part);
        let alt = alt.map(|alt| alt.trim().to_owned()).filter(|alt| !alt.is_empty());
        let name = part.rsplit('/').next().unwrap_or_default().to_owned();
        let content = ElementContent::Image {
            description: (alt.is_none() && is_here).then_some(name),
            alt,
            url: (!is_here).then(|| href.to_owned()),
            mime_type: mime_type.map(str::to_owned),
            width: None,
            height: None,
        };
        let mut draft = ElementDraft::from(content);
        if is_here {
            draft.identity = self.archive.fingerprint(part);
            let mime_type = mime_type.unwrap_or("application/octet-stream").to_owned();
            draft.blob = Some(BlobPlace { part: part.to_owned(), mime_type });
        }
        draft
    }

    /// Where the bytes of a part are, if it is in the package.
    pub(crate) fn blob_place(&self, href: &str, mime_type: &str) -> Option<BlobPlace> {
        let part = href.trim_start_matches("./");
        self.archive.has(part).then(|| BlobPlace { part: part.to_owned(), mime_type: mime_type.to_owned() })
    }

    /// The bytes of a picture or another part.
    pub(crate) fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.archive.read(&place.part)
    }
}
