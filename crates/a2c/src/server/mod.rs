//! `a2c server`: a hub.
//!
//! How settings flow: `args` (`flags`, and the `environment`) and `file` (TOML, by `reading`) hold what each source says;
//! `merge` makes `settings` of them, with an overview of the origin of each (by the names in `names`); `plan` reads the
//! files that they name and makes a hub's configuration of them, with `access` for who may connect. No step ends at the
//! first `problem`: all are collected. Then `check` shows all of it, or the hub starts.

mod access;
mod args;
mod check;
mod descriptors;
mod environment;
mod file;
mod flags;
mod help;
mod merge;
mod names;
mod plan;
mod problem;
mod reading;
mod secret;
mod settings;
mod value;

use std::process::ExitCode;
use std::sync::OnceLock;

use a2c_agent::Secret;
use a2c_hub::Hub;
use a2c_settings::Origin;
use anyhow::Result;
use clap::Args;
use tokio::task::{JoinHandle, block_in_place};

use crate::logging::LogDefaults;
use crate::output;
use crate::stop::{HubSignal, HubSignals};
use args::GivenSettings;
use plan::Plan;
use problem::{ServerProblem, ServerProblems};
use reading::Reading;
use secret::SecretVariables;
use settings::Settings;

/// Run a hub.
///
/// Prints `ready http://ADDR:PORT` (https:// with TLS) on standard output once clients can connect, then `token TOKEN` if
/// it had to make one up. Logs to standard error.
#[derive(Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    given: GivenSettings,

    /// Read once, when it is asked for: the log needs it before anything else.
    #[arg(skip)]
    file: OnceLock<Reading>,
}

impl ServerArgs {
    /// What the file says about the log. What is wrong with the file is told later.
    pub(crate) fn log_defaults(&self) -> LogDefaults {
        let log = self.file().settings.log.clone();
        let level = log.level.unwrap_or_else(|| "info".to_owned());
        LogDefaults { level, format: log.format.unwrap_or_default() }
    }

    fn file(&self) -> &Reading {
        self.file.get_or_init(|| self.given.flags.config.as_deref().map(Reading::of).unwrap_or_default())
    }

    /// The settings and what comes of them; only problems where nothing can be said about that.
    async fn settings(self) -> Result<(Settings, Plan), Vec<ServerProblem>> {
        // Files are read before and after the network is asked.
        let MergedSettings { mut settings, problems, warning } = block_in_place(|| self.merged())?;
        let fetched = access::fetch_keys(&settings).await;
        let mut plan = block_in_place(|| Plan::of(&mut settings, fetched));
        plan.notes.problems.splice(..0, problems);
        plan.notes.warnings.extend(warning);
        Ok((settings, plan))
    }

    /// The settings, and what is wrong with them as they stand.
    fn merged(mut self) -> Result<MergedSettings, Vec<ServerProblem>> {
        self.file();
        let Reading { settings: file, errors, wrong, is_lost } = self.file.take().expect("it was read above");
        let mut problems: Vec<ServerProblem> = errors.into_iter().map(ServerProblem::from).collect();
        let path = self.given.flags.config.as_deref();
        let open_secrets = path.filter(|path| file.holds_secrets() && secret::is_open_to_others(path));
        let mut settings = Settings::merge(&self.given, &SecretVariables::read(), file);
        wrong.iter().for_each(|name| settings.overview.mark_unusable(names::row(name), Origin::File));
        if is_lost {
            problems.append(&mut settings.problems);
            return Err(problems);
        }
        let warning = open_secrets.map(|path| {
            let path = path.display();
            format!("every user of this machine can read the secrets in {path}: chmod o-r {path}")
        });
        Ok(MergedSettings { settings, problems, warning })
    }
}

/// The settings of all sources.
struct MergedSettings {
    settings: Settings,
    /// What is wrong with the file.
    problems: Vec<ServerProblem>,
    /// What is odd about the file.
    warning: Option<String>,
}

