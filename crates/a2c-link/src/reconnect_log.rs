//! Logs why there is no connection yet and when the next attempt is, each reason once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use a2c_socketio::FailedAttempt;

/// The number of reasons that are logged for one lost connection: a peer with a new reason for every attempt must not
/// fill the log.
const MAX_REASONS: usize = 16;

/// The reasons that were logged since the connection was lost.
pub(crate) struct ReconnectLog {
    /// The URL of the hub, without credentials.
    hub: String,
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
    /// The log of the connection to one hub.
    pub(crate) fn new(hub: String) -> Self {
        Self { hub, told: Mutex::default() }
    }

    /// Whether to go on after a failed attempt.
    pub(crate) fn should_retry(&self, failed: &FailedAttempt<'_>, reason: &str, outlook: RetryOutlook<'_>) -> bool {
        if outlook == RetryOutlook::Hopeless {
            return false;
        }
        // Where the policy allows no other attempt, the end of the connection says why.
        let Some(next_in) = failed.next_in.map(seconds) else { return true };
        let hub = &*self.hub;
        match outlook {
            _ if !self.is_new(failed.number, reason) => {
                tracing::debug!(hub, reason, next_in, "there is still no connection to the hub; trying again");
            }
            RetryOutlook::AwaitsToken(file) => tracing::warn!(
                hub,
                reason,
                file = %file.display(),
                next_in,
                "cannot reconnect to the hub; has the token expired? Trying again with what its file holds then"
            ),
            _ if failed.is_first_link => {
                tracing::warn!(hub, reason, next_in, "cannot connect to the hub yet; trying again until it answers");
            }
            _ => tracing::warn!(hub, reason, next_in, "cannot reconnect to the hub yet; trying again"),
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

/// A pause for people.
fn seconds(pause: Duration) -> String {
    format!("{:.1} s", pause.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_logged_once_per_lost_connection() {
        let reconnect_log = ReconnectLog::new("http://h".into());
        let attempts = [(1, "gone", true), (2, "gone", false), (3, "wait 9 s", true), (4, "wait 10 s", false)];
        for (attempt, reason, is_new) in attempts.into_iter().chain(attempts) {
            assert_eq!(reconnect_log.is_new(attempt, reason), is_new, "{attempt} {reason}");
        }
    }

    #[test]
    fn the_number_of_logged_reasons_is_bounded() {
        let reconnect_log = ReconnectLog::new("http://h".into());
        let told = (1..1000).filter(|n| reconnect_log.is_new(*n, &"x".repeat(*n as usize))).count();
        assert_eq!(told, MAX_REASONS);
    }
}
