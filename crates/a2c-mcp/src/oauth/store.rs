//! Where the tokens of sign-ins are kept.

/// Keeps secrets by key; the operating system's keyring, or files of the owner's. Calls may block.
pub trait TokenStore: Send + Sync {
    /// What is kept under a key.
    fn get(&self, key: &str) -> Result<Option<String>, TokenStoreError>;

    /// Keeps a secret in place of what was kept before.
    fn set(&self, key: &str, secret: &str) -> Result<(), TokenStoreError>;

    /// Forgets what is kept; it is no error when there is nothing.
    fn delete(&self, key: &str) -> Result<(), TokenStoreError>;
}

/// Why a secret cannot be read or written. The message never holds the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TokenStoreError {
    message: String,
}

impl TokenStoreError {
    /// An error with what happened and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
