//! Values between commas, or whatever stands between them: one table, read row by row.

use std::io::{Cursor, Read};
use std::sync::Arc;

use a2c_document_model::{
    BlobPlace, DocumentProperties, ElementContent, PageDraft, PageHead, RowWindow, TableContent, UnreadableFile,
};
use csv::{Reader, ReaderBuilder, StringRecord};
use encoding_rs::UTF_8;

use crate::encoding::encoding_of;
use crate::header_row::is_header;
use crate::limits::ReadLimits;
use crate::reader::{FormatReader, PageRequest};
use crate::source::Source;

/// How much of the file tells its delimiter and its headers.
const LOOKED_AT: u64 = 256 << 10;

/// What may stand between values, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A file of values.
struct CsvDocument {
    /// In UTF-8.
    source: Source,
    delimiter: u8,
    headers: Vec<String>,
    properties: DocumentProperties,
    heads: [PageHead; 1],
    element_bytes: usize,
}

pub(crate) fn open(source: Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let mut head = Vec::new();
    source.reader()?.take(LOOKED_AT).read_to_end(&mut head).map_err(|error| crate::source::failed(&error))?;
    let encoding = encoding_of(&head);
    // A file in UTF-8 is read from its place; any other is small enough to be turned into it.
    let source = match encoding == UTF_8 {
        true => source,
        false => {
            let bytes = source.bytes(limits.file_bytes)?;
            Source::Bytes(Arc::from(encoding.decode(&bytes).0.into_owned().into_bytes()))
        }
    };
    let text = encoding.decode(&head).0;
    let delimiter = delimiter_of(&text);
    let beginning: Vec<Vec<String>> = records(Cursor::new(text.as_bytes()), delimiter)
        .into_records()
        .flatten()
        .take(20)
        .map(|record| cells(&record))
        .collect();
    let headers = match beginning.split_first() {
        Some((first, rest)) if is_header(first, rest) => first.clone(),
        _ => Vec::new(),
    };
    Ok(Box::new(CsvDocument {
        source,
        delimiter,
        headers,
        properties: DocumentProperties::default(),
        heads: [PageHead::default()],
        element_bytes: limits.element_bytes,
    }))
}

fn records<R: Read>(input: R, delimiter: u8) -> Reader<R> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(input)
}

fn cells(record: &StringRecord) -> Vec<String> {
    record.iter().map(|cell| cell.trim_start_matches('\u{feff}').to_owned()).collect()
}

/// The delimiter by which most lines have the same number of values, and more than one.
fn delimiter_of(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let lengths: Vec<usize> = records(Cursor::new(text.as_bytes()), delimiter)
            .into_records()
            .flatten()
            .take(50)
            .map(|record| record.len())
            .collect();
        let usual =
            lengths.iter().copied().max_by_key(|length| lengths.iter().filter(|other| *other == length).count());
        let usual = usual.filter(|length| *length > 1).unwrap_or(0);
        (lengths.iter().filter(|length| **length == usual && usual > 0).count(), usual)
    };
    // The first of those that are equally good.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}

impl CsvDocument {
    /// The rows of a window, and how many there are; with `head_only` reading ends with the window.
    fn table(&self, window: RowWindow, head_only: bool) -> Result<TableContent, UnreadableFile> {
        let mut table =
            TableContent { headers: self.headers.clone(), offset: window.offset, ..TableContent::default() };
        let mut reader = records(self.source.reader()?, self.delimiter);
        let mut record = StringRecord::new();
        let (mut count, mut bytes, mut is_first) = (0_usize, 0_usize, !self.headers.is_empty());
        let mut columns = self.headers.len();
        let mut full = false;
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => match error.into_kind() {
                    csv::ErrorKind::Io(error) => return Err(crate::source::failed(&error)),
                    // A line that is not in UTF-8 after all.
                    _ => continue,
                },
            }
            if std::mem::take(&mut is_first) {
                continue;
            }
            if count >= window.offset && table.rows.len() < window.limit && !full {
                bytes += record.as_slice().len();
                full = bytes > self.element_bytes;
                if !full {
                    columns = columns.max(record.len());
                    table.rows.push(cells(&record));
                }
            }
            count += 1;
            if head_only && (full || table.rows.len() >= window.limit) {
                table.truncated = true;
                table.total_columns = Some(columns);
                return Ok(table);
            }
        }
        table.truncated = table.rows.len() < count;
        table.total_rows = Some(count);
        table.total_columns = Some(columns);
        Ok(table)
    }
}

impl FormatReader for CsvDocument {
    fn properties(&self) -> &DocumentProperties {
        &self.properties
    }

    fn pages(&self) -> &[PageHead] {
        &self.heads
    }

    fn page(&mut self, index: usize, request: &PageRequest) -> Result<PageDraft, UnreadableFile> {
        if index > 0 {
            return Err(UnreadableFile::corrupt(format!("there is no page {index}")));
        }
        let window = request.detail.map_or(request.rows, |(_, window)| window);
        let table = self.table(window, request.head_only)?;
        let partial = table.total_rows.is_none();
        // The key tells that the page may be read with other rows.
        let elements = vec![ElementContent::Table(table).into()];
        Ok(PageDraft { elements, key: "csv".into(), partial, ..PageDraft::default() })
    }

    fn blob(&mut self, place: &BlobPlace) -> Result<Vec<u8>, UnreadableFile> {
        Err(UnreadableFile::corrupt(format!("there are no bytes at `{}`", place.part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, request: PageRequest) -> TableContent {
        let source = Source::Bytes(Arc::from(text.as_bytes()));
        let mut document = open(source, &ReadLimits::default()).unwrap();
        match document.page(0, &request).unwrap().elements.remove(0).content {
            ElementContent::Table(table) => table,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn delimiters_and_headers_are_found_out() {
        for (text, headers, first) in [
            ("name,kg\napples,12\npears,7\n", vec!["name", "kg"], vec!["apples", "12"]),
            ("name;kg\n\"a;b\";1,5\nc;2,5\n", vec!["name", "kg"], vec!["a;b", "1,5"]),
            ("name\tkg\na\t1\n", vec!["name", "kg"], vec!["a", "1"]),
            ("a|b\n1|2\n", vec!["a", "b"], vec!["1", "2"]),
            ("1,2\n3,4\n", vec![], vec!["1", "2"]),
            ("only\n", vec![], vec!["only"]),
            ("\u{feff}x,y\n1,2\n", vec!["x", "y"], vec!["1", "2"]),
        ] {
            let table = read(text, PageRequest::default());
            assert_eq!(
                (table.headers, table.rows[0].clone()),
                (
                    headers.into_iter().map(String::from).collect(),
                    first.into_iter().map(String::from).collect::<Vec<_>>()
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn a_window_of_rows_is_read_and_all_are_counted() {
        let text: String = std::iter::once("n,m\n".to_owned()).chain((0..1000).map(|n| format!("{n},x\n"))).collect();
        let table = read(&text, PageRequest::default());
        assert_eq!((table.rows.len(), table.total_rows, table.truncated), (20, Some(1000), true));
        let detail = Some((0, RowWindow { offset: 998, limit: 5 }));
        let table = read(&text, PageRequest { detail, ..PageRequest::default() });
        assert_eq!(
            (table.rows, table.offset),
            (vec![vec!["998".to_owned(), "x".to_owned()], vec!["999".to_owned(), "x".to_owned()]], 998)
        );
        let table = read(&text, PageRequest { head_only: true, ..PageRequest::default() });
        assert_eq!((table.rows.len(), table.total_rows, table.truncated), (20, None, true));
    }
}
