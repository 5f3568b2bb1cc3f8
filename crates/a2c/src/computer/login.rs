//! `a2c computer login` and `logout`: signing in to MCP servers over HTTP.

use std::process::{Command, ExitCode, Stdio};

use a2c_computer::control::wire::ControlRequest;
use anyhow::Result;
use clap::Args;
use serde_json::Value;

use super::find::WhichArgs;
use crate::{output, stop};

/// Sign in to an MCP server of a running Computer, in the browser.
///
/// The tokens stay with the Computer; the server is started again with them.
#[derive(Args)]
pub(crate) struct LoginArgs {
    /// The server.
    #[arg(value_name = "NAME")]
    server: String,

    /// Only print the address to open.
    #[arg(long)]
    no_browser: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn login(args: &LoginArgs) -> Result<ExitCode> {
    let mut client = args.which.connect().await?;
    let show = |page: Value| {
        let page = page.as_str().unwrap_or_default();
        output::note("Sign in at this address:");
        output::line(&output::printable(page));
        if !args.no_browser {
            open(page);
        }
    };
    let request = ControlRequest::Login { server: args.server.clone() };
    tokio::select! {
        outcome = client.listen::<Value>(&request, show) => outcome.map(drop)?,
        () = stop::requested()? => return Ok(ExitCode::from(stop::INTERRUPTED)),
    }
    output::note(&format!("signed in to '{}'", args.server));
    Ok(ExitCode::SUCCESS)
}

/// Has the system show a page; where it cannot, the owner has the address.
fn open(page: &str) {
    // A program that opens anything must not be given anything.
    if !page.starts_with("https://") && !page.starts_with("http://") {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet =
        Command::new(program).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = quiet {
        // Some of these stay as long as the browser does.
        std::thread::spawn(move || child.wait());
    }
}

/// Forget the sign-in to an MCP server of a running Computer.
#[derive(Args)]
pub(crate) struct LogoutArgs {
    /// The server.
    #[arg(value_name = "NAME")]
    server: String,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn logout(args: &LogoutArgs) -> Result<ExitCode> {
    args.which.ask::<Value>(&ControlRequest::Logout { server: args.server.clone() }).await?;
    output::note(&format!("the sign-in to '{}' is forgotten", args.server));
    Ok(ExitCode::SUCCESS)
}
