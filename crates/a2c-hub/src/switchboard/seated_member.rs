//! A member in its seat, as its office sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use a2c_protocol::Version;

use crate::office::{ConnId, MemberSeat};
use crate::route::calls::CallId;
use crate::telemetry::ClientIdentity;

/// A member in its seat.
pub(crate) struct SeatedMember<M> {
    pub(crate) conn: ConnId,
    pub(crate) identity: ClientIdentity,
    pub(crate) seat: MemberSeat,
    pub(crate) version: Option<Version>,
    pub(crate) mailbox: M,
    pub(crate) call_numbers: Arc<CallNumbers>,
}

impl<M> SeatedMember<M> {
    /// The id of the next call to this member.
    pub(crate) fn next_call(&self) -> CallId {
        self.call(self.call_numbers.next())
    }

    /// The id of the call with this number to this member.
    pub(crate) fn call(&self, number: u64) -> CallId {
        CallId { computer: self.conn, number }
    }
}

/// The numbers of the calls to one connection. Each Computer has its own, from which it learns nothing of the others; they
/// go on when it takes another seat, so that a late answer belongs to no other call.
#[derive(Debug, Default)]
pub(crate) struct CallNumbers(AtomicU64);

impl CallNumbers {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
