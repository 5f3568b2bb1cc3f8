//! What a worker does: it reads questions, and answers them one after the other.

use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use a2c_document_model::{RowWindow, UnreadableCode, UnreadableFile};
use a2c_documents::{NotInDocument, OpenDocument, ReadLimits};
use a2c_process::{Frame, apply_worker_limits};
use serde::Serialize;

use crate::job::{DONE, DocumentJob, DocumentOutline, FAILED, JobOrder};
use crate::open::open_document;

/// The longest question, in bytes.
const MAX_ORDER: u64 = 1 << 20;

/// Answers questions on standard input until it ends. For `main` of a program that was started as a worker, before it does
/// anything else: the limits of the process have to hold before it reads.
pub fn run_worker() -> ExitCode {
    if let Err(error) = apply_worker_limits() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    match serve(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody listens any more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the worker cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers the questions of a stream until it ends.
pub fn serve(mut questions: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut shelf = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut questions).take(MAX_ORDER).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let order: JobOrder = serde_json::from_slice(&line).map_err(io::Error::other)?;
        let answer = match answer(&mut shelf, &order) {
            Ok(payload) => Frame::with_payload(DONE, payload),
            Err(problem) => Frame::with_payload(FAILED, json(&problem)?),
        };
        answer.map_err(io::Error::other)?.write_to(&mut answers)?;
        answers.flush()?;
    }
}

/// The document that was opened last: its next page is often wanted next.
struct OpenedFile {
    path: PathBuf,
    stamp: FileStamp,
    document: OpenDocument,
}

/// What tells that a file is still the one that was opened.
#[derive(PartialEq, Eq)]
struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { length: metadata.len(), modified: metadata.modified().ok() })
    }
}

fn answer(shelf: &mut Option<OpenedFile>, order: &JobOrder) -> Result<Vec<u8>, NotInDocument> {
    let document = opened(shelf, &order.path)?;
    match &order.job {
        DocumentJob::Outline => encoded(&DocumentOutline {
            file_type: document.file_type().as_str().to_owned(),
            title: document.title().to_owned(),
            properties: document.properties().clone(),
            pages: document.pages().to_vec(),
            warnings: document.warnings(),
        }),
        DocumentJob::Page { page_index, head_only: true } => encoded(&document.page_head(*page_index)?),
        DocumentJob::Page { page_index, head_only: false } => encoded(&document.page(*page_index)?),
        DocumentJob::Element { page_index, element_id, offset, limit } => {
            let rows = RowWindow { offset: *offset, limit: *limit };
            encoded(&document.element(*page_index, element_id, rows)?)
        }
        DocumentJob::Blob { place } => Ok(document.blob_at(place)?),
    }
}

fn opened<'a>(shelf: &'a mut Option<OpenedFile>, path: &Path) -> Result<&'a mut OpenDocument, UnreadableFile> {
    let stamp = FileStamp::of(path);
    let is_same = shelf.as_ref().is_some_and(|file| file.path == path && Some(&file.stamp) == stamp.as_ref());
    if !is_same {
        // What the last one held is free before the next one is opened.
        *shelf = None;
        let document = open_document(path, &ReadLimits::default())?;
        let stamp = stamp.unwrap_or(FileStamp { length: 0, modified: None });
        return Ok(&mut shelf.insert(OpenedFile { path: path.to_owned(), stamp, document }).document);
    }
    match shelf {
        Some(file) => Ok(&mut file.document),
        None => Err(UnreadableFile::new(UnreadableCode::Unreadable, "no file is open")),
    }
}

fn encoded(answer: &impl Serialize) -> Result<Vec<u8>, NotInDocument> {
    let failed = |error: io::Error| UnreadableFile::new(UnreadableCode::Unreadable, error.to_string());
    Ok(json(answer).map_err(failed)?)
}

fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The lines and payloads of the answers to these questions.
    fn answers(questions: &[Value]) -> Vec<(String, Vec<u8>)> {
        let mut asked = String::new();
        for question in questions {
            asked += &format!("{question}\n");
        }
        let mut written = Vec::new();
        serve(asked.as_bytes(), &mut written).unwrap();
        let (mut rest, mut found) = (&written[..], Vec::new());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let length = i64::from_le_bytes(rest[end + 1..end + 9].try_into().unwrap()) as usize;
            let payload = rest[end + 9..end + 9 + length].to_vec();
            found.push((String::from_utf8(rest[..end].to_vec()).unwrap(), payload));
            rest = &rest[end + 9 + length..];
        }
        found
    }

    #[test]
    fn questions_are_answered_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.md");
        std::fs::write(&file, "# One\n\nfirst\n\n# Two\n\nsecond\n").unwrap();
        let page = |index: usize| json!({"path": file, "job": {"page": {"page_index": index, "head_only": false}}});
        let answers = answers(&[json!({"path": file, "job": "outline"}), page(1), page(7)]);
        let json = |place: usize| serde_json::from_slice::<Value>(&answers[place].1).unwrap();
        assert_eq!((answers[0].0.as_str(), &json(0)["title"]), (DONE, &json!("notes")));
        assert_eq!((answers[1].0.as_str(), &json(1)["title"]), (DONE, &json!("Two")));
        assert_eq!((answers[2].0.as_str(), &json(2)["no_page"]["page_count"]), (FAILED, &json!(2)));
    }

    #[test]
    fn a_file_that_cannot_be_read_does_not_end_the_worker() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good.txt");
        std::fs::write(&good, "well").unwrap();
        let missing = folder.path().join("missing.docx");
        let outline = |path: &Path| json!({"path": path, "job": "outline"});
        let lines: Vec<String> =
            answers(&[outline(&missing), outline(&good)]).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [FAILED, DONE]);
    }

    #[test]
    fn what_is_no_question_ends_the_worker() {
        assert!(serve(&b"{}\n"[..], Vec::new()).is_err());
        assert!(serve(&b""[..], Vec::new()).is_ok());
    }

    #[test]
    fn a_file_that_has_changed_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.txt");
        let order = JobOrder { path: file.clone(), job: DocumentJob::Page { page_index: 0, head_only: false } };
        let mut shelf = None;
        for text in ["before", "after it"] {
            std::fs::write(&file, text).unwrap();
            let page = String::from_utf8(answer(&mut shelf, &order).unwrap()).unwrap();
            assert!(page.contains(text), "{page}");
        }
    }
}
