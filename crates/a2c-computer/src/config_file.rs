//! The file that a Computer was started with: applied again when it changes, and written when the owner asks for it.
//!
//! What the owner changes at run time lasts until the Computer ends, also when the file changes meanwhile: of a changed
//! file, only the differences from its earlier state are applied. [`ConfigFile::reload`] applies all of it.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2c_files::replace_target;
use a2c_protocol::config::McpServerConfig;
use tokio::sync::Mutex;

use crate::config::{ComputerConfig, ConfigError, Difference, Edit, EditError, FileFormat, edit};
use crate::handle::{ComputerHandle, OperateError};

/// How often the file's size and time are compared. This is cheap, and works on every file system and with every way in
/// which editors write.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The file of a running Computer.
pub struct ConfigFile {
    path: PathBuf,
    /// Its content when it was last applied. Locked while the file is read or written.
    known: Mutex<ComputerConfig>,
}

/// Why a file was not applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// It cannot be read, or is not valid.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// It contradicts what was changed at run time.
    #[error(transparent)]
    Operate(#[from] OperateError),
}

/// Why a change was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigSaveError {
    /// Only JSON is written.
    #[error("{} is TOML, which is not written: edit it by hand", .path.display())]
    Toml {
        /// Which file.
        path: PathBuf,
    },
    /// The text of the file cannot be changed so.
    #[error("{} stays as it is: {source}", .path.display())]
    Edit {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: EditError,
    },
    /// It cannot be read or written.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Modification time, size and inode, which differ between two states of a file.
type FileStamp = Option<(SystemTime, u64, u64)>;

impl ConfigFile {
    /// The file at this path, and its content.
    pub fn new(path: &Path, content: ComputerConfig) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path, known: Mutex::new(content) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Applies the file as it is now, and undoes run-time changes that are not in it.
    pub async fn reload(&self, handle: &ComputerHandle) -> Result<Difference, ReloadError> {
        let mut known = self.known.lock().await;
        let now = ComputerConfig::load(&self.path)?;
        let difference = handle.reload(now.clone()).await;
        *known = now;
        Ok(difference)
    }

    /// Watches the file and applies what changes in it. A file that is not valid is logged, and changes nothing.
    pub async fn watch(self: Arc<Self>, handle: ComputerHandle) -> Infallible {
        let mut seen = self.stamp();
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let now = self.stamp();
            if now == seen || now.is_none() {
                // A missing file is most likely about to be replaced.
                continue;
            }
            // The file may still be being written.
            tokio::time::sleep(POLL_INTERVAL).await;
            if self.stamp() != now {
                continue;
            }
            seen = now;
            match self.apply_changes(&handle).await {
                Ok(difference) => log_changes(&self.path, &difference),
                Err(error) => {
                    tracing::error!("the configuration stays as it was, because the file cannot be used:\n{error}");
                }
            }
        }
    }

    async fn apply_changes(&self, handle: &ComputerHandle) -> Result<Difference, ReloadError> {
        let mut known = self.known.lock().await;
        let now = ComputerConfig::load(&self.path)?;
        let difference = handle.reload_onto(|running| merged(&known, &now, running)).await?;
        *known = now;
        Ok(difference)
    }

    /// Adds a server to the file, or replaces the one with its name.
    pub async fn write(&self, server: &McpServerConfig) -> Result<(), ConfigSaveError> {
        self.edit(|_| Some(Edit::Set(Box::new(server.clone())))).await
    }

    /// Enables or disables a server of the file; `running` is added to a file that does not have the server.
    pub async fn set_disabled(&self, running: &McpServerConfig, disabled: bool) -> Result<(), ConfigSaveError> {
        self.edit(|file| {
            match file.servers.get(&running.name) {
                // Nothing to change.
                Some(server) if server.disabled == disabled => None,
                Some(_) => Some(Edit::SetDisabled { server: running.name.clone(), disabled }),
                None => Some(Edit::Set(Box::new(McpServerConfig { disabled, ..running.clone() }))),
            }
        })
        .await
    }

    /// Removes a server from the file; a server that is not in it is no error.
    pub async fn remove(&self, name: &str) -> Result<(), ConfigSaveError> {
        self.edit(|file| file.servers.contains_key(name).then(|| Edit::Remove(name.to_owned()))).await
    }

    async fn edit(&self, change: impl FnOnce(&ComputerConfig) -> Option<Edit>) -> Result<(), ConfigSaveError> {
        let path = self.path.clone();
        if FileFormat::of(&path) == FileFormat::Toml {
            return Err(ConfigSaveError::Toml { path });
        }
        let mut known = self.known.lock().await;
        let failed = |source| ConfigSaveError::Io { path: path.clone(), source };
        let refused = |source| ConfigSaveError::Edit { path: path.clone(), source };
        let text = std::fs::read_to_string(&self.path).map_err(failed)?;
        let (_, before) = edit(&text, &[]).map_err(refused)?;
        let Some(change) = change(&before) else { return Ok(()) };
        let (text, after) = edit(&text, &[change]).map_err(refused)?;
        let target = path.clone();
        let saved = tokio::task::spawn_blocking(move || replace_target(&target, text.as_bytes())).await;
        saved.map_err(io::Error::other).and_then(|saved| saved).map_err(failed)?;
        // Other changes of the file are still to be applied, so only this one counts as known.
        for (name, server) in &after.servers {
            if before.servers.get(name) != Some(server) {
                known.servers.insert(name.clone(), server.clone());
            }
        }
        known.servers.retain(|name, _| after.servers.contains_key(name) || !before.servers.contains_key(name));
        Ok(())
    }

    fn stamp(&self) -> FileStamp {
        let found = std::fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let inode = 0;
        Some((found.modified().ok()?, found.len(), inode))
    }
}

