//! The configuration file of a Computer: reading it, comparing two of them, writing one, and its schema.
//!
//! How a file becomes a configuration: `from_json` or `from_toml` turn the text into one kind of value that knows where
//! it stands (`spanned`), and `reading` turns that into a [`ComputerConfig`], or into the list of everything that is
//! wrong with it. So both languages and both shapes are held to the same rules in the same words.
//!
//! [`import`] converts the files of other MCP hosts, [`Difference`] says what a changed file means for what runs,
//! [`schema()`] describes the file to editors.

mod difference;
mod editing;
mod from_json;
mod from_toml;
pub mod import;
mod keys;
mod problem;
mod reading;
mod saving;
mod schema;
mod spanned;
mod switching;
mod writing;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use a2c_protocol::config::{Input, McpServerConfig};
use serde_json::Value;

pub(crate) use difference::inputs_of;
pub use difference::{Change, Difference, ServerChange};
pub use editing::{Edit, EditError, edit};
pub(crate) use import::is_credential;
pub use problem::{ConfigError, InvalidConfig, Problem};
pub use saving::save;
pub use schema::schema;
use spanned::{Lines, Spanned, Unreadable};

/// What a Computer runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputerConfig {
    /// Values that the owner supplies at run time.
    pub inputs: Vec<Input>,
    /// The MCP servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
}

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

impl Language {
    /// The language that the name of a file says it is in: `.toml` is TOML, everything else is JSON.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Self::Toml,
            _ => Self::Json,
        }
    }
}

impl ComputerConfig {
    /// The largest file that is read, in bytes.
    pub const MAX_FILE: u64 = 8 * 1024 * 1024;

    /// Reads a file: TOML where its name ends so, else JSON with comments allowed.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = text_of(path)?;
        read(&text, Language::of(path)).map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems })
    }

    /// Reads JSON text, with comments allowed; the error says everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidConfig> {
        read(text, Language::Json).map_err(|problems| InvalidConfig { problems })
    }

    /// Reads TOML text; the error says everything that is wrong with it.
    pub fn parse_toml(text: &str) -> Result<Self, InvalidConfig> {
        read(text, Language::Toml).map_err(|problems| InvalidConfig { problems })
    }
}

/// Reads any JSON or TOML file within the limits of a configuration file, for [`import`].
pub fn document(path: &Path) -> Result<Value, ConfigError> {
    let text = text_of(path)?;
    let value = spanned(without_mark(&text), Language::of(path));
    value.map(|value| value.to_value()).map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems })
}

fn read(text: &str, language: Language) -> Result<ComputerConfig, Vec<Problem>> {
    let text = without_mark(text);
    reading::file(text, &spanned(text, language)?)
}

fn spanned(text: &str, language: Language) -> Result<Spanned, Vec<Problem>> {
    let parsed = match language {
        Language::Json => from_json::read(text).map_err(|error| vec![error]),
        Language::Toml => from_toml::read(text),
    };
    let lines = Lines::of(text);
    let told = |Unreadable { at, what }| {
        let (line, column) = lines.place(at);
        Problem { line, column, path: String::new(), what }
    };
    parsed.map_err(|errors| errors.into_iter().map(told).collect())
}

/// Editors on Windows put a byte order mark first.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn text_of(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let limit = ComputerConfig::MAX_FILE;
    // One byte more tells a file that is too large, also where its size cannot be asked for.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(limit + 1).read_to_string(&mut text).map_err(unreadable)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= limit => Ok(text),
        _ => Err(ConfigError::TooLarge { path: path.to_owned(), limit }),
    }
}
