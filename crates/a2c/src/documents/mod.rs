//! `a2c documents`: files as documents of pages and elements, without any server.

mod check;
mod outline;
mod show;

use std::process::ExitCode;

use a2c_document_worker::{DocumentWorkers, WorkerSettings};
use a2c_process::{Launch, Processes};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use crate::{computer, output, stop};

/// Read Office, PDF, text and other files as documents of pages and elements.
///
/// Each file is read in a process of its own, within limits of memory and time. Nothing that a file refers to is fetched.
#[derive(Args)]
pub(crate) struct DocumentsArgs {
    #[command(subcommand)]
    command: DocumentsCommand,
}

#[derive(Subcommand)]
enum DocumentsCommand {
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    /// Read documents for another process, which starts it by itself.
    #[command(hide = true)]
    Worker,
}

impl DocumentsArgs {
    /// Whether this process is to be a worker: it must not do anything before its limits hold.
    pub(crate) fn is_worker(&self) -> bool {
        matches!(self.command, DocumentsCommand::Worker)
    }
}

pub(crate) async fn run(args: DocumentsArgs) -> Result<ExitCode> {
    let workers = start_workers().await?;
    let work = async {
        match &args.command {
            DocumentsCommand::Show(args) => show::show(args, &workers).await,
            DocumentsCommand::Check(args) => check::check(args, &workers).await,
            DocumentsCommand::Worker => Ok(a2c_document_worker::run_worker()),
        }
    };
    tokio::select! {
        outcome = work => outcome,
        () = stop::requested()? => Ok(ExitCode::from(stop::INTERRUPTED)),
        () = output::reader_gone() => Ok(ExitCode::SUCCESS),
    }
}

/// Workers are this program, started once more.
async fn start_workers() -> Result<DocumentWorkers> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let launch = Launch::new(program).args(["documents", "worker"]);
    let processes = Processes::guarded_by(Some(&computer::guardian()?)).await?;
    Ok(DocumentWorkers::new(launch, processes, WorkerSettings::default()))
}
