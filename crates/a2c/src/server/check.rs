//! `a2c server --check`: what the hub would do, without doing it.

use std::process::ExitCode;

use a2c_settings::{Overview, OverviewRow};

use super::access;
use super::plan::Plan;
use super::problem::ServerProblem;
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
pub(crate) fn show_problems(problems: &[ServerProblem]) -> ExitCode {
    for problem in problems {
        output::note(&format!("error: {problem}"));
    }
    ExitCode::FAILURE
}

fn rows(settings: &Settings) -> Vec<Vec<String>> {
    let row = |row: &OverviewRow| vec![row.name.to_owned(), shown(settings, row), row.origin.to_string()];
    settings.overview.rows().iter().map(row).collect()
}

/// The value of a row; the kind of authentication may follow from other settings.
fn shown(settings: &Settings, row: &OverviewRow) -> String {
    if row.name != "auth.kind" || row.shown != Overview::NOT_SET {
        return row.shown.clone();
    }
    match access::kind(settings) {
        Ok(Some(kind)) => format!("{kind} (from what else is set)"),
        Ok(None) => "token (made up at the start)".to_owned(),
        Err(_) => Overview::NOT_SET.to_owned(),
    }
}
