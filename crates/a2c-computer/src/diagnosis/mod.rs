//! Diagnosis: what is wrong with the servers of a Computer, and what to do about it.
//!
//! `cause` classifies a failure, `readiness` says whether a server can be used, and `diagnose` goes through
//! everything there is to see of all servers. All of that is pure. `examine` is where the facts come from: a Computer that
//! runs, or the servers of a file, each started for the purpose.

mod cause;
mod diagnose;
mod examine;

use serde::{Deserialize, Serialize};

use a2c_protocol::tool::ToolMeta;

use crate::config::ComputerConfig;
use crate::servers::ServerState;
use cause::Cause;

#[cfg(unix)]
pub(crate) use examine::of_running;
pub use examine::{DiagnosisOptions, of_file};

/// Whether a server can be used. The order is from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It answers.
    Ready,
    /// It does not, but that may pass by itself.
    Transient,
    /// It takes a person.
    Blocked,
    /// There is no such server, or no Computer to ask.
    Unknown,
}

impl Readiness {
    /// What a program that checks it exits with.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ready => 0,
            Self::Transient => 10,
            Self::Blocked => 11,
            Self::Unknown => 12,
        }
    }

    /// Its name, in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Transient => "transient",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }
}

/// How serious something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// All is well.
    Ok,
    /// It works, but the owner should look at it.
    Warning,
    /// It does not work.
    Problem,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The server it is about; `None` for all of them.
    pub server: Option<String>,
    /// How serious it is.
    pub grade: Grade,
    /// What it is.
    pub what: String,
    /// What to do about it; empty where nothing is to be done.
    pub advice: String,
}

/// What does not work comes first, what is well last.
fn worst_first(found: &mut [Diagnosis]) {
    found.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.grade));
}

/// Whether a configuration marks any tool of a server that is switched on to run without asking, or has no such server.
pub fn runs_some_unasked(config: &ComputerConfig) -> bool {
    let mut servers = config.servers.values().filter(|server| !server.disabled).peekable();
    let is_marked = |meta: &ToolMeta| meta.auto_apply == Some(true);
    servers.peek().is_none()
        || servers.any(|server| server.default_tool_meta.iter().chain(server.tool_meta.values()).any(is_marked))
}

/// Whether a server can be used, and what a person has to do where its state does not say so itself.
#[cfg_attr(not(unix), expect(dead_code, reason = "told through the control socket"))]
pub(crate) fn readiness(server: &str, state: &ServerState, quarantined: usize) -> (Readiness, Option<String>) {
    match state {
        ServerState::Disabled => {
            (Readiness::Blocked, Some(format!("it is switched off: a2c computer enable {server}")))
        }
        ServerState::Stopped => (Readiness::Unknown, None),
        ServerState::Failed { reason } if Cause::of(reason).needs_a_person() => (Readiness::Blocked, None),
        _ if quarantined > 0 => {
            let told = format!("{quarantined} of its tools changed and are held back: a2c computer changes");
            (Readiness::Blocked, Some(told))
        }
        ServerState::Starting | ServerState::Unloaded | ServerState::Degraded { .. } | ServerState::Failed { .. } => {
            (Readiness::Transient, None)
        }
        ServerState::Ready => (Readiness::Ready, None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2c_mcp::stdio::StdioStartError;
    use a2c_mcp::{Degradation, SessionError};

    use super::*;
    use crate::inputs::{InputFailure, InputFailureKind};
    use crate::servers::FailureCause;

    #[test]
    fn the_worst_counts() {
        use Readiness::{Blocked, Ready, Transient, Unknown};
        let codes = [Ready, Transient, Blocked, Unknown].map(Readiness::exit_code);
        assert_eq!(codes, [0, 10, 11, 12]);
        assert_eq!([Transient, Unknown, Ready, Blocked].into_iter().max(), Some(Unknown));
    }

    #[test]
    fn what_a_server_takes_to_be_ready() {
        let check = |state: &ServerState, quarantined, expected| {
            assert_eq!(readiness("s", state, quarantined).0, expected, "{state}");
        };
        let failed = |cause: FailureCause| ServerState::Failed { reason: Arc::new(cause.into()) };
        let degraded = Degradation::MissedPings(1);
        check(&ServerState::Ready, 0, Readiness::Ready);
        check(&ServerState::Ready, 1, Readiness::Blocked);
        check(&ServerState::Starting, 0, Readiness::Transient);
        let reason = Arc::new(FailureCause::Degraded(degraded).into());
        check(&ServerState::Degraded { reason }, 0, Readiness::Transient);
        check(&failed(SessionError::HungUp.into()), 0, Readiness::Transient);
        let no_value = InputFailure::of_test(InputFailureKind::NoValue { id: "k".into() });
        check(&failed(no_value.into()), 0, Readiness::Blocked);
        let encoding = StdioStartError::Encoding { encoding: "latin-1".into() };
        check(&failed(encoding.into()), 0, Readiness::Blocked);
        check(&ServerState::Disabled, 0, Readiness::Blocked);
        check(&ServerState::Stopped, 0, Readiness::Unknown);
    }
}
