//! A place for secrets that outlives the process: the keyring of the operating system, or something that an application
//! brings along.

use std::io;

use zeroize::Zeroizing;

use super::BoxFuture;

/// Texts by key. Inputs use their id as the key; whoever keeps other things puts a prefix before theirs that ends in `/`.
///
/// Asynchronous, because a keyring may wait for its owner to unlock it. An implementation over blocking calls uses
/// `tokio::task::spawn_blocking` itself. Futures may be dropped at any time.
pub trait SecretStore: Send + Sync {
    /// What is kept under the key.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Zeroizing<String>>, StoreError>>;

    /// Keeps a text under the key, in the place of what was there. An empty text cannot be told from none everywhere:
    /// it is refused.
    fn set<'a>(&'a self, key: &'a str, secret: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Removes what is kept under the key; tells whether there was something.
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;
}

/// Why a store did not do what was asked. Never holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
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
