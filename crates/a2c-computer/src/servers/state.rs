//! The state of one MCP server, and how it changes. Pure.

use std::fmt;

/// Where a server is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// It is being started; its tools are being listed.
    Starting,
    /// It answers.
    Ready,
    /// It runs, but something is wrong with it.
    Degraded {
        /// What is wrong.
        reason: String,
    },
    /// It does not run, though it should.
    Failed {
        /// Why, and the last lines it wrote to standard error.
        reason: String,
    },
    /// Its owner switched it off.
    Disabled,
    /// The Computer ended it for good.
    Stopped,
}

/// What can happen to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Happening {
    /// An attempt to start it has begun.
    Begun,
    /// It answers as it should.
    Well,
    /// It runs, but not as it should.
    Unwell(String),
    /// It ended, or could not be started.
    Ended(String),
    /// Its owner switched it off.
    SwitchedOff,
    /// The Computer wants it no more.
    Dismissed,
}

impl ServerState {
    /// The state after something happened. News of a run that is already over changes nothing.
    pub(crate) fn after(&self, happening: Happening) -> Self {
        match (self, happening) {
            (Self::Stopped, _) | (_, Happening::Dismissed) => Self::Stopped,
            (_, Happening::SwitchedOff) => Self::Disabled,
            (_, Happening::Begun) => Self::Starting,
            (Self::Starting | Self::Ready | Self::Degraded { .. }, Happening::Well) => Self::Ready,
            (Self::Ready | Self::Degraded { .. }, Happening::Unwell(reason)) => Self::Degraded { reason },
            (Self::Starting | Self::Ready | Self::Degraded { .. }, Happening::Ended(reason)) => Self::Failed { reason },
            (state, Happening::Well | Happening::Unwell(_) | Happening::Ended(_)) => state.clone(),
        }
    }

    /// Whether an attempt to start it has come to something.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// Whether it can be asked.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Ready | Self::Degraded { .. })
    }

    /// Whether its tools are offered: those of a server that runs, or that is to run again, as they were last listed.
    pub fn is_wanted(&self) -> bool {
        !matches!(self, Self::Disabled | Self::Stopped)
    }

    /// Its name, in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded { .. } => "degraded",
            Self::Failed { .. } => "failed",
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
        }
    }

    /// What is wrong, where something is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Degraded { reason } | Self::Failed { reason } => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self.reason() {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_meets_every_happening() {
        use Happening::{Begun, Dismissed, Ended, SwitchedOff, Unwell, Well};
        use ServerState::{Disabled, Ready, Starting, Stopped};
        let degraded = || ServerState::Degraded { reason: "old".into() };
        let failed = || ServerState::Failed { reason: "old".into() };
        let happenings = || [Begun, Well, Unwell("new".into()), Ended("new".into()), SwitchedOff, Dismissed];
        let table = [
            (Starting, ["starting", "ready", "starting", "failed: new", "disabled", "stopped"]),
            (Ready, ["starting", "ready", "degraded: new", "failed: new", "disabled", "stopped"]),
            (degraded(), ["starting", "ready", "degraded: new", "failed: new", "disabled", "stopped"]),
            (failed(), ["starting", "failed: old", "failed: old", "failed: old", "disabled", "stopped"]),
            (Disabled, ["starting", "disabled", "disabled", "disabled", "disabled", "stopped"]),
            (Stopped, ["stopped"; 6]),
        ];
        for (state, expected) in table {
            for (happening, expected) in happenings().into_iter().zip(expected) {
                let told = format!("{state} after {happening:?}");
                assert_eq!(state.after(happening).to_string(), expected, "{told}");
            }
        }
    }
}
