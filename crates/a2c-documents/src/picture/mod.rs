//! Pictures: one page with one element, which has the size, the format, and what the camera noted. Nothing is decoded.

mod exif_facts;
mod lengths;
mod picture_format;
mod svg;

use std::io::{BufReader, Cursor, Read as _};
use std::path::Path;

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, ElementDraft, PageDraft, PageHead, UnreadableFile,
};

use self::exif_facts::ExifFacts;
pub(crate) use self::lengths::css_pixels;
pub(crate) use self::picture_format::{PictureFormat, mime_type_of_name};
use self::svg::SvgFacts;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::source::Source;

/// The name of the file's own bytes.
const WHOLE_FILE: &str = "file";

/// A file whose notes of the camera are looked for; some formats have them anywhere.
const EXIF_FILE_BYTES: u64 = 64 << 20;

/// Opens a picture.
pub(crate) fn open(source: Source, path: &Path, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut head = Vec::new();
    source.reader()?.take(4096).read_to_end(&mut head).map_err(|error| crate::source::failed(&error))?;
    let format = PictureFormat::of_bytes(&head).or_else(|| PictureFormat::of_name(path));
    let format = format.ok_or_else(|| UnreadableFile::corrupt("the file is no picture of a known format"))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut picture = PictureFile {
        properties: DocumentProperties::default(),
        heads: Vec::new(),
        page: PageDraft { title: name.clone(), ..PageDraft::default() },
        source,
        limits: limits.clone(),
    };
    match format {
        PictureFormat::Svg => picture.read_svg()?,
        _ => picture.read_pixels(format)?,
    }
    picture.heads = vec![PageHead { title: Some(name), hidden: false }];
    Ok(Box::new(picture))
}

/// The size of a picture in pixels, by its bytes.
pub(crate) fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = imagesize::reader_size(Cursor::new(bytes)).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}

/// A picture and what is known of it.
struct PictureFile {
    properties: DocumentProperties,
    heads: Vec<PageHead>,
    page: PageDraft,
    source: Source,
    limits: ReadLimits,
}

impl PictureFile {
    fn read_pixels(&mut self, format: PictureFormat) -> Result<(), UnreadableFile> {
        let size = imagesize::reader_size(BufReader::new(self.source.reader()?));
        let size = size.map_err(|error| {
            UnreadableFile::corrupt(format!("the file is no {} picture that can be read: {error}", format.name()))
        })?;
        let mut facts = match self.source.size()? <= EXIF_FILE_BYTES {
            true => ExifFacts::read(BufReader::new(self.source.reader()?)),
            false => ExifFacts::default(),
        };
        // These formats say themselves how they are turned; their size has it in it.
        if matches!(format, PictureFormat::Heic | PictureFormat::Avif) {
            facts.orientation = None;
        }
        let side = |length: usize| u32::try_from(length).ok().filter(|length| *length > 0);
        let (width, height) = match facts.is_turned() {
            true => (side(size.height), side(size.width)),
            false => (side(size.width), side(size.height)),
        };
        let description = Some(facts.sentence(format, width.zip(height)));
        let mime_type = Some(format.mime_type().to_owned());
        let alt = facts.description.clone();
        self.add(ElementContent::Image { alt, url: None, description, mime_type, width, height }, format);
        self.properties.created = facts.date;
        self.properties.author = facts.artist;
        Ok(())
    }

    fn read_svg(&mut self) -> Result<(), UnreadableFile> {
        let bytes = self.source.bytes(self.limits.text_part_bytes)?;
        let facts = SvgFacts::read(&bytes, &self.limits)?;
        let format = PictureFormat::Svg;
        let content = ElementContent::Image {
            alt: facts.title.clone(),
            url: None,
            description: facts.description.or_else(|| Some(format.name().to_owned())),
            mime_type: Some(format.mime_type().to_owned()),
            width: facts.width,
            height: facts.height,
        };
        self.add(content, format);
        if !facts.texts.is_empty() {
            self.page.elements.push(ElementContent::text(facts.texts.join("\n")).into());
        }
        self.properties.title = facts.title;
        Ok(())
    }

    fn add(&mut self, content: ElementContent, format: PictureFormat) {
        let mut draft = ElementDraft::from(content);
        // There is one picture in the file, whatever becomes of it.
        draft.identity = Some(WHOLE_FILE.to_owned());
        draft.blob = Some(BlobPlace { part: WHOLE_FILE.to_owned(), mime_type: format.mime_type().to_owned() });
        self.page.elements.push(draft);
    }
}

impl FormatReader for PictureFile {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, _: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        match index {
            0 => Ok(self.page.clone()),
            _ => Err(UnreadableFile::corrupt(format!("there is no page {index}"))),
        }
    }

    fn blob(&mut self, _: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        self.source.bytes(self.limits.file_bytes).map(|bytes| bytes.to_vec())
    }
}
