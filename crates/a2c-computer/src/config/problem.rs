//! What is wrong with a configuration: all of it at once, each with its place and its remedy.

use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong. It never quotes a value that could be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in that line, counted from 1.
    pub column: usize,
    /// The key it is about, such as `servers.a.tool_meta.t.alias`; empty for the text as a whole.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, path, what } = self;
        match path.is_empty() {
            true => write!(f, "{line}:{column}: {what}"),
            false => write!(f, "{line}:{column}: {path}: {what}"),
        }
    }
}

/// A text that is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines("", problems))]
pub struct InvalidConfig {
    /// Everything that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Why a configuration file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{} is larger than {limit} bytes: this is no configuration file", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// The file is not what a configuration looks like.
    #[error("{}", lines(&format!("{}:", path.display()), problems))]
    Invalid {
        /// Which file.
        path: PathBuf,
        /// Everything that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
}

/// One line for each problem, as compilers write them.
fn lines(prefix: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{prefix}{problem}")).collect::<Vec<_>>().join("\n")
}
