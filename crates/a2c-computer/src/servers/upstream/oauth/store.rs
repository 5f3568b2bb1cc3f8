//! Where the tokens of sign-ins are kept.

/// Keeps secrets by key; the operating system's keyring, or files of the owner's. Calls may block.
pub trait TokenStore: Send + Sync {
    /// What is kept under a key.
    fn get(&self, key: &str) -> Result<Option<String>, StoreError>;

    /// Keeps a secret in place of what was kept before.
    fn set(&self, key: &str, secret: &str) -> Result<(), StoreError>;

    /// Forgets what is kept; it is no error when there is nothing.
    fn delete(&self, key: &str) -> Result<(), StoreError>;
}

/// Why a secret cannot be read or written. The message never holds the secret.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    message: String,
}

impl StoreError {
    /// An error with what happened and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The message alone, for errors that hold a text.
    pub(super) fn into_message(self) -> String {
        self.message
    }
}
