//! Word documents and slides that other programs wrote, and hostile ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod archive;
mod docx;
mod hostile;
mod pptx;

use std::path::PathBuf;

use a2c_documents::model::{IdAssigner, ReadPage, render};
use a2c_documents::{FormatReader, PageRequest};
use tempfile::TempDir;

/// A file that a script of `tests/interop/python` writes.
fn written_by(script: &str, name: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    let output = a2c_testbed::python_script(script).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, path)
}

/// All pages of a file.
fn pages(reader: &mut dyn FormatReader) -> Vec<ReadPage> {
    let mut ids = IdAssigner::default();
    (0..reader.pages().len())
        .map(|index| ids.page(index, reader.page(index, &PageRequest::default()).unwrap()))
        .collect()
}

/// Pages as Markdown, with a line between them.
fn markdown(pages: &[ReadPage]) -> String {
    pages.iter().map(render::markdown).collect::<Vec<_>>().join("\n\n=====\n\n")
}
