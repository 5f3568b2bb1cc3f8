//! `a2c server`: a hub.
//!
//! How settings flow: `args` (flags and environment) and `file` (TOML) hold what was said; `merge` makes `settings` of them and keeps
//! a ledger of what came from where (`origin`, by the names in `names`); `plan` reads the files that they name and makes a
//! hub's configuration of them, with `access` for who may connect. Then `check` shows all of it, or the hub starts.

mod access;
mod args;
mod check;
mod descriptors;
mod file;
mod help;
mod merge;
mod names;
mod origin;
mod plan;
mod problem;
mod secret;
mod settings;
mod spelling;
mod value;

use std::process::ExitCode;
use std::sync::OnceLock;

use a2c_agent::Secret;
use a2c_hub::Hub;
use anyhow::Result;
use clap::Args;

use crate::logging::LogDefaults;
use crate::output;
use crate::stop::{HubSignal, HubSignals};
use args::Given;
use file::{FileError, FileSettings};
use plan::Plan;
use problem::Problems;
use secret::Surroundings;
use settings::Settings;

/// Run a hub.
///
/// Prints `ready http://ADDR:PORT` (https:// with TLS) on standard output once clients can connect, then `token TOKEN` if
/// it had to make one up. Logs to standard error.
#[derive(Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    given: Given,

    /// Read once, when it is asked for: the log needs it before anything else.
    #[arg(skip)]
    file: OnceLock<Result<FileSettings, FileError>>,
}

impl ServerArgs {
    /// What the file says about the log. That the file cannot be used is told later.
    pub(crate) fn log_defaults(&self) -> LogDefaults {
        let log = self.file().as_ref().map(|file| file.log.clone()).unwrap_or_default();
        let level = log.level.unwrap_or_else(|| "info".to_owned());
        LogDefaults { level, format: log.format.unwrap_or_default() }
    }

    fn file(&self) -> &Result<FileSettings, FileError> {
        let read =
            || self.given.flags.config.as_deref().map_or_else(|| Ok(FileSettings::default()), FileSettings::load);
        self.file.get_or_init(read)
    }

    fn settings(self) -> Result<(Settings, Plan)> {
        self.file();
        let file = self.file.into_inner().expect("it was read above")?;
        let path = self.given.flags.config.as_deref();
        let open_secrets = path.filter(|path| file.holds_secrets() && secret::is_open_to_others(path));
        let mut settings = Settings::merge(&self.given, &Surroundings::look(), file);
        let mut plan = Plan::of(&mut settings);
        if let Some(path) = open_secrets {
            let path = path.display();
            plan.warnings.push(format!("everybody on this machine can read the secrets in {path}: chmod o-r {path}"));
        }
        Ok((settings, plan))
    }
}

pub(crate) async fn run(args: ServerArgs) -> Result<ExitCode> {
    let is_check = args.given.flags.check;
    let (settings, plan) = args.settings()?;
    if is_check {
        return Ok(check::show(&settings, &plan));
    }
    plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    if !plan.problems.is_empty() {
        return Err(Problems(plan.problems).into());
    }
    let mut signals = HubSignals::listen()?;
    descriptors::raise();
    let auth = plan.config.auth.kind();
    let has_tls = plan.config.tls.is_some();
    let hub = Hub::start(plan.config).await?;
    tracing::info!(address = %hub.address(), auth, "hub listening");
    output::line(&format!("ready {}", hub.url()));
    if let Some(token) = plan.made_up {
        hand_out(&token);
    }
    until_stopped(&hub, has_tls, &mut signals).await;
    tracing::info!("stopping");
    stop(hub, &mut signals).await;
    Ok(ExitCode::SUCCESS)
}

/// The token goes to standard output, where whoever started the hub reads it, and not into the log.
fn hand_out(token: &Secret) {
    output::line(&format!("token {}", token.expose()));
    tracing::warn!(
        "no authentication is set, so this hub made up a token, which is good until it stops: give it to clients as \
         A2C_TOKEN; set A2C_TOKEN or --token-file here to keep one, or --auth none to need none"
    );
}

async fn until_stopped(hub: &Hub, has_tls: bool, signals: &mut HubSignals) {
    loop {
        match signals.next().await {
            HubSignal::Stop => return,
            HubSignal::Reload if !has_tls => tracing::info!("there are no TLS files to read again"),
            // This and the next one wait for a disk.
            HubSignal::Reload => match tokio::task::block_in_place(|| hub.reload()) {
                Ok(()) => tracing::info!("TLS files read again"),
                Err(error) => tracing::error!("the TLS files cannot be used; the old ones stay: {error}"),
            },
            HubSignal::ReopenAudit => match tokio::task::block_in_place(|| hub.reopen_audit()) {
                Ok(()) => tracing::info!("audit log reopened"),
                Err(error) => tracing::error!("the audit log goes on in the old file: {error}"),
            },
        }
    }
}

/// Lets the calls in flight come to their end, unless somebody is in a hurry: no process is left behind by a hub.
async fn stop(hub: Hub, signals: &mut HubSignals) {
    let hurry = async {
        while signals.next().await != HubSignal::Stop {}
        tracing::warn!("not waiting any longer for calls in flight");
    };
    hub.shutdown_sooner(hurry).await;
}
