//! The keyrings of macOS and Windows, through their own interfaces.

use std::sync::Arc;

use a2c_process::Processes;
use keyring_core::{CredentialStore, Entry, Error};
use zeroize::Zeroizing;

use super::super::store::SecretStoreError;
use super::SERVICE;

#[cfg(target_os = "macos")]
fn store() -> Result<Arc<CredentialStore>, Error> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn store() -> Result<Arc<CredentialStore>, Error> {
    Ok(windows_native_keyring_store::Store::new()?)
}

/// The keyring of the user.
#[derive(Debug, Clone, Default)]
pub(super) struct NativeKeyring;

impl NativeKeyring {
    pub(super) async fn get(&self, key: &str) -> Result<Option<Zeroizing<String>>, SecretStoreError> {
        on_entry(key, |entry| entry.get_password().map(Zeroizing::new)).await
    }

    pub(super) async fn set(&self, key: &str, secret: &str) -> Result<(), SecretStoreError> {
        let secret = Zeroizing::new(secret.to_owned());
        on_entry(key, move |entry| entry.set_password(&secret)).await.map(|_| ())
    }

    pub(super) async fn delete(&self, key: &str) -> Result<bool, SecretStoreError> {
        Ok(on_entry(key, Entry::delete_credential).await?.is_some())
    }

    /// It runs no program.
    pub(super) fn run_programs_with(&self, _: &Processes) {}
}

/// Does something with an entry where waiting is no harm; `None` where there is none.
async fn on_entry<T: Send + 'static>(
    key: &str,
    work: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
) -> Result<Option<T>, SecretStoreError> {
    let key = key.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&store()?.build(SERVICE, &key, None)?));
    match done.await.map_err(std::io::Error::other)? {
        Ok(value) => Ok(Some(value)),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(told(&error)),
    }
}

/// Errors of the library may hold what was kept: only the harmless ones are repeated.
fn told(error: &Error) -> SecretStoreError {
    match error {
        Error::NoStorageAccess(_) => SecretStoreError::Refused { reason: "it is locked or access was denied".into() },
        Error::PlatformFailure(source) => SecretStoreError::Refused { reason: source.to_string() },
        Error::TooLong(what, limit) => SecretStoreError::Refused { reason: format!("{what} is longer than {limit}") },
        Error::NoDefaultStore | Error::NotSupportedByStore(_) => {
            SecretStoreError::Missing { reason: "this system has none".into() }
        }
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            SecretStoreError::Refused { reason: "what is kept there is no text".into() }
        }
        _ => SecretStoreError::Refused { reason: "it did not say why".into() },
    }
}
