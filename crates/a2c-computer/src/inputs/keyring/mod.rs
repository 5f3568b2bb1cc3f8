//! The keyring of the operating system: the Secret Service on Linux and the like, the Keychain on macOS, the Credential
//! Manager on Windows.

#[cfg(any(target_os = "macos", windows))]
mod native;
#[cfg(any(target_os = "macos", windows))]
use native::NativeKeyring as SystemKeyring;

#[cfg(not(any(target_os = "macos", windows)))]
mod secret_tool;
#[cfg(not(any(target_os = "macos", windows)))]
use secret_tool::SecretTool as SystemKeyring;

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

use a2c_process::Processes;
use async_trait::async_trait;
use zeroize::Zeroizing;

use super::store::{SecretStore, SecretStoreError};

/// The name that all our secrets are kept under.
const SERVICE: &str = "a2c";

/// The keyring of the operating system. Secrets are kept under the service `a2c`, with the key as the account.
#[derive(Debug, Clone, Default)]
pub struct OsKeyring(SystemKeyring);

impl OsKeyring {
    /// The keyring of this user's session. Whether there is one shows when it is used.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl SecretStore for OsKeyring {
    async fn get(&self, key: &str) -> Result<Option<Zeroizing<String>>, SecretStoreError> {
        self.0.get(key).await
    }

    async fn set(&self, key: &str, secret: &str) -> Result<(), SecretStoreError> {
        match secret {
            "" => Err(SecretStoreError::Unfit { reason: "it is empty" }),
            text if text.contains('\0') => Err(SecretStoreError::Unfit { reason: "it holds a NUL character" }),
            _ => self.0.set(key, secret).await,
        }
    }

    async fn delete(&self, key: &str) -> Result<bool, SecretStoreError> {
        self.0.delete(key).await
    }

    fn run_programs_with(&self, processes: &Processes) {
        self.0.run_programs_with(processes);
    }
}
