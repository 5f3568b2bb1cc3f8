//! `a2c computer import`: servers from the files of other MCP hosts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2c_computer::config::import::{Imported, LiteralSecrets, OnConflict, import};
use a2c_computer::config::{ComputerConfig, FileFormat, document, edit};
use a2c_files::replace_target;
use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::output;

/// Convert the MCP servers in a file of another host.
///
/// Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Cline, Roo Code, Gemini CLI, Codex,
/// opencode and Continue, and prints the same servers as a configuration of a2c. Secrets in `env` and `headers` do not
/// go into it: an input stands for each, and standard error says how to give its value. Whatever could not be taken over
/// is said there too. Nothing is started.
#[derive(Args)]
pub(crate) struct ImportArgs {
    /// The file of the other host: JSON, with comments allowed, or TOML if its name ends so.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Add the servers to this JSON configuration instead of printing them. Everything else in it stays as it is. It is
    /// made if it is not there, and readable for you alone.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,

    /// Take only the server of this name. Can be given several times.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    /// With --into: replace servers that have the same name. Your rules for them (`disabled`, `forbidden_tools`,
    /// `tool_meta` and so on) stay where the import does not bring its own.
    #[arg(long, requires = "into")]
    replace: bool,

    /// Leave secrets in the configuration as they are.
    #[arg(long)]
    keep_secrets: bool,
}

pub(crate) fn run(args: &ImportArgs) -> Result<ExitCode> {
    let document = document(&args.file)?;
    let literals = if args.keep_secrets { LiteralSecrets::Keep } else { LiteralSecrets::Move };
    let imported = import(&document, literals).with_context(|| args.file.display().to_string())?;
    output::note(&format!("{}: taken for a file of {}", args.file.display(), imported.host));
    let mut imported = imported.only(&args.names).with_context(|| args.file.display().to_string())?;
    imported.notes.iter().for_each(|note| output::note(&note.to_string()));
    if imported.config.servers.is_empty() {
        bail!("{}: no server could be taken over", args.file.display());
    }
    match &args.into {
        Some(into) => merge(&mut imported, into, if args.replace { OnConflict::Replace } else { OnConflict::Keep })?,
        None => output::line(&output::harmless_json(imported.config.to_json().trim_end())),
    }
    for secret in &imported.secrets {
        let (server, key, variable) = (&secret.server, &secret.key, &secret.variable);
        output::note(&format!("{server}: the value of `{key}` was left out: set the environment variable {variable}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds what was imported to a configuration file.
fn merge(imported: &mut Imported, into: &Path, on_conflict: OnConflict) -> Result<()> {
    let name = into.display();
    if FileFormat::of(into) == FileFormat::Toml {
        bail!("{name}: only JSON files can be added to; leave --into out and copy what is printed");
    }
    let (text, existing) = match std::fs::read_to_string(into) {
        Ok(text) if !text.trim().is_empty() => (text, ComputerConfig::load(into)?),
        Ok(_) => Default::default(),
        Err(error) if error.kind() == ErrorKind::NotFound => Default::default(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
    };
    let (edits, notes) = imported.onto(&existing, on_conflict);
    notes.iter().for_each(|note| output::note(&note.to_string()));
    if edits.is_empty() {
        output::note(&format!("{name} stays as it is"));
        return Ok(());
    }
    let (text, config) = edit(&text, &edits).with_context(|| name.to_string())?;
    replace_target(into, text.as_bytes()).with_context(|| format!("cannot write {name}"))?;
    output::note(&format!("{name} has {} server(s) now", config.servers.len()));
    Ok(())
}
