//! `a2c audit`: check what a hub has written down.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2c_hub::audit::{ExpectedHashes, Hash, Verified, VerifyError, verify};
use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::output;

/// The exit code for a file that could not be looked at, so that it is not taken for one that was changed.
const UNREADABLE: u8 = 2;

/// Check the audit log of a hub.
#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Check that no line of a log was changed, removed, inserted or moved.
    ///
    /// Exits with 0 if the log is in order, with 1 if it is not (the first line that does not fit is named), with 2 if it
    /// cannot be read. Lines that were cut off the end are only found with --holds.
    Verify(VerifyArgs),
}

#[derive(Args)]
struct VerifyArgs {
    /// The log; - reads standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,

    /// The last hash of the file before this one: the log has to continue it.
    #[arg(long, value_name = "HASH")]
    since_hash: Option<Hash>,

    /// A hash that was noted earlier, such as the last one of an earlier check: the log has to hold it still.
    #[arg(long, value_name = "HASH")]
    holds: Option<Hash>,
}

pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode> {
    let AuditCommand::Verify(args) = &args.command;
    let expected = ExpectedHashes { follows: args.since_hash, holds: args.holds };
    let outcome = open(&args.file).map_err(VerifyError::Read).and_then(|log| verify(log, &expected));
    if args.json {
        output::json(&match &outcome {
            Ok(seen) => {
                let mut report = serde_json::to_value(seen)?;
                report["ok"] = json!(true);
                report
            }
            Err(VerifyError::Broken { line, how }) => json!({"ok": false, "line": line, "problem": how.to_string()}),
            Err(error) => json!({"ok": false, "problem": error.to_string()}),
        })?;
    }
    let failed = |error: &VerifyError, code| {
        if !args.json {
            output::note(&format!("a2c: {}: {error}", args.file.display()));
        }
        Ok(ExitCode::from(code))
    };
    match &outcome {
        Ok(seen) => {
            if !args.json {
                report(seen, args.since_hash);
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ VerifyError::Read(_)) => failed(error, UNREADABLE),
        Err(error) => failed(error, 1),
    }
}

fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(256 << 10, File::open(file)?)))
}

fn report(seen: &Verified, since: Option<Hash>) {
    let Verified { records, last_hash, lost, recovered, unfinished_bytes, .. } = seen;
    let plural = if *records == 1 { "" } else { "s" };
    match (&seen.from, &seen.to) {
        (Some(from), Some(to)) => {
            output::line(&format!("ok {records} record{plural}, from {from} to {to}, last hash {last_hash}"));
        }
        _ => output::line("ok 0 records"),
    }
    if seen.follows != Hash::ZERO && since.is_none() {
        output::line(&format!("follows {}: the file before has to end with this hash (--since-hash)", seen.follows));
    }
    if *lost > 0 {
        output::line(&format!("lost {lost}: records that the hub could not write at the time"));
    }
    if *recovered > 0 {
        output::line(&format!("recovered {recovered}: unfinished lines that crashes left, set aside by the hub"));
    }
    if *unfinished_bytes > 0 {
        output::line(&format!(
            "unfinished {unfinished_bytes} bytes after the last record: it is being written, or a crash has cut it"
        ));
    }
}
