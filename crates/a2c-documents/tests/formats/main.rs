//! Mails, pictures and texts that other programs wrote, and hostile ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod mails;
mod open_document;
mod pictures;
mod rich_text;

use std::path::Path;
use std::sync::Arc;

use a2c_documents::model::{ReadPage, UnreadableFile, render};
use a2c_documents::{OpenDocument, ReadLimits};
use tempfile::TempDir;

/// A folder that a script of `tests/interop/python` fills.
fn written_by(script: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let output = a2c_testbed::python_script(script).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn open(path: &Path) -> OpenDocument {
    OpenDocument::open(path, &ReadLimits::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn open_bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Result<OpenDocument, UnreadableFile> {
    OpenDocument::from_bytes(Path::new(name), bytes.into(), &ReadLimits::default())
}

/// All pages of a document.
fn pages(document: &mut OpenDocument) -> Vec<ReadPage> {
    (0..document.pages().len()).map(|index| document.page(index).unwrap()).collect()
}

/// A document as Markdown, with a line between pages.
fn markdown(document: &mut OpenDocument) -> String {
    pages(document).iter().map(render::markdown).collect::<Vec<_>>().join("\n\n=====\n\n")
}
