//! `a2c server --check`: what the hub would do, without doing it.

use std::process::ExitCode;

use super::access;
use super::origin::{Entry, NOT_SET};
use super::plan::Plan;
use super::problem::Problem;
use super::settings::Settings;
use crate::output;

/// Shows the settings on standard output, and what is wrong or odd on standard error.
pub(crate) fn show(settings: &Settings, plan: &Plan) -> ExitCode {
    output::table(&rows(settings));
    for warning in plan.notes.warnings.iter().chain(&plan.logged) {
        output::note(&format!("warning: {warning}"));
    }
    if plan.notes.problems.is_empty() {
        output::note("ok");
        return ExitCode::SUCCESS;
    }
    show_problems(&plan.notes.problems)
}

/// Shows what is wrong where nothing can be said about the rest.
pub(crate) fn show_problems(problems: &[Problem]) -> ExitCode {
    for problem in problems {
        output::note(&format!("error: {problem}"));
    }
    ExitCode::FAILURE
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
