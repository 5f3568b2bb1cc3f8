//! The configuration file of a Computer: reading it, comparing two of them, writing one, and its schema.
//!
//! How a file becomes a configuration: `a2c-settings` turns JSON or TOML into one kind of tree whose values know their
//! place, and `reading` turns that into a [`ComputerConfig`], or into the list of everything that is wrong with it. So
//! both languages and both shapes follow the same rules and give the same messages.
//!
//! [`import`] converts the files of other MCP hosts, [`Difference`] says what a changed file means for the servers that
//! run, [`schema()`] describes the file to editors.

mod difference;
mod edit;
mod error;
pub mod import;
mod input_variable;
mod keys;
mod reading;
mod schema;
mod set_disabled;
mod to_json;
pub(crate) mod tool_rules;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use a2c_protocol::config::{Input, McpServerConfig};
use a2c_settings::SettingsDocument;
pub use a2c_settings::{FileFormat, Problem};
use serde_json::Value;

pub(crate) use difference::inputs_of;
pub use difference::{Change, Difference, ServerChange};
pub use edit::{Edit, edit};
pub use error::{ConfigError, EditError, InvalidConfig};
pub(crate) use import::is_credential;
pub(crate) use input_variable::input_variable;
pub use schema::schema;

/// What a Computer runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputerConfig {
    /// Values that the owner supplies at run time.
    pub inputs: Vec<Input>,
    /// The MCP servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
}

impl ComputerConfig {
    /// The largest file that is read, in bytes.
    pub const MAX_FILE: u64 = 8 * 1024 * 1024;

    /// Reads a file: TOML where its name ends so, else JSON with comments allowed.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = text_of(path)?;
        read(&text, FileFormat::of(path)).map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems })
    }

    /// Reads JSON text, with comments allowed; the error lists everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidConfig> {
        read(text, FileFormat::Json).map_err(|problems| InvalidConfig { problems })
    }

    /// Reads TOML text; the error lists everything that is wrong with it.
    pub fn parse_toml(text: &str) -> Result<Self, InvalidConfig> {
        read(text, FileFormat::Toml).map_err(|problems| InvalidConfig { problems })
    }
}

/// Reads any JSON or TOML file within the limits of a configuration file, for [`import`].
pub fn document(path: &Path) -> Result<Value, ConfigError> {
    let text = text_of(path)?;
    let document = SettingsDocument::parse(&text, FileFormat::of(path));
    let document = document.map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems })?;
    Ok(document.root().value.to_json())
}

fn read(text: &str, format: FileFormat) -> Result<ComputerConfig, Vec<Problem>> {
    reading::file(&SettingsDocument::parse(text, format)?)
}

fn text_of(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let limit = ComputerConfig::MAX_FILE;
    // Reading one byte more than allowed finds a file that is too large, also where its size is unknown (a pipe).
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(limit + 1).read_to_string(&mut text).map_err(unreadable)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= limit => Ok(text),
        _ => Err(ConfigError::TooLarge { path: path.to_owned(), limit }),
    }
}
