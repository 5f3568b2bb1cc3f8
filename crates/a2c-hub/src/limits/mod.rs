//! What the hub takes from a stranger at most.

pub(crate) mod address_limits;
pub(crate) mod token_bucket;

use std::time::Duration;

/// Sizes, counts and rates that bound what one client can do to everybody.
///
/// None of them ends a connection by itself: a request over a limit is answered with 429, and says which limit it was.
/// Only who goes on at ten times a rate, or sends four times the largest payload, is disconnected.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HubLimits {
    /// The largest request or answer that is passed on, in bytes, attachments included.
    pub max_payload: usize,
    /// How many binary attachments one packet may have.
    pub max_attachments: usize,
    /// How many calls of one Agent may wait for their answers.
    pub max_calls: usize,
    /// How many bytes may wait for a member that reads slowly before requests to it are refused.
    pub max_backlog: usize,
    /// How many bytes of large messages the hub holds over all connections, on their way in and again on their way out,
    /// before it takes less from each and lets them wait.
    pub max_memory: usize,
    /// How many connections, and how many sessions, may come from one address.
    pub connections_per_address: Option<usize>,
    /// How many requests a connection may make.
    pub requests: Option<Rate>,
    /// How many times a connection may try to join an office.
    pub joins: Option<Rate>,
    /// How many wrong credentials may come from one address.
    pub failed_connects: Option<Rate>,
}

/// So many per period, and as many at once after a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// How many.
    pub count: u32,
    /// In which time.
    pub period: Duration,
}

impl Rate {
    /// So many per second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, period: Duration::from_secs(1) }
    }

    /// So many per minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, period: Duration::from_secs(60) }
    }
}

impl HubLimits {
    /// 16 MiB of content, and room for what stands around it.
    pub const DEFAULT_MAX_PAYLOAD: usize = (16 << 20) + (64 << 10);

    /// For a hub that everybody can reach.
    pub const fn public() -> Self {
        Self {
            max_calls: 4096,
            connections_per_address: Some(512),
            requests: Some(Rate::per_second(500)),
            joins: Some(Rate::per_minute(60)),
            failed_connects: Some(Rate::per_minute(20)),
            ..Self::local()
        }
    }

    /// For a hub that only programs on the same machine can reach: sizes are bounded, rates are not.
    pub const fn local() -> Self {
        Self {
            max_payload: Self::DEFAULT_MAX_PAYLOAD,
            max_attachments: 64,
            max_calls: 1 << 17,
            max_backlog: 32 << 20,
            max_memory: 512 << 20,
            connections_per_address: None,
            requests: None,
            joins: None,
            failed_connects: None,
        }
    }

    /// Where a connection is cut instead of being told: a message must be read to be answered, up to this size. Four
    /// times the limit also covers attachments that travel as base64.
    pub(crate) fn hard_max(&self) -> usize {
        self.max_payload.saturating_mul(4)
    }
}
