//! Why a text or a file is not a configuration, or cannot become another one.

use std::path::PathBuf;

use a2c_settings::Problem;

/// A text that is not a valid configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines("", problems))]
pub struct InvalidConfig {
    /// Everything that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too large.
    #[error("{} is larger than {limit} bytes: this is not a configuration file", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// The file is not a valid configuration.
    #[error("{}", lines(&format!("{}:", path.display()), problems))]
    Invalid {
        /// Which file.
        path: PathBuf,
        /// Everything that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
}

/// Why a file is not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is not a valid configuration.
    #[error("it has to be valid before it can be changed:\n{0}")]
    Before(#[source] InvalidConfig),
    /// The changed text would not be a valid configuration.
    #[error("it would not be valid afterwards:\n{0}")]
    After(#[source] InvalidConfig),
    /// There is no such server.
    #[error("there is no server `{name}`")]
    NoServer {
        /// Which one.
        name: String,
    },
    /// The key `enabled` of another host keeps the server off.
    #[error("`{name}` is disabled by `enabled`, a key of another host: change that key by hand")]
    DisabledByHost {
        /// Which server.
        name: String,
    },
}

/// One line for each problem, as compilers write them.
fn lines(prefix: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{prefix}{problem}")).collect::<Vec<_>>().join("\n")
}
