//! A program that is its own worker: it reads the README of this crate in a process of its own.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;
use std::process::ExitCode;

use a2c_document_worker::{DocumentWorkers, WorkerSettings, run_worker};
use a2c_process::{Launch, Processes};

/// How this program is started as a worker.
const AS_WORKER: &str = "worker";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(AS_WORKER) {
        return run_worker();
    }
    match read() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn read() -> Result<(), Box<dyn std::error::Error>> {
    let launch = Launch::new(std::env::current_exe()?).args([AS_WORKER]);
    let workers = DocumentWorkers::new(launch, Processes::unguarded(), WorkerSettings::default());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let outline = workers.outline(&file).await?;
    let page = workers.page(&file, 0).await?;
    println!("{}: {} pages, {} elements on the first", outline.title, outline.pages.len(), page.elements.len());
    Ok(())
}
