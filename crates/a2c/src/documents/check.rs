//! `a2c documents check`: what of a file cannot be read, and why.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2c_document_worker::DocumentWorkers;
use a2c_documents::NotInDocument;
use a2c_documents::model::UnreadableFile;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::output;

/// Read files from the first to the last page, and say what cannot be read, and why.
///
/// Exits with 0 if everything could be read, with 1 otherwise; what was passed over within a file is a warning and changes
/// nothing about that.
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Print a line of JSON for each file.
    #[arg(long)]
    json: bool,
}

/// What was found about a file.
#[derive(Debug, Serialize)]
struct FileReport {
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_type: Option<String>,
    pages: usize,
    elements: usize,
    problems: Vec<FileProblem>,
    warnings: Vec<String>,
}

/// Why a file, or one of its pages, cannot be read.
#[derive(Debug, Serialize)]
struct FileProblem {
    #[serde(skip_serializing_if = "Option::is_none")]
    page_index: Option<usize>,
    code: &'static str,
    message: String,
}

pub(crate) async fn check(args: &CheckArgs, workers: &DocumentWorkers) -> Result<ExitCode> {
    let mut is_well = true;
    for file in &args.files {
        let report = examine(file, workers).await;
        is_well &= report.problems.is_empty();
        match args.json {
            true => output::json(&report)?,
            false => print(&report),
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(file: &Path, workers: &DocumentWorkers) -> FileReport {
    let mut report = FileReport {
        file: file.to_owned(),
        file_type: None,
        pages: 0,
        elements: 0,
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let document = match workers.outline(file).await {
        Ok(document) => document,
        Err(problem) => {
            report.problems.push(FileProblem::of(None, problem));
            return report;
        }
    };
    (report.file_type, report.pages) = (Some(document.file_type), document.pages.len());
    for page_index in 0..report.pages {
        match workers.page(file, page_index).await {
            Ok(page) => report.elements += page.elements.len(),
            Err(problem) => report.problems.push(FileProblem::of(Some(page_index), problem)),
        }
    }
    // Pages that were read may have left something out.
    report.warnings = match workers.outline(file).await {
        Ok(document) => document.warnings,
        Err(_) => document.warnings,
    };
    report
}

impl FileProblem {
    fn of(page_index: Option<usize>, problem: NotInDocument) -> Self {
        match problem {
            NotInDocument::Unreadable(UnreadableFile { code, message }) => {
                Self { page_index, code: code.as_str(), message }
            }
            other => Self { page_index, code: "corrupt", message: other.to_string() },
        }
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn print(report: &FileReport) {
    let file = report.file.display();
    for FileProblem { page_index, code, message } in &report.problems {
        let page = page_index.map(|page| format!(" page {page}:")).unwrap_or_default();
        output::line(&output::printable(&format!("problem  {file}:{page} {code}: {message}")));
    }
    for warning in &report.warnings {
        output::line(&output::printable(&format!("warning  {file}: {warning}")));
    }
    if report.problems.is_empty() {
        let kind = report.file_type.as_deref().unwrap_or_default();
        let (pages, elements) = (counted(report.pages, "page"), counted(report.elements, "element"));
        output::line(&output::printable(&format!("ok       {file}: {kind}, {pages}, {elements}")));
    }
}
