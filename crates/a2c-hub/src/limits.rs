//! What the hub takes from a stranger at most.

/// Sizes and counts that bound foreign bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest request or answer that is passed on, in bytes, attachments included.
    pub max_payload: usize,
    /// How many binary attachments one packet may have.
    pub max_attachments: usize,
    /// How many packets may wait for a member that reads slowly.
    pub max_queued: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_payload: 16 << 20, max_attachments: 64, max_queued: 16_384 }
    }
}

impl Limits {
    /// Where a connection is cut instead of being told: a message must be read to be answered, up to this size.
    pub(crate) fn hard_max(&self) -> usize {
        self.max_payload.saturating_mul(4)
    }
}
