//! Bounds on what one client may send and hold.

pub(crate) mod address_limits;
pub(crate) mod token_bucket;

use std::time::Duration;

/// Room for the head of a packet: its kind, namespace and id.
const MAX_HEAD: usize = 1 << 10;

/// Sizes, counts and rates that bound what one client can do to the others.
///
/// The hub answers a request over a limit with 429 and the name of the limit. It disconnects a client only at ten times
/// a rate, or at sixteen times the largest payload (four times over HTTP long-polling).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HubLimits {
    /// The largest request or answer that is passed on, in bytes, attachments included.
    pub max_payload: usize,
    /// The number of binary attachments that one packet may have. Node's client reads no more than ten.
    pub max_attachments: usize,
    /// The number of calls of one Agent that may be in flight.
    pub max_calls: usize,
    /// The bytes that may wait for a member that reads slowly; beyond them the hub refuses requests to it.
    pub max_backlog: usize,
    /// The bytes of large messages that the hub holds over all connections. Beyond them it reads less from each
    /// connection. One office may hold a quarter of them, and half of that for its announcements.
    pub max_memory: usize,
    /// The number of connections, and of sessions, from one address.
    pub connections_per_address: Option<usize>,
    /// The rate of requests of one connection.
    pub requests: Option<Rate>,
    /// The rate of attempts of one connection to join an office.
    pub joins: Option<Rate>,
    /// The rate of wrong credentials from one address.
    pub failed_connects: Option<Rate>,
    /// The rate at which announcements of one office are delivered, counted for each receiver. Beyond it they wait, and
    /// repeated ones are delivered once.
    pub deliveries: Option<Rate>,
}

/// A count per period; after a pause the whole count may come at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The count.
    pub count: u32,
    /// The period.
    pub period: Duration,
}

impl Rate {
    /// A count per second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, period: Duration::from_secs(1) }
    }

    /// A count per minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, period: Duration::from_secs(60) }
    }
}

impl HubLimits {
    /// 16 MiB of content, and 64 KiB for the fields around it.
    pub const DEFAULT_MAX_PAYLOAD: usize = (16 << 20) + (64 << 10);

    /// The limits of a hub that other machines can reach.
    pub const fn public() -> Self {
        Self {
            max_calls: 4096,
            connections_per_address: Some(512),
            requests: Some(Rate::per_second(500)),
            joins: Some(Rate::per_minute(60)),
            failed_connects: Some(Rate::per_minute(20)),
            deliveries: Some(Rate::per_second(20_000)),
            ..Self::local()
        }
    }

    /// The limits of a hub that only programs on the same machine can reach: sizes are bounded, rates are not.
    pub const fn local() -> Self {
        Self {
            max_payload: Self::DEFAULT_MAX_PAYLOAD,
            max_attachments: 10,
            max_calls: 1 << 17,
            max_backlog: 32 << 20,
            max_memory: 512 << 20,
            connections_per_address: None,
            requests: None,
            joins: None,
            failed_connects: None,
            deliveries: None,
        }
    }

    /// The largest message that the hub keeps: the payload, and the head of its packet. Of larger ones it keeps only what it
    /// needs to answer them.
    pub(crate) fn max_message(&self) -> usize {
        self.max_payload.saturating_add(MAX_HEAD)
    }
}
