//! `a2c server --check`: what the hub would do, without doing it.

use std::process::ExitCode;

use super::access;
use super::origin::{Entry, NOT_SET};
use super::plan::Plan;
use super::secret::is_open_to_others;
use super::settings::Settings;
use crate::output;

/// Shows the settings on standard output, and what is wrong or odd on standard error.
pub(crate) fn show(settings: &Settings, plan: &Plan) -> ExitCode {
    output::table(&rows(settings));
    for warning in &plan.warnings {
        output::note(&format!("warning: {warning}"));
    }
    // A hub that starts says this itself.
    if let Some(key) = settings.tls.key.as_deref().filter(|key| is_open_to_others(key)) {
        output::note(&format!(
            "warning: everybody on this machine can read {0} (tls.key): chmod o-r {0}",
            key.display()
        ));
    }
    for problem in &plan.problems {
        output::note(&format!("error: {problem}"));
    }
    match &*plan.problems {
        [] => {
            output::note("ok");
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

fn rows(settings: &Settings) -> Vec<Vec<String>> {
    let row = |entry: &Entry| vec![entry.name.to_owned(), shown(settings, entry), entry.origin.to_string()];
    settings.ledger.entries().iter().map(row).collect()
}

/// Which kind of authentication it is need not be said by anybody.
fn shown(settings: &Settings, entry: &Entry) -> String {
    if entry.name != "auth.kind" || entry.shown != NOT_SET {
        return entry.shown.clone();
    }
    match access::kind(settings) {
        Ok(Some(kind)) => format!("{kind} (from what else is set)"),
        Ok(None) => "token (made up at the start)".to_owned(),
        Err(_) => NOT_SET.to_owned(),
    }
}
