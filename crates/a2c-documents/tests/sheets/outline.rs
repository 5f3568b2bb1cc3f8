//! Pages as a few lines each, and the files that the tests read.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use a2c_document_model::{ElementContent, ElementDraft, PageDraft};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source, spreadsheet};

/// The folder of the workbooks that Python programs write. It stays for the next run of any test: a test is a process of its
/// own, and writing them takes longer than reading them.
pub(crate) fn files() -> PathBuf {
    let script = include_str!("../../../../tests/interop/python/sheet_files.py");
    let mut version = DefaultHasher::new();
    script.hash(&mut version);
    let below = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = below.join(format!("sheet_files-{:x}", version.finish()));
    if !folder.is_dir() {
        let made = tempfile::tempdir_in(below).expect("a folder for the files");
        let output = a2c_testbed::python_script("sheet_files.py").arg(made.path()).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Another test may have been faster; both have made the same.
        if std::fs::rename(made.path(), &folder).is_ok() {
            let _ = made.keep();
        }
    }
    folder
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
