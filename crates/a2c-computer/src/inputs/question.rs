//! Asking the owner: the question, and the trait that asks it.

use std::io;

use a2c_protocol::config::Input;
use async_trait::async_trait;
use zeroize::Zeroizing;

/// What the owner is asked for.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputQuestion {
    /// Which input.
    pub id: String,
    /// What it is for, in the owner's words; may be empty.
    pub description: String,
    /// What is taken when there is no answer. Not to be shown for a password.
    pub default: Option<String>,
    /// Whether the answer must not be shown.
    pub password: bool,
    /// What can be answered; anything where it is empty.
    pub options: Vec<String>,
}

impl InputQuestion {
    /// A question for any text.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), description: String::new(), default: None, password: false, options: Vec::new() }
    }

    /// The question for an input; programs are not asked for.
    pub(super) fn of(input: &Input) -> Option<Self> {
        match input.clone() {
            Input::PromptString { id, description, default, password } => {
                let password = password.unwrap_or(false);
                Some(Self { id, description, default, password, options: Vec::new() })
            }
            Input::PickString { id, description, options, default } => {
                Some(Self { id, description, default, password: false, options })
            }
            Input::Command { .. } => None,
        }
    }
}

impl std::fmt::Debug for InputQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputQuestion").field("id", &self.id).field("password", &self.password).finish_non_exhaustive()
    }
}

/// Why a question could not be put. It then counts as not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The owner cannot be asked at the moment: the program may run in the background of its terminal.
    #[error("the owner cannot be asked: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
    /// The way to the owner broke.
    #[error("the question could not be asked")]
    Io(#[from] io::Error),
}

/// A way to ask the owner, such as a terminal or a window.
#[async_trait]
pub trait Prompter: Send + Sync {
    /// Asks. `None` means that the owner did not answer: the default is taken, where there is one. The future may be
    /// dropped at any time; the question is then no longer needed.
    ///
    /// A Computer asks one question at a time and each only once.
    async fn ask(&self, question: &InputQuestion) -> Result<Option<Zeroizing<String>>, PromptError>;
}
