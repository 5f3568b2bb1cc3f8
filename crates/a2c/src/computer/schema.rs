//! `a2c computer schema`: what a configuration file may say.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::output;

/// Print the JSON Schema of a configuration file.
///
/// Editors that know it complete keys and show mistakes while you write. Put the output into a file, and name that file
/// in your configuration: "$schema": "./a2c.schema.json".
#[derive(Args)]
pub(crate) struct SchemaArgs {}

pub(crate) fn run(_: &SchemaArgs) -> Result<ExitCode> {
    output::line(&serde_json::to_string_pretty(&a2c_computer::config::schema())?);
    Ok(ExitCode::SUCCESS)
}
