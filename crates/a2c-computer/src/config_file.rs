//! The file that a Computer was started with: taken over again when it changes, and written when its owner says so.
//!
//! What an owner changes at run time stays until the Computer ends, also when the file changes meanwhile: of a changed
//! file, only what differs from the file before is taken over. [`ConfigFile::reload`] takes all of it.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2c_protocol::config::McpServerConfig;
use tokio::sync::Mutex;

use crate::config::{
    Change, ComputerConfig, ConfigError, Difference, Edit, EditError, Format, ServerChange, edit, save,
};
use crate::handle::{ComputerHandle, OperateError};

/// How often the file is looked at. Asking for its size and time costs next to nothing, works on every file system, and
/// does not mind how an editor writes.
const LOOK: Duration = Duration::from_millis(500);

/// The file of a running Computer.
pub struct ConfigFile {
    path: PathBuf,
    /// What it said when it was last taken over. Held while it is read or written.
    known: Mutex<ComputerConfig>,
}

/// Why a file was not taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// It cannot be read, or is not valid.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// It does not go together with what was changed at run time.
    #[error(transparent)]
    Operate(#[from] OperateError),
}

/// Why a change was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// Only JSON is written.
    #[error("{} is TOML, which is not written: edit it by hand", .path.display())]
    Toml {
        /// Which file.
        path: PathBuf,
    },
    /// The file as it is does not allow for it.
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

/// What tells one state of a file from another.
type Stamp = Option<(SystemTime, u64, u64)>;

impl ConfigFile {
    /// The file at this path, which says this.
    pub fn new(path: &Path, says: ComputerConfig) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path, known: Mutex::new(says) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file as it is now: what was changed at run time and is not in it is undone.
    pub async fn reload(&self, handle: &ComputerHandle) -> Result<Difference, ReloadError> {
        let mut known = self.known.lock().await;
        let now = ComputerConfig::load(&self.path)?;
        let difference = handle.reload(now.clone()).await;
        *known = now;
        Ok(difference)
    }

    /// Watches the file and takes over what changes in it. A file that is not valid is told of, and changes nothing.
    pub async fn follow(self: Arc<Self>, handle: ComputerHandle) -> Infallible {
        let mut seen = self.stamp();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.stamp();
            if now == seen || now.is_none() {
                // A file that is gone is most likely about to be replaced.
                continue;
            }
            // Whoever writes may not be done yet.
            tokio::time::sleep(LOOK).await;
            if self.stamp() != now {
                continue;
            }
            seen = now;
            match self.take_over(&handle).await {
                Ok(difference) => announce(&self.path, &difference),
                Err(error) => {
                    tracing::error!("the configuration stays as it was, because the file cannot be used:\n{error}");
                }
            }
        }
    }

    async fn take_over(&self, handle: &ComputerHandle) -> Result<Difference, ReloadError> {
        let mut known = self.known.lock().await;
        let now = ComputerConfig::load(&self.path)?;
        let difference = handle.reload_onto(|running| merged(&known, &now, running)).await?;
        *known = now;
        Ok(difference)
    }

    /// Writes a server into the file, in the place of what is there under its name.
    pub async fn write(&self, server: &McpServerConfig) -> Result<(), SaveError> {
        self.edit(|_| Some(Edit::Set(Box::new(server.clone())))).await
    }

    /// Switches a server of the file on or off; `running` is what is written where the file does not have it.
    pub async fn switch(&self, running: &McpServerConfig, disabled: bool) -> Result<(), SaveError> {
        self.edit(|file| {
            match file.servers.get(&running.name) {
                // What the file says already is left in the owner's words.
                Some(server) if server.disabled == disabled => None,
                Some(_) => Some(Edit::SetDisabled { server: running.name.clone(), disabled }),
                None => Some(Edit::Set(Box::new(McpServerConfig { disabled, ..running.clone() }))),
            }
        })
        .await
    }

    /// Takes a server out of the file; it is no error when it is not in it.
    pub async fn remove(&self, name: &str) -> Result<(), SaveError> {
        self.edit(|file| file.servers.contains_key(name).then(|| Edit::Remove(name.to_owned()))).await
    }

    async fn edit(&self, change: impl FnOnce(&ComputerConfig) -> Option<Edit>) -> Result<(), SaveError> {
        let path = self.path.clone();
        if Format::of(&path) == Format::Toml {
            return Err(SaveError::Toml { path });
        }
        let mut known = self.known.lock().await;
        let failed = |source| SaveError::Io { path: path.clone(), source };
        let refused = |source| SaveError::Edit { path: path.clone(), source };
        let text = std::fs::read_to_string(&self.path).map_err(failed)?;
        let (_, before) = edit(&text, &[]).map_err(refused)?;
        let Some(change) = change(&before) else { return Ok(()) };
        let (text, after) = edit(&text, &[change]).map_err(refused)?;
        save(&self.path, &text).map_err(failed)?;
        // What else has changed in the file is still to be taken over.
        for (name, server) in &after.servers {
            if before.servers.get(name) != Some(server) {
                known.servers.insert(name.clone(), server.clone());
            }
        }
        known.servers.retain(|name, _| after.servers.contains_key(name) || !before.servers.contains_key(name));
        Ok(())
    }

    fn stamp(&self) -> Stamp {
        let found = std::fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let inode = 0;
        Some((found.modified().ok()?, found.len(), inode))
    }
}

/// What runs, with what changed between two states of the file.
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

/// What a change means for a server, in a word.
pub(crate) fn word(change: ServerChange) -> &'static str {
    match change {
        ServerChange::Added => "added",
        ServerChange::Removed => "removed",
        ServerChange::Enabled => "enabled",
        ServerChange::Disabled => "disabled",
        ServerChange::Changed(Change::Restart) => "restarted",
        ServerChange::Changed(Change::Rules) => "new rules",
    }
}

fn announce(path: &Path, difference: &Difference) {
    let file = path.display();
    for (server, change) in &difference.servers {
        tracing::info!(%file, server, change = word(*change), "the configuration changed");
    }
    if difference.servers.is_empty() {
        tracing::info!(%file, "the file was written; no server is another one");
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
    fn of_a_changed_file_only_the_changes_are_taken_over() {
        let before = config(&json!({"a": {"command": "1"}, "b": {"command": "1"}, "c": {"command": "1"}}));
        let after = config(&json!({"a": {"command": "2"}, "b": {"command": "1"}, "d": {"command": "1"}}));
        // `b` was switched off and `e` added at run time.
        let running = config(&json!({
            "a": {"command": "1"}, "b": {"command": "1", "disabled": true}, "c": {"command": "1"}, "e": {"command": "1"}
        }));
        let expected = config(&json!({
            "a": {"command": "2"}, "b": {"command": "1", "disabled": true}, "d": {"command": "1"}, "e": {"command": "1"}
        }));
        assert_eq!(merged(&before, &after, &running), expected);
    }

    #[tokio::test]
    async fn a_change_is_written_and_what_else_changed_is_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("computer.json");
        let started_with = config(&json!({"a": {"command": "1"}, "b": {"command": "1"}}));
        let file = ConfigFile::new(&path, started_with.clone());
        // Somebody has changed `b` since.
        std::fs::write(&path, r#"{"servers": {"a": {"command": "1"/**/}, "b": {"command": "2"}}} // mine"#).unwrap();
        file.switch(&started_with.servers["a"], true).await.unwrap();
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
