//! The decisions of the owner about reconnecting: which failures deserve another attempt, and which authentication
//! payload the next attempt sends.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::error::SocketConnectError;

/// A failed attempt to make a link: to replace a lost one or, with [`crate::Options::retry_first`], to make the first.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedAttempt<'a> {
    /// Why.
    pub error: &'a SocketConnectError,
    /// How many have failed since the link was lost, this one included: 1 begins a new series.
    pub number: u32,
    /// The pause before the next attempt; `None` where the policy allows no other.
    pub next_in: Option<Duration>,
    /// Whether there was no link yet.
    pub is_first_link: bool,
}

impl<'a> FailedAttempt<'a> {
    /// An attempt that failed.
    pub fn new(error: &'a SocketConnectError, number: u32, next_in: Option<Duration>, is_first_link: bool) -> Self {
        Self { error, number, next_in, is_first_link }
    }
}

/// See [`crate::Options::retry_when`].
pub(crate) type RetryDecision = Arc<dyn Fn(&FailedAttempt<'_>) -> bool + Send + Sync>;

/// The authentication payload of the namespace handshake.
#[derive(Clone, Default)]
pub(crate) enum AuthSource {
    #[default]
    None,
    Fixed(Box<RawValue>),
    /// Asked for before every handshake.
    Asked(Arc<dyn Fn() -> Box<RawValue> + Send + Sync>),
}

impl AuthSource {
    pub(crate) fn payload(&self) -> Option<Cow<'_, RawValue>> {
        match self {
            Self::None => None,
            Self::Fixed(payload) => Some(Cow::Borrowed(payload)),
            Self::Asked(ask) => Some(Cow::Owned(ask())),
        }
    }
}
