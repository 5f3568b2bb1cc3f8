//! Small packages made by hand.

use std::io::{Cursor, Write as _};

use a2c_documents::Source;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A package of these parts.
pub(super) fn package(parts: &[(&str, &str)]) -> Source {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    Source::Bytes(writer.finish().unwrap().into_inner().into())
}

/// A Word document with this body and these parts besides.
pub(super) fn word(body: &str, parts: &[(&str, &str)]) -> Source {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let mut all = vec![("word/document.xml", document.as_str())];
    all.extend(parts);
    package(&all)
}

/// Relationships: ids, the last segments of types, and targets.
pub(super) fn relationships(all: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains("://") { " TargetMode=\"External\"" } else { "" };
        format!("<Relationship Id=\"{id}\" Type=\"http://x/{kind}\" Target=\"{target}\"{mode}/>")
    };
    format!("<Relationships>{}</Relationships>", all.iter().map(one).collect::<String>())
}
