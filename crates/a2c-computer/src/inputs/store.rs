//! A place for secrets that outlives the process: the keyring of the operating system, or something that an application
//! brings along.

use std::io;

use a2c_process::Processes;
use async_trait::async_trait;
use zeroize::Zeroizing;

/// Texts by key. Inputs use their id as the key; every other user puts a prefix before its keys that ends in `/`.
///
/// Asynchronous, because a keyring may wait for its owner to unlock it. An implementation over blocking calls uses
/// `tokio::task::spawn_blocking` itself. Futures may be dropped at any time.
#[async_trait]
pub trait SecretStore: Send + Sync {
    /// What is kept under the key.
    async fn get(&self, key: &str) -> Result<Option<Zeroizing<String>>, SecretStoreError>;

    /// Keeps a text under the key, in the place of what was there. An empty text cannot be told from none everywhere:
    /// it is refused.
    async fn set(&self, key: &str, secret: &str) -> Result<(), SecretStoreError>;

    /// Removes what is kept under the key; tells whether there was something.
    async fn delete(&self, key: &str) -> Result<bool, SecretStoreError>;

    /// Says whose processes the programs are that the store runs from now on, if it runs any: a Computer that is killed
    /// leaves none of its processes behind.
    fn run_programs_with(&self, processes: &Processes) {
        let _ = processes;
    }
}

/// Why a store did not do what was asked. Never holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretStoreError {
    /// There is none on this machine or in this session.
    #[error("there is no keyring: {reason}")]
    Missing {
        /// What is not there, and what to do.
        reason: String,
    },
    /// It is there and refuses.
    #[error("the keyring refused: {reason}")]
    Refused {
        /// What it said.
        reason: String,
    },
    /// The secret cannot be kept there.
    #[error("the keyring cannot keep this: {reason}")]
    Unfit {
        /// Why not.
        reason: &'static str,
    },
    /// Talking to it failed.
    #[error("the keyring cannot be reached")]
    Io(#[from] io::Error),
}
