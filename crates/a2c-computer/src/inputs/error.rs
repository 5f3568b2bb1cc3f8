//! Why the parameters of a server could not be filled, in words for the owner. No message holds a value.

use std::fmt;

use super::command::CommandError;

/// Why a server cannot be started: a placeholder has no value, or one that does not fit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    /// No source has a value.
    #[error("input '{id}'{} has no value: {ways}", described(.description))]
    NoValue {
        /// Which input.
        id: String,
        /// What it is for.
        description: String,
        /// All the ways to give it one.
        ways: String,
    },
    /// The configuration does not declare it.
    #[error("input '{id}' is not declared: add it to `inputs`")]
    Undeclared {
        /// Which input.
        id: String,
    },
    /// The value is not among the options.
    #[error("input '{id}'{}: {}", described(.description), no_such_option(.source_name, .options))]
    NotAnOption {
        /// Which input.
        id: String,
        /// What it is for.
        description: String,
        /// Where the value came from.
        source_name: &'static str,
        /// What can be given.
        options: Vec<String>,
    },
    /// The program of the input gave none.
    #[error("input '{id}'{}: {source}", described(.description))]
    Command {
        /// Which input.
        id: String,
        /// What it is for.
        description: String,
        /// What went wrong.
        source: CommandError,
    },
    /// The environment variable is not set.
    #[error("${{env:{variable}}}: the environment variable {variable} is not set, or is not text")]
    NoVariable {
        /// Which variable.
        variable: String,
    },
    /// The home folder is not known.
    #[error("${{userHome}}: the home folder is not known: set the environment variable HOME")]
    NoHome,
    /// A path that is no text cannot be put into a text.
    #[error("${{workspaceFolder}}: the path of the workspace folder is not UTF-8")]
    FolderNotText,
    /// A value of another type than the parameter has.
    #[error("server_parameters.{field}: input '{id}' has {given} as its value, which does not fit here: set a text")]
    Unfit {
        /// Which parameter.
        field: String,
        /// Which input.
        id: String,
        /// What it is.
        given: &'static str,
    },
    /// What no placeholder is to blame for.
    #[error("server_parameters.{field}: cannot be used as it is")]
    Parameters {
        /// Which parameter.
        field: String,
    },
}

impl Unresolved {
    fn kind(&self) -> InputFailureKind {
        let id = |id: &String| id.clone();
        match self {
            Self::NoValue { id: input, .. } => InputFailureKind::NoValue { id: id(input) },
            Self::Undeclared { id: input } => InputFailureKind::Undeclared { id: id(input) },
            Self::NotAnOption { id: input, .. } => InputFailureKind::NotAnOption { id: id(input) },
            Self::Command { id: input, .. } => InputFailureKind::Command { id: id(input) },
            Self::NoVariable { variable } => InputFailureKind::NoVariable { variable: variable.clone() },
            Self::Unfit { id: input, .. } => InputFailureKind::Unfit { id: id(input) },
            Self::NoHome | Self::FolderNotText => InputFailureKind::Folder,
            Self::Parameters { .. } => InputFailureKind::Parameters,
        }
    }
}

/// Why the parameters of a server could not be filled. Its text says what to do and holds no value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputFailure {
    /// What went wrong.
    pub kind: InputFailureKind,
    text: String,
}

/// What went wrong with a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputFailureKind {
    /// No source has a value for the input.
    NoValue {
        /// Which input.
        id: String,
    },
    /// The configuration does not declare the input.
    Undeclared {
        /// Which input.
        id: String,
    },
    /// The value is not among the options of the input.
    NotAnOption {
        /// Which input.
        id: String,
    },
    /// The program of the input gave no value.
    Command {
        /// Which input.
        id: String,
    },
    /// The value has another type than the parameter.
    Unfit {
        /// Which input.
        id: String,
    },
    /// The environment variable is not set, or is not text.
    NoVariable {
        /// Which variable.
        variable: String,
    },
    /// The home or workspace folder cannot be used.
    Folder,
    /// The parameters cannot be used, and no placeholder is to blame.
    Parameters,
}

impl fmt::Display for InputFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for InputFailure {}

impl From<Unresolved> for InputFailure {
    fn from(error: Unresolved) -> Self {
        Self { kind: error.kind(), text: error.to_string() }
    }
}

#[cfg(test)]
impl InputFailure {
    /// A failure for tests of other modules.
    pub(crate) fn of_test(kind: InputFailureKind) -> Self {
        Self { kind, text: "no value".to_owned() }
    }
}

fn no_such_option(source: &str, options: &[String]) -> String {
    match options {
        [] => "has no options to pick from: add some to `options`".to_owned(),
        options => format!("the value from {source} is not one of its options: {}", options.join(", ")),
    }
}

fn described(description: &str) -> String {
    match description {
        "" => String::new(),
        description => format!(" ({description})"),
    }
}
