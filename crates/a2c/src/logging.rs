//! What is logged, and in which form. Logs go to standard error: standard output belongs to the answers.

use std::fmt;
use std::io::IsTerminal as _;

use anyhow::{Context as _, Result, bail};
use clap::builder::{OsStr, Resettable};
use clap::{Args, ValueEnum};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

#[derive(Args)]
pub(crate) struct LogArgs {
    /// What to log on standard error: error, warn, info, debug, trace, off, or a filter such as `info,a2c_hub=debug`.
    /// Without this: info for server and computer, warn for the others.
    #[arg(long, global = true, env = unless_empty("A2C_LOG"), value_name = "LEVEL")]
    log: Option<String>,

    /// How to log: lines for people (text, the default), or one JSON object per line for machines (json).
    #[arg(long, global = true, env = unless_empty("A2C_LOG_FORMAT"), value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

/// An empty variable is how files for compose and the like say that there is none.
fn unless_empty(variable: &'static str) -> Resettable<OsStr> {
    match std::env::var_os(variable) {
        Some(value) if value.is_empty() => Resettable::Reset,
        _ => Resettable::Value(variable.into()),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people; coloured on a terminal.
    #[default]
    Text,
    /// One object per line: timestamp, level, target, message, and what else the line is about.
    Json,
}

/// What is logged where no option says anything.
#[derive(Clone)]
pub(crate) struct LogDefaults {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

impl LogDefaults {
    /// Lines for people, at a level.
    pub(crate) fn at(level: &str) -> Self {
        Self { level: level.to_owned(), format: LogFormat::Text }
    }
}

impl LogArgs {
    /// Starts to log, and tells in which form. What is logged is written until the guard is dropped.
    ///
    /// A thread of its own writes: a terminal or a pipe without a reader must not bring a hub to a halt.
    pub(crate) fn start(&self, defaults: &LogDefaults) -> Result<(LogFormat, WorkerGuard)> {
        let filter = filter(self.log.as_ref().unwrap_or(&defaults.level))?;
        let format = self.log_format.unwrap_or(defaults.format);
        let (writer, guard) = tracing_appender::non_blocking(std::io::stderr());
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
        match format {
            LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).init(),
            // Everything on one level, as tools that read logs expect it; the call that a line belongs to is its `span`.
            LogFormat::Json => lines.json().flatten_event(true).with_current_span(true).with_span_list(false).init(),
        }
        Ok((format, guard))
    }
}

impl LogFormat {
    /// Their names in a file and in messages.
    pub(crate) const NAMES: [(&str, Self); 2] = [("text", Self::Text), ("json", Self::Json)];

    /// Whether standard error is for machines and the end of the program has to be told as they expect it.
    pub(crate) fn tells_machines(self) -> bool {
        self == Self::Json && tracing::enabled!(tracing::Level::ERROR)
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name))
    }
}

fn filter(text: &str) -> Result<EnvFilter> {
    if let Some(objection) = objection(text) {
        bail!("--log (A2C_LOG): {objection}");
    }
    // The MCP library reports what it recovers from at WARN; ours says it once, in our words.
    EnvFilter::try_new(format!("rmcp=off,{text}")).context("--log")
}

/// What is wrong with a text that should be a level, or directives such as `a2c_hub=debug`. A word that is neither would
/// switch all logging off.
pub(crate) fn objection(text: &str) -> Option<String> {
    let is_level = |word: &str| word.trim().parse::<tracing::Level>().is_ok() || word.trim() == "off";
    match text.split(',').find(|word| !word.contains('=') && !is_level(word)) {
        Some(word) => {
            Some(format!("'{word}' is no level: write error, warn, info, debug, trace or off, or CRATE=LEVEL"))
        }
        None => EnvFilter::try_new(text).err().map(|error| error.to_string()),
    }
}
