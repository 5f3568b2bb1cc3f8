//! Why a lost connection does not come back: told to the owner, each reason once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How many reasons one incident may have before the log is left in peace: a peer that makes up a new one for every
/// attempt must not fill it.
const MAX_REASONS: usize = 16;

/// The time from the loss of a connection to its return.
#[derive(Default)]
pub(crate) struct Incident {
    told: Mutex<HashSet<String>>,
}

/// What becomes of a connection after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlook<'a> {
    /// Trying again changes nothing.
    Hopeless,
    /// The reason may pass.
    Passing,
    /// The credential is refused, and this file may hold another one any moment.
    AwaitsToken(&'a Path),
}

impl Incident {
    /// Whether to go on after a failed attempt; `attempt` counts from 1 for every incident.
    pub(crate) fn goes_on(&self, attempt: u32, reason: &str, outlook: Outlook<'_>) -> bool {
        match outlook {
            Outlook::Hopeless => return false,
            _ if !self.is_news(attempt, reason) => {}
            Outlook::Passing => tracing::warn!(reason, "cannot reconnect to the hub yet; trying again"),
            Outlook::AwaitsToken(file) => tracing::warn!(
                reason,
                file = %file.display(),
                "cannot reconnect to the hub; has the token expired? Trying again with what its file holds then"
            ),
        }
        true
    }

    fn is_news(&self, attempt: u32, reason: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if attempt == 1 {
            told.clear();
        }
        // The seconds that are left to wait make no new reason.
        let reason: String = reason.chars().filter(|c| !c.is_ascii_digit()).collect();
        told.len() < MAX_REASONS && told.insert(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once_per_incident() {
        let incident = Incident::default();
        let attempts = [(1, "gone", true), (2, "gone", false), (3, "wait 9 s", true), (4, "wait 10 s", false)];
        for (attempt, reason, is_news) in attempts.into_iter().chain(attempts) {
            assert_eq!(incident.is_news(attempt, reason), is_news, "{attempt} {reason}");
        }
    }

    #[test]
    fn invented_reasons_come_to_an_end() {
        let incident = Incident::default();
        let told = (1..1000).filter(|n| incident.is_news(*n, &"x".repeat(*n as usize))).count();
        assert_eq!(told, MAX_REASONS);
    }
}
