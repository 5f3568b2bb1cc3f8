//! Dials until a link is up, or until the policy or the owner ends the attempts.

use std::time::Duration;

use tokio::time::sleep;
use tracing::debug;

use crate::dial::{Dialer, Established};
use crate::error::SocketConnectError;
use crate::inbox::Closed;
use crate::reconnect::ReconnectBackoff;
use crate::retry::FailedAttempt;

/// Attempts under a policy.
pub(crate) struct Redial {
    pub(crate) backoff: ReconnectBackoff,
    /// Whether there was no link yet.
    pub(crate) is_first_link: bool,
}

/// Why there are no more attempts.
pub(crate) struct AttemptsEnded {
    pub(crate) error: SocketConnectError,
    /// How many were made, where the policy allows no more. Otherwise the owner judged that another one is pointless.
    pub(crate) gave_up_after: Option<u32>,
}

impl Redial {
    /// Dials after this delay, and after each failure again.
    pub(crate) async fn run(&mut self, dialer: &mut Dialer, mut delay: Duration) -> Result<Established, AttemptsEnded> {
        loop {
            debug!(?delay, "waiting before the next attempt");
            sleep(delay).await;
            let error = match dialer.redial().await {
                Ok(established) => return Ok(established),
                Err(error) => error,
            };
            debug!(%error, "connecting failed");
            let is_allowed = self.backoff.failed();
            delay = self.delay();
            let next_in = is_allowed.then_some(delay);
            let failed = FailedAttempt::new(&error, self.backoff.failures, next_in, self.is_first_link);
            if !(dialer.options.retry)(&failed) {
                return Err(AttemptsEnded { error, gave_up_after: None });
            }
            if !is_allowed {
                return Err(AttemptsEnded { error, gave_up_after: Some(self.backoff.failures) });
            }
        }
    }

    /// The next delay, drawn by chance.
    pub(crate) fn delay(&mut self) -> Duration {
        self.backoff.delay(fastrand::f64())
    }
}

impl From<AttemptsEnded> for Closed {
    fn from(ended: AttemptsEnded) -> Self {
        match ended.gave_up_after {
            Some(attempts) => Closed::GaveUp { attempts, last: ended.error },
            None => Closed::Refused(ended.error),
        }
    }
}
