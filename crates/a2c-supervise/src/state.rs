//! The state of one worker, and how it changes. Pure.

use std::fmt;

/// The state of a worker. `F` says what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState<F> {
    /// A start has begun and has not succeeded or failed yet.
    Starting,
    /// It works.
    Ready,
    /// It works, with a defect.
    Degraded {
        /// The defect.
        reason: F,
    },
    /// It should run and does not.
    Failed {
        /// Why.
        reason: F,
    },
    /// It ended because it was not used; [`Supervisor::wake`](crate::Supervisor::wake) starts it again.
    Unloaded,
    /// It is switched off.
    Disabled,
    /// It ended for good.
    Stopped,
}

/// What can happen to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateEvent<F> {
    /// A start has begun.
    Started,
    /// It works as it should.
    Ready,
    /// It works, with a defect.
    Degraded(F),
    /// It ended, or could not be started.
    Failed(F),
    /// It ended because it was not used.
    Unloaded,
    /// It was switched off.
    Disabled,
    /// It ended for good.
    Stopped,
}

impl<F: Clone> WorkerState<F> {
    /// The state after an event. An event of a run that is already over changes nothing.
    pub fn after(&self, event: StateEvent<F>) -> Self {
        let is_running = matches!(self, Self::Starting | Self::Ready | Self::Degraded { .. });
        match (self, event) {
            (Self::Stopped, _) | (_, StateEvent::Stopped) => Self::Stopped,
            (_, StateEvent::Disabled) => Self::Disabled,
            (_, StateEvent::Started) => Self::Starting,
            (_, StateEvent::Ready) if is_running => Self::Ready,
            (Self::Ready | Self::Degraded { .. }, StateEvent::Degraded(reason)) => Self::Degraded { reason },
            (_, StateEvent::Failed(reason)) if is_running => Self::Failed { reason },
            (_, StateEvent::Unloaded) if is_running => Self::Unloaded,
            (state, _) => state.clone(),
        }
    }
}

impl<F> WorkerState<F> {
    /// Whether the last start has succeeded or failed.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// Whether the worker works.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Ready | Self::Degraded { .. })
    }

    /// Whether the worker runs or is meant to run again.
    pub fn is_wanted(&self) -> bool {
        !matches!(self, Self::Disabled | Self::Stopped)
    }

    /// The state in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded { .. } => "degraded",
            Self::Failed { .. } => "failed",
            Self::Unloaded => "unloaded",
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
        }
    }

    /// What is wrong with a degraded or failed worker.
    pub fn reason(&self) -> Option<&F> {
        match self {
            Self::Degraded { reason } | Self::Failed { reason } => Some(reason),
            _ => None,
        }
    }
}

impl<F: fmt::Display> fmt::Display for WorkerState<F> {
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
    fn every_state_meets_every_event() {
        let events = || {
            [
                StateEvent::Started,
                StateEvent::Ready,
                StateEvent::Degraded("new"),
                StateEvent::Failed("new"),
                StateEvent::Unloaded,
                StateEvent::Disabled,
                StateEvent::Stopped,
            ]
        };
        let degraded = WorkerState::Degraded { reason: "old" };
        let failed = WorkerState::Failed { reason: "old" };
        let running = ["starting", "ready", "degraded: new", "failed: new", "unloaded", "disabled", "stopped"];
        let table = [
            (
                WorkerState::Starting,
                ["starting", "ready", "starting", "failed: new", "unloaded", "disabled", "stopped"],
            ),
            (WorkerState::Ready, running),
            (degraded, running),
            (failed, ["starting", "failed: old", "failed: old", "failed: old", "failed: old", "disabled", "stopped"]),
            (
                WorkerState::Unloaded,
                ["starting", "unloaded", "unloaded", "unloaded", "unloaded", "disabled", "stopped"],
            ),
            (
                WorkerState::Disabled,
                ["starting", "disabled", "disabled", "disabled", "disabled", "disabled", "stopped"],
            ),
            (WorkerState::Stopped, ["stopped"; 7]),
        ];
        for (state, expected) in table {
            for (event, expected) in events().into_iter().zip(expected) {
                assert_eq!(state.after(event.clone()).to_string(), expected, "{state} after {event:?}");
            }
        }
    }
}
