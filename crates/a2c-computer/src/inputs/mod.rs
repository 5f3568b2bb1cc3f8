//! Inputs: the values that an owner keeps out of the configuration, and how they get into the parameters of a server.
//!
//! How a value flows: `fill` takes the parameters of one server apart, `placeholder` says which inputs and variables they
//! mention, [`Inputs`] looks each input up (`resolve`: a value set at run time, the environment, the program of the input
//! or the keyring, the owner, the default), and the values are put in. What came from elsewhere is remembered with the
//! filled parameters in a [`Redactor`](a2c_secrets::Redactor), which keeps it out of logs and reasons.
//!
//! Values are wiped when they are dropped and never printed. What a process or an HTTP client was given is a copy that
//! cannot be wiped; the environment of our own process is not wiped either.

mod command;
mod environment;
mod error;
mod fill;
mod filled;
mod keeping;
#[cfg(feature = "keyring")]
mod keyring;
mod placeholder;
mod question;
mod resolve;
mod store;
#[cfg(test)]
mod tests;
mod value;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2c_process::Processes;
use a2c_protocol::config::{Input, McpServerConfig};

pub use environment::Environment;
pub(crate) use error::Unresolved;
pub use error::{InputFailure, InputFailureKind};
pub(crate) use filled::Filled;
pub use keeping::KeepError;
#[cfg(feature = "keyring")]
pub use keyring::OsKeyring;
pub use question::{InputQuestion, PromptError, Prompter};
pub use store::{SecretStore, SecretStoreError};
pub use value::InputValue;

/// Where values come from, beside those that are set at run time and the defaults of the configuration.
#[derive(Clone)]
pub struct InputSources {
    /// Where `A2C_INPUT_<ID>` and `${env:VAR}` are looked up.
    pub environment: Environment,
    /// Where passwords are kept.
    pub keyring: Option<Arc<dyn SecretStore>>,
    /// Who can ask the owner.
    pub prompter: Option<Arc<dyn Prompter>>,
    /// What `${workspaceFolder}` stands for.
    pub workspace_folder: PathBuf,
}

impl Default for InputSources {
    /// The environment of the process and its current folder; the owner is not asked.
    fn default() -> Self {
        Self {
            environment: Environment::default(),
            keyring: None,
            prompter: None,
            workspace_folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }
}

impl std::fmt::Debug for InputSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputSources")
            .field("environment", &self.environment)
            .field("keyring", &self.keyring.is_some())
            .field("prompter", &self.prompter.is_some())
            .field("workspace_folder", &self.workspace_folder)
            .finish()
    }
}

/// An input that the configuration does not declare, or a value that it does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetInputError {
    /// There is no such input.
    #[error("input '{id}' is not declared: add it to `inputs`")]
    Unknown {
        /// Which one.
        id: String,
    },
    /// The value is not among the options.
    #[error("input '{id}' can only be one of: {}", .options.join(", "))]
    NotAnOption {
        /// Which input.
        id: String,
        /// What it can be.
        options: Vec<String>,
    },
}

/// Knows every declared input and where its value comes from. Cheap to clone; clones are the same inputs.
#[derive(Clone)]
pub struct Inputs(Arc<Shared>);

struct Shared {
    sources: InputSources,
    /// Whose processes the programs of inputs are.
    processes: Processes,
    state: Mutex<State>,
    /// Held while the owner is asked: two questions at a time cannot be told apart.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    declared: BTreeMap<String, Input>,
    /// Values set at run time.
    set: HashMap<String, InputValue>,
    /// What is known, by input. The server that resolves an input holds the lock, and the others wait for it.
    cached: HashMap<String, Arc<tokio::sync::Mutex<resolve::CachedInput>>>,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Inputs").field(&self.state().declared.keys().collect::<Vec<_>>()).finish()
    }
}

impl Inputs {
    /// These inputs, with values from these sources. If this program is killed, the program of an input may be left behind.
    pub fn new(declared: Vec<Input>, sources: InputSources) -> Self {
        Self::with_processes(declared, sources, Processes::unguarded())
    }

    /// These inputs, with values from these sources. Their programs belong to these processes, those of the keyring too.
    pub(crate) fn with_processes(declared: Vec<Input>, sources: InputSources, processes: Processes) -> Self {
        if let Some(keyring) = &sources.keyring {
            keyring.run_programs_with(&processes);
        }
        let (state, asking) = (Mutex::default(), tokio::sync::Mutex::default());
        let inputs = Self(Arc::new(Shared { sources, processes, state, asking }));
        inputs.declare(declared);
        inputs
    }

    /// Declares other inputs in the place of those so far. Values set at run time stay where the input stays; what was
    /// asked or printed stays where the input is the same in every word.
    pub fn declare(&self, declared: Vec<Input>) {
        let declared: BTreeMap<_, _> = declared.into_iter().map(|input| (input.id().to_owned(), input)).collect();
        let mut state = self.state();
        let before = std::mem::replace(&mut state.declared, declared);
        let State { declared, set, cached } = &mut *state;
        set.retain(|id, _| declared.contains_key(id));
        cached.retain(|id, _| declared.contains_key(id) && declared.get(id) == before.get(id));
    }

    /// Sets a value, which wins over every other source from now on. Servers that run keep what they have.
    pub fn set(&self, id: &str, value: impl Into<InputValue>) -> Result<(), SetInputError> {
        let value = value.into();
        let mut state = self.state();
        match state.declared.get(id) {
            None => return Err(SetInputError::Unknown { id: id.to_owned() }),
            Some(Input::PickString { options, .. }) if !resolve::is_option(&value, options) => {
                return Err(SetInputError::NotAnOption { id: id.to_owned(), options: options.clone() });
            }
            Some(_) => {}
        }
        state.set.insert(id.to_owned(), value);
        Ok(())
    }

    /// Forgets what was set at run time, answered or printed for an input: the next server that needs it has it looked
    /// up, and asked for, again. What a keyring keeps stays there.
    pub fn forget(&self, id: &str) {
        let mut state = self.state();
        state.set.remove(id);
        state.cached.remove(id);
    }

    /// What was asked in vain is asked again for the next server that needs it.
    pub(crate) fn ask_again(&self) {
        // One that is being asked for right now needs no other question.
        self.state().cached.retain(|_, cached| cached.try_lock().map_or(true, |cached| !cached.was_asked_in_vain()));
    }

    /// The parameters of a server with every placeholder replaced. May take as long as the owner needs to answer.
    pub(crate) async fn fill(&self, server: &McpServerConfig) -> Result<Filled, Unresolved> {
        filled::fill(self, server).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
