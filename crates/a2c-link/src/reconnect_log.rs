//! Logs why a lost connection does not come back, each reason once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The number of reasons that are logged for one lost connection: a peer with a new reason for every attempt must not
/// fill the log.
const MAX_REASONS: usize = 16;

/// The reasons that were logged since the connection was lost.
#[derive(Default)]
pub(crate) struct ReconnectLog {
    told: Mutex<HashSet<String>>,
}

/// What to expect of further attempts after a failed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryOutlook<'a> {
    /// Another attempt would fail as well.
    Hopeless,
    /// Another attempt may succeed.
    Passing,
    /// The hub refuses the credential, and this file may hold another one at any moment.
    AwaitsToken(&'a Path),
}

impl ReconnectLog {
    /// Whether to go on after a failed attempt; `attempt` counts from 1 for every lost connection.
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
        // Texts that differ only in their numbers, such as seconds to wait, are the same reason.
        let reason: String = reason.chars().filter(|c| !c.is_ascii_digit()).collect();
        told.len() < MAX_REASONS && told.insert(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_logged_once_per_lost_connection() {
        let reconnect_log = ReconnectLog::default();
        let attempts = [(1, "gone", true), (2, "gone", false), (3, "wait 9 s", true), (4, "wait 10 s", false)];
        for (attempt, reason, is_new) in attempts.into_iter().chain(attempts) {
            assert_eq!(reconnect_log.is_new(attempt, reason), is_new, "{attempt} {reason}");
        }
    }

    #[test]
    fn the_number_of_logged_reasons_is_bounded() {
        let reconnect_log = ReconnectLog::default();
        let told = (1..1000).filter(|n| reconnect_log.is_new(*n, &"x".repeat(*n as usize))).count();
        assert_eq!(told, MAX_REASONS);
    }
}
