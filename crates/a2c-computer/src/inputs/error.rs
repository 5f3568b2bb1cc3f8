//! Why the parameters of a server could not be filled, in words for the owner. No message holds a value.

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
