//! Keeping the passwords of inputs in the keyring, as `a2c computer secret` does.

use a2c_protocol::config::Input;

use super::Inputs;
use super::store::{SecretStore, SecretStoreError};

/// Why a password was not kept or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// There is no such input.
    #[error("input '{id}' is not declared: {}", declared(.passwords))]
    Unknown {
        /// Which one.
        id: String,
        /// Those that are there.
        passwords: Vec<String>,
    },
    /// Only passwords are looked for in the keyring.
    #[error("input '{id}' is no password, so the keyring is not asked for it: add `\"password\": true` to it")]
    NotAPassword {
        /// Which input.
        id: String,
    },
    /// There is no keyring to keep it in.
    #[error("this Computer uses no keyring")]
    NoKeyring,
    /// The keyring did not do it.
    #[error(transparent)]
    Store(#[from] SecretStoreError),
}

fn declared(passwords: &[String]) -> String {
    match passwords {
        [] => "the configuration has no input with `\"password\": true`".to_owned(),
        passwords => format!("the passwords of this configuration are {}", passwords.join(", ")),
    }
}

impl Inputs {
    /// Keeps the password of an input in the keyring, from where servers get it when they start next. The key is the id:
    /// other configurations of this user with an input of that id find it, too.
    pub async fn keep(&self, id: &str, secret: &str) -> Result<(), KeepError> {
        self.check_password(id)?;
        Ok(self.keyring()?.set(id, secret).await?)
    }

    /// Removes the password of an input from the keyring; tells whether there was one. The input need not be declared
    /// any more.
    pub async fn unkeep(&self, id: &str) -> Result<bool, KeepError> {
        Ok(self.keyring()?.delete(id).await?)
    }

    fn keyring(&self) -> Result<&dyn SecretStore, KeepError> {
        self.0.sources.keyring.as_deref().ok_or(KeepError::NoKeyring)
    }

    fn check_password(&self, id: &str) -> Result<(), KeepError> {
        let state = self.state();
        match state.declared.get(id) {
            Some(Input::PromptString { password: Some(true), .. }) => Ok(()),
            Some(_) => Err(KeepError::NotAPassword { id: id.to_owned() }),
            None => {
                let is_password = |input: &&Input| matches!(input, Input::PromptString { password: Some(true), .. });
                let passwords = state.declared.values().filter(is_password).map(|input| input.id().to_owned());
                Err(KeepError::Unknown { id: id.to_owned(), passwords: passwords.collect() })
            }
        }
    }
}
