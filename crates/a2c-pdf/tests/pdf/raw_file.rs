//! PDF files written object by object.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A file of objects, numbered from 1; the first is the catalog.
pub(crate) fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n", number + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| bytes.extend(format!("{place:010} 00000 n \n").bytes()));
    let size = objects.len() + 1;
    bytes.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    bytes
}

/// A stream with these entries in its dictionary.
pub(crate) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    [format!("<< {entries} /Length {} >>\nstream\n", data.len()).as_bytes(), data, b"\nendstream"].concat()
}

/// A file of one page with this content, these entries in the page, and objects from 5 on.
pub(crate) fn one_page(content: Vec<u8>, entries: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R {entries} >>").into_bytes(),
        content,
    ];
    objects.extend_from_slice(more);
    file(&objects)
}

/// The resources of a page with one font, `F`.
pub(crate) const FONT: &str = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>";

/// A file of one page with this content in Helvetica.
pub(crate) fn text_page(content: &str) -> Vec<u8> {
    one_page(stream("", content.as_bytes()), FONT, &[])
}

/// Bytes as deflate packs them.
pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