/// The running configuration with the changes between two states of the file.
fn merged(before: &ComputerConfig, after: &ComputerConfig, running: &ComputerConfig) -> ComputerConfig {
    let mut servers = running.servers.clone();
    for name in before.servers.keys().chain(after.servers.keys()) {
        match (before.servers.get(name), after.servers.get(name)) {
            (before, after) if before == after => {}
            (_, Some(server)) => {
                servers.insert(name.clone(), server.clone());
            }
            (_, None) => {
                servers.remove(name);
            }
        }
    }
    ComputerConfig { inputs: after.inputs.clone(), servers }
}

fn log_changes(path: &Path, difference: &Difference) {
    let file = path.display();
    for (server, change) in &difference.servers {
        tracing::info!(%file, server, %change, "the configuration changed");
    }
    if difference.servers.is_empty() {
        tracing::info!(%file, "the file was written; no server changed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(servers: &serde_json::Value) -> ComputerConfig {
        ComputerConfig::parse(&json!({ "servers": servers }).to_string()).unwrap()
    }

    #[test]
    fn only_the_changes_of_a_file_are_applied() {
        let before = config(&json!({"a": {"command": "1"}, "b": {"command": "1"}, "c": {"command": "1"}}));
        let after = config(&json!({"a": {"command": "2"}, "b": {"command": "1"}, "d": {"command": "1"}}));
        // `b` was disabled and `e` added at run time.
        let running = config(&json!({
            "a": {"command": "1"}, "b": {"command": "1", "disabled": true}, "c": {"command": "1"}, "e": {"command": "1"}
        }));
        let expected = config(&json!({
            "a": {"command": "2"}, "b": {"command": "1", "disabled": true}, "d": {"command": "1"}, "e": {"command": "1"}
        }));
        assert_eq!(merged(&before, &after, &running), expected);
    }

    #[tokio::test]
    async fn a_change_is_written_and_other_changes_of_the_file_stay_pending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("computer.json");
        let started_with = config(&json!({"a": {"command": "1"}, "b": {"command": "1"}}));
        let file = ConfigFile::new(&path, started_with.clone());
        // `b` has changed since.
        std::fs::write(&path, r#"{"servers": {"a": {"command": "1"/**/}, "b": {"command": "2"}}} // mine"#).unwrap();
        file.set_disabled(&started_with.servers["a"], true).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = r#"{"servers": {"a": {"disabled": true, "command": "1"/**/}, "b": {"command": "2"}}} // mine"#;
        assert_eq!(text, expected);
        let says = ComputerConfig::load(&path).unwrap();
        assert!(says.servers["a"].disabled);
        let known = file.known.lock().await.clone();
        assert_eq!((&known.servers["a"], &known.servers["b"]), (&says.servers["a"], &started_with.servers["b"]));
        file.remove("a").await.unwrap();
        file.remove("never there").await.unwrap();
        assert!(!file.known.lock().await.servers.contains_key("a"));
        let toml = ConfigFile::new(&folder.path().join("c.toml"), started_with);
        assert!(toml.remove("a").await.unwrap_err().to_string().contains("by hand"));
    }
}
