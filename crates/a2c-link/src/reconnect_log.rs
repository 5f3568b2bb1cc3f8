//! Why a lost connection does not come back: told to the owner, each reason once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How many reasons one reconnect_log may have before the log is left in peace: a peer that makes up a new one for every
/// attempt must not fill it.
const MAX_REASONS: usize = 16;

/// The time from the loss of a connection to its return.
#[derive(Default)]
pub(crate) struct ReconnectLog {
    told: Mutex<HashSet<String>>,
}

/// What becomes of a connection after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryOutlook<'a> {
    /// Trying again changes nothing.
    Hopeless,
    /// The reason may pass.
    Passing,
    /// The credential is refused, and this file may hold another one any moment.
    AwaitsToken(&'a Path),
}

impl ReconnectLog {
    /// Whether to go on after a failed attempt; `attempt` counts from 1 for every reconnect_log.
    pub(crate) fn should_retry(&self, attempt: u32, reason: &str, outlook: RetryOutlook<'_>) -> bool {
        match outlook {
            RetryOutlook::Hopeless => return false,
            _ if !self.is_new(attempt, reason) => {}
            RetryOutlook::Passing => tracing::warn!(reason, "cannot reconnect to the hub yet; trying again"),
            RetryOutlook::AwaitsToken(file) => tracing::warn!(
                reason,
                file = %file.display(),
                "cannot reconnect to the hub; has the token expired? Trying again with what its file holds then"
            ),
        }
        true
    }

    fn is_new(&self, attempt: u32, reason: &str) -> bool {
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
        let reconnect_log = ReconnectLog::default();
        let attempts = [(1, "gone", true), (2, "gone", false), (3, "wait 9 s", true), (4, "wait 10 s", false)];
        for (attempt, reason, is_new) in attempts.into_iter().chain(attempts) {
            assert_eq!(reconnect_log.is_new(attempt, reason), is_new, "{attempt} {reason}");
        }
    }

    #[test]
    fn invented_reasons_come_to_an_end() {
        let reconnect_log = ReconnectLog::default();
        let told = (1..1000).filter(|n| reconnect_log.is_new(*n, &"x".repeat(*n as usize))).count();
        assert_eq!(told, MAX_REASONS);
    }
}
