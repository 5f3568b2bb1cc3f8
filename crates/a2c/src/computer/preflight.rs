//! `a2c computer preflight`: whether MCP servers can be used, for scripts.

use std::process::ExitCode;
use std::time::Duration;

use a2c_computer::control::ControlClient;
use a2c_computer::control::wire::{ControlRequest, ServerReport, StatusReport};
use a2c_computer::diagnosis::Readiness;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tokio::time::Instant;

use super::find::WhichArgs;
use super::status::first_line;
use crate::output;

/// The pause between two looks while something may still become ready.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a Computer may take to say how it is.
const LIMIT: Duration = Duration::from_secs(10);

/// Tell by the exit code whether MCP servers can be used.
///
/// 0: all are ready. 10: not yet, or not now, but that may pass (starting, being tried again, degraded). 11: it takes a
/// person (a missing input, a sign-in, a program that is not there, switched off, changed tools that are held back).
/// 12: not known: no such server, or no Computer runs. The worst one counts.
#[derive(Args)]
pub(crate) struct PreflightArgs {
    /// The servers; where none is named, all that are not switched off.
    #[arg(value_name = "NAME")]
    servers: Vec<String>,

    /// How long to wait for what may pass.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3600))]
    wait: u64,

    /// Print it as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

/// What is said about one server.
#[derive(Serialize)]
struct Finding {
    server: Option<String>,
    readiness: Readiness,
    reason: Option<String>,
}

pub(crate) async fn preflight(args: &PreflightArgs) -> Result<ExitCode> {
    let until = Instant::now() + Duration::from_secs(args.wait);
    let findings = loop {
        let findings = look(args).await;
        let worst = worst(&findings);
        if worst == Readiness::Ready || worst == Readiness::Blocked || Instant::now() >= until {
            break findings;
        }
        tokio::time::sleep_until(until.min(Instant::now() + PAUSE)).await;
    };
    if args.json {
        output::json(&findings)?;
    } else {
        for Finding { server, readiness, reason } in &findings {
            let server = server.as_deref().unwrap_or("-");
            let reason = reason.as_deref().map(|reason| format!(": {}", first_line(reason))).unwrap_or_default();
            output::line(&output::printable(&format!("{server}  {}{reason}", readiness.word())));
        }
    }
    Ok(ExitCode::from(worst(&findings).exit_code()))
}

fn worst(findings: &[Finding]) -> Readiness {
    findings.iter().map(|finding| finding.readiness).max().unwrap_or(Readiness::Ready)
}

async fn look(args: &PreflightArgs) -> Vec<Finding> {
    let unknown = |server: Option<String>, reason: String| {
        vec![Finding { server, readiness: Readiness::Unknown, reason: Some(reason) }]
    };
    let asked = async {
        let mut client: ControlClient = args.which.connect().await?;
        anyhow::Ok(client.ask::<StatusReport>(&ControlRequest::Status).await?)
    };
    let status = match tokio::time::timeout(LIMIT, asked).await {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => return unknown(None, error.to_string()),
        Err(_) => return unknown(None, "the Computer does not answer".to_owned()),
    };
    let known = |server: &ServerReport| Finding {
        server: Some(server.name.clone()),
        readiness: server.readiness,
        reason: server.reason.clone(),
    };
    if args.servers.is_empty() {
        // What is switched off on purpose is not waited for, unless the command names it.
        return status.servers.iter().filter(|server| server.state != "disabled").map(known).collect();
    }
    let find = |name: &String| match status.servers.iter().find(|server| server.name == *name) {
        Some(server) => vec![known(server)],
        None => unknown(Some(name.clone()), "there is no such server".to_owned()),
    };
    args.servers.iter().flat_map(find).collect()
}
