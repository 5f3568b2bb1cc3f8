//! Confirmation of calls of tools that the owner did not mark as `auto_apply`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// What happens with a tool that its owner did not mark as `auto_apply`.
#[derive(Clone, Default)]
pub enum Confirmation {
    /// It runs.
    Allow,
    /// It is refused: there is no confirmer.
    #[default]
    Refuse,
    /// The confirmer is asked, call by call.
    Ask(Arc<dyn Confirmer>),
}

impl fmt::Debug for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "Allow",
            Self::Refuse => "Refuse",
            Self::Ask(_) => "Ask",
        })
    }
}

/// Decides about single calls: a person at a terminal, a dialogue, a policy in code.
#[async_trait]
pub trait Confirmer: Send + Sync {
    /// Decides about a call. If the call is cancelled meanwhile, the future is dropped.
    async fn confirm(&self, call: &CallToConfirm) -> Verdict;
}

/// A call that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct CallToConfirm {
    /// The Agent that calls.
    pub agent: String,
    /// The MCP server that would run it.
    pub server: String,
    /// The tool, as the Agent calls it.
    pub tool: String,
    /// The server's description of the tool.
    pub description: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// It does not.
    Refuse,
}

/// Why a call does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unconfirmed {
    /// There is no confirmer.
    NoConfirmer,
    /// It was refused.
    Refused,
    /// There was no decision in time.
    TimedOut,
    /// The caller cancelled it.
    Cancelled,
}

impl Confirmation {
    /// Decides about a call.
    pub(crate) async fn decide(
        &self,
        call: CallToConfirm,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<(), Unconfirmed> {
        let confirmer = match self {
            Self::Allow => return Ok(()),
            Self::Refuse => return Err(Unconfirmed::NoConfirmer),
            Self::Ask(confirmer) => confirmer,
        };
        tokio::select! {
            verdict = confirmer.confirm(&call) => match verdict {
                Verdict::Run => Ok(()),
                Verdict::Refuse => Err(Unconfirmed::Refused),
            },
            () = tokio::time::sleep(limit) => Err(Unconfirmed::TimedOut),
            () = cancel.cancelled() => Err(Unconfirmed::Cancelled),
        }
    }
}

impl Unconfirmed {
    /// The message for the Agent.
    pub(crate) fn explain(self, tool: &str) -> String {
        match self {
            Self::NoConfirmer => {
                format!(
                    "tool '{tool}' needs a confirmation: its owner has not set auto_apply for it, and there is no confirmer"
                )
            }
            Self::Refused => format!("tool '{tool}' was refused by the owner of the computer"),
            Self::TimedOut => format!("tool '{tool}' needs a confirmation, and none came in time"),
            Self::Cancelled => format!("tool '{tool}' was cancelled"),
        }
    }
}
