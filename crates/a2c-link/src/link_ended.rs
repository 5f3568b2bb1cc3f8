//! Why a connection to a hub ended for good.

use std::sync::Arc;

use a2c_protocol::Role;
use a2c_socketio::Closed;

use crate::error::{ConnectError, RefusalContext};

/// Why a connection to a hub ended for good. Cheap to clone.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LinkEnded {
    /// This side closed it.
    #[error("closed by this side")]
    Requested,
    /// The hub disconnected this side for good.
    #[error("an operator of the hub, or the hub itself, has disconnected this {role} for good")]
    Dismissed {
        /// The role of this side.
        role: Role,
    },
    /// The connection was lost and the options say not to reconnect.
    #[error("the connection was lost and reconnecting is turned off")]
    NoReconnect,
    /// The hub refused the next connection in a way that trying again cannot change.
    #[error("{}{}", .0, expired(.0))]
    Refused(#[source] Arc<ConnectError>),
    /// All allowed attempts failed.
    #[error("gave up reconnecting after {attempts} attempts: {last}")]
    GaveUp {
        /// How many attempts were made.
        attempts: u32,
        /// Why the last one failed.
        #[source]
        last: Arc<ConnectError>,
    },
    /// Another reason, which this version does not know.
    #[error("{0}")]
    Other(String),
}

/// A credential that was valid before has most likely expired.
fn expired(error: &ConnectError) -> &'static str {
    if matches!(error, ConnectError::Unauthorized) { "; has it expired?" } else { "" }
}

impl LinkEnded {
    pub(crate) fn new(closed: Closed, role: Role, context: &RefusalContext) -> Self {
        match closed {
            Closed::Requested => Self::Requested,
            Closed::ByServer => Self::Dismissed { role },
            Closed::NoReconnect => Self::NoReconnect,
            Closed::Refused(error) => Self::Refused(Arc::new(context.explain(error))),
            Closed::GaveUp { attempts, last } => Self::GaveUp { attempts, last: Arc::new(context.explain(last)) },
            other => Self::Other(other.to_string()),
        }
    }
}
