//! `a2c computer doctor`: what is wrong with MCP servers, and what to do about it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use a2c_computer::config::ComputerConfig;
use a2c_computer::control::wire::ControlRequest;
use a2c_computer::diagnosis::{Diagnosis, DiagnosisOptions, Grade, of_file};
use anyhow::{Result, bail};
use clap::Args;

use super::find::WhichArgs;
use super::run;
use crate::{output, stop};

/// Examine each MCP server, say what is wrong, and what to do about it.
///
/// Asks a running Computer, whose connection to the hub and configuration file are looked at, too. With --config FILE, starts each server of the file by itself instead and ends it again; no
/// hub is needed. Succeeds where nothing is a problem; warnings are none.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Examine the servers of this file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// With --config: how long a server may take to start.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    start_timeout: u64,

    /// Print it as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let found = match &args.config {
        None => args.which.ask(&ControlRequest::Checkup).await?,
        Some(file) => tokio::select! {
            found = examine(args, file) => found?,
            () = stop::requested()? => return Ok(ExitCode::from(stop::INTERRUPTED)),
        },
    };
    match args.json {
        true => output::json(&found)?,
        false => show(&found),
    }
    let is_well = found.iter().all(|diagnosis| diagnosis.grade < Grade::Problem);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(args: &DoctorArgs, file: &Path) -> Result<Vec<Diagnosis>> {
    let config = ComputerConfig::load(file)?;
    if config.servers.is_empty() {
        bail!("{} has no servers", file.display());
    }
    let mut options = DiagnosisOptions::default();
    options.inputs = run::sources(None);
    options.limits.start = Duration::from_secs(args.start_timeout);
    options.guardian = Some(super::guardian()?);
    Ok(of_file(&config, file, options).await?)
}

fn show(found: &[Diagnosis]) {
    for Diagnosis { server, grade, what, advice } in found {
        let mark = match grade {
            Grade::Ok => "ok",
            Grade::Warning => "warning",
            Grade::Problem => "problem",
        };
        let of = server.as_deref().map(|server| format!("{server}: ")).unwrap_or_default();
        output::line(&output::printable(&format!("{mark:7}  {of}{what}")));
        if !advice.is_empty() {
            output::line(&output::printable(&format!("         -> {advice}")));
        }
    }
}
