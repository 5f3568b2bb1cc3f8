//! What a file may ask of its reader. Every limit is checked before what it limits is built.

/// The limits of reading one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLimits {
    /// The size of a file that is read as a whole, in bytes.
    pub file_bytes: u64,
    /// The entries of an archive.
    pub archive_entries: usize,
    /// What all entries of an archive unpack to, in bytes.
    pub archive_bytes: u64,
    /// What one entry unpacks to, in bytes.
    pub entry_bytes: u64,
    /// How many times its size an entry may unpack to, beyond the first megabyte.
    pub entry_ratio: u64,
    /// The size of a part that is read as a whole, such as the text of a letter or a slide, in bytes.
    pub text_part_bytes: u64,
    /// What the elements of a document that is kept as a whole take in memory, roughly, in bytes.
    pub document_bytes: usize,
    /// How deep the elements of an XML file are nested.
    pub xml_depth: usize,
    /// The attributes of one XML element.
    pub xml_attributes: usize,
    /// The merged ranges of a sheet.
    pub merges: usize,
    /// The texts that the cells of a workbook share, in bytes.
    pub shared_text_bytes: usize,
    /// The elements of one page; the next ones are on another page.
    pub page_elements: usize,
    /// The operations that one page of a PDF draws with.
    pub page_operations: usize,
    /// The glyphs on one page of a PDF.
    pub page_glyphs: usize,
    /// The pixels of a picture that has to be packed anew to be shown.
    pub picture_pixels: usize,
    /// The bytes of one text on a page; the whole of it is read with its element.
    pub page_text: usize,
    /// The bytes of one element that is read alone.
    pub element_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            file_bytes: 512 << 20,
            archive_entries: 20_000,
            archive_bytes: 2 << 30,
            entry_bytes: 1 << 30,
            entry_ratio: 400,
            text_part_bytes: 64 << 20,
            document_bytes: 64 << 20,
            xml_depth: 256,
            xml_attributes: 512,
            merges: 100_000,
            shared_text_bytes: 128 << 20,
            page_elements: 200,
            page_operations: 10_000_000,
            page_glyphs: 1_000_000,
            picture_pixels: 100_000_000,
            page_text: 64 << 10,
            element_bytes: 4 << 20,
        }
    }
}
