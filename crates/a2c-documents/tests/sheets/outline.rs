//! Pages as a few lines each, and the files that the tests read.

use std::path::PathBuf;
use std::sync::OnceLock;

use a2c_document_model::{ElementContent, ElementDraft, PageDraft};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source, spreadsheet};

/// The folder of the workbooks that Python programs write.
pub(crate) fn files() -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for the files");
        let output = a2c_testbed::python_script("sheet_files.py").arg(folder.path()).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    });
    folder.path().to_owned()
}

pub(crate) fn open(name: &str) -> Box<dyn FormatReader> {
    let source = Source::open(&files().join(name)).expect("the file is there");
    spreadsheet::open(&source, &ReadLimits::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn page(name: &str, index: usize) -> PageDraft {
    open(name).page(index, &PageRequest::default()).expect("the page is read")
}

/// A page as lines, one for each element or row.
pub(crate) fn outline(page: &PageDraft) -> Vec<String> {
    page.elements.iter().flat_map(lines).collect()
}

fn lines(element: &ElementDraft) -> Vec<String> {
    let range = element.metadata.source_range.as_deref().unwrap_or("-");
    match &element.content {
        ElementContent::Table(table) => {
            let mut lines = vec![format!("table {range}: {}", table.headers.join(" | "))];
            lines.extend(table.rows.iter().map(|row| format!("  {}", row.join(" | "))));
            if table.truncated {
                lines.push(format!("  … of {:?}", table.total_rows));
            }
            lines
        }
        ElementContent::Text { text, .. } => vec![format!("text {range}: {text}")],
        ElementContent::Link { text, url } => vec![format!("link {range}: {text} -> {url}")],
        ElementContent::Chart { chart_type, title, data_summary, .. } => {
            vec![format!("chart {chart_type}: {title}: {data_summary}")]
        }
        ElementContent::Image { alt, mime_type, width, height, .. } => {
            vec![format!("image {alt:?} {mime_type:?} {width:?} {height:?}")]
        }
        ElementContent::Annotation { text, author, target, .. } => vec![format!("note {target:?} {author:?}: {text}")],
        other => vec![format!("{}", other.category())],
    }
}