pub(crate) async fn run(args: ServerArgs) -> Result<ExitCode> {
    let is_check = args.given.flags.check;
    let given = args.given.clone();
    let (settings, plan) = match args.settings().await {
        Ok(found) => found,
        Err(problems) if is_check => return Ok(check::show_problems(&problems)),
        Err(problems) => return Err(ServerProblems(problems).into()),
    };
    if is_check {
        return Ok(check::show(&settings, &plan));
    }
    plan.notes.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    if !plan.notes.problems.is_empty() {
        return Err(ServerProblems(plan.notes.problems).into());
    }
    let mut signals = HubSignals::listen()?;
    descriptors::raise();
    let auth = plan.config.auth.kind();
    let files = Files { tls: plan.config.tls.is_some(), audit: plan.config.audit.is_some() };
    let hub = Hub::start(plan.config).await?;
    tracing::info!(address = %hub.address(), auth, "hub listening");
    output::line(&format!("ready {}", hub.url()));
    if let Some(token) = plan.made_up {
        hand_out(&token, settings.listen.ip().is_loopback());
    }
    until_stopped(&hub, &given, files, &mut signals).await;
    tracing::info!("stopping");
    stop(hub, &mut signals).await;
    tracing::info!("hub stopped");
    Ok(ExitCode::SUCCESS)
}

/// Which files a signal can be about.
#[derive(Clone, Copy)]
struct Files {
    tls: bool,
    audit: bool,
}

/// Prints the token on standard output, for the person who started the hub, and not into the log.
fn hand_out(token: &Secret, is_local: bool) {
    output::line(&format!("token {}", token.expose()));
    let or_none = if is_local { ", or --auth none to need none" } else { "" };
    tracing::warn!(
        "no authentication is set, so this hub made up a token, which is good until it stops: give it to clients as \
         A2C_TOKEN; set A2C_TOKEN or --token-file here to keep one{or_none}"
    );
}

/// Settings that are read again while the hub runs.
type FreshSettings = Result<(Settings, Plan), Vec<ServerProblem>>;

/// Reads the settings again. That may take as long as the server of the issuer's keys.
fn read_again(given: &GivenSettings) -> JoinHandle<FreshSettings> {
    let args = ServerArgs { given: given.clone(), file: OnceLock::new() };
    tokio::spawn(args.settings())
}

/// Takes over who may connect and who may operate the hub. Other settings stay.
fn take_over(hub: &Hub, fresh: FreshSettings) {
    let problems = match fresh {
        Ok((_, plan)) if plan.notes.problems.is_empty() => {
            if plan.made_up.is_some() {
                // The token that this hub made up stays.
                return;
            }
            return match hub.replace_access(plan.config.auth, plan.config.admin) {
                Ok(()) => tracing::info!("tokens and keys read again; clients that are connected stay"),
                Err(error) => tracing::error!("the old tokens and keys stay: {error}"),
            };
        }
        Ok((_, plan)) => plan.notes.problems,
        Err(problems) => problems,
    };
    tracing::error!("the old tokens and keys stay: {}", ServerProblems(problems));
}

async fn until_stopped(hub: &Hub, given: &GivenSettings, files: Files, signals: &mut HubSignals) {
    let mut reading: Option<JoinHandle<FreshSettings>> = None;
    loop {
        let signal = tokio::select! {
            signal = signals.next() => signal,
            Some(fresh) = finished(&mut reading) => {
                reading = None;
                take_over(hub, fresh);
                continue;
            }
        };
        match signal {
            HubSignal::Stop => return,
            HubSignal::ReopenAudit if !files.audit => {
                tracing::info!("there is no audit log to reopen: start the hub with --audit FILE (audit.file)");
            }
            // This and the next one wait for a disk.
            HubSignal::Reload => {
                // What an earlier signal began is not waited for.
                reading = Some(read_again(given));
                match block_in_place(|| hub.reload()) {
                    Ok(()) if files.tls => tracing::info!("TLS files read again"),
                    Ok(()) => {}
                    Err(error) => tracing::error!("the TLS files cannot be used; the old ones stay: {error}"),
                }
            }
            HubSignal::ReopenAudit => match block_in_place(|| hub.reopen_audit()) {
                Ok(()) => tracing::info!("audit log reopened"),
                Err(error) => tracing::error!("the audit log goes on in the old file: {error}"),
            },
        }
    }
}

/// Waits for settings that are read again; nothing where none are.
async fn finished(reading: &mut Option<JoinHandle<FreshSettings>>) -> Option<FreshSettings> {
    match reading.as_mut()?.await {
        Ok(fresh) => Some(fresh),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Waits for the calls in flight, until a second signal to stop.
async fn stop(hub: Hub, signals: &mut HubSignals) {
    let hurry = async {
        while signals.next().await != HubSignal::Stop {}
        tracing::warn!("not waiting any longer for calls in flight");
    };
    hub.shutdown_sooner(hurry).await;
}
