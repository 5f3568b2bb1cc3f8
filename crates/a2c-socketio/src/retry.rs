//! The decisions of the owner about reconnecting: which failures deserve another attempt, and which authentication
//! payload the next attempt sends.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::error::SocketConnectError;

/// A failed attempt to replace a lost link.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedAttempt<'a> {
    /// Why.
    pub error: &'a SocketConnectError,
    /// How many have failed since the link was lost, this one included: 1 begins a new series.
    pub number: u32,
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
