//! What the hub takes from a stranger at most.

/// Sizes and counts that bound foreign bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest request or answer that is passed on, in bytes, attachments included.
    pub max_payload: usize,
    /// How many binary attachments one packet may have.
    pub max_attachments: usize,
    /// How many calls of one Agent may wait for their answers.
    pub max_calls: usize,
    /// How many packets may wait for a member that reads slowly.
    pub max_queued: usize,
}

impl Limits {
    /// 16 MiB of content, and room for what stands around it.
    pub const DEFAULT_MAX_PAYLOAD: usize = (16 << 20) + (64 << 10);

    /// Where a connection is cut instead of being told: a message must be read to be answered, up to this size. Four
    /// times the limit also covers attachments that travel as base64.
    pub(crate) fn hard_max(&self) -> usize {
        self.max_payload.saturating_mul(4)
    }
}

impl Default for Limits {
    fn default() -> Self {
        // The queue holds more than all answers an Agent can wait for: when a Computer goes away with all of its calls,
        // they are answered in one go, and that must not look like an Agent that does not read.
        let max_calls = 1 << 17;
        Self { max_payload: Self::DEFAULT_MAX_PAYLOAD, max_attachments: 64, max_calls, max_queued: 2 * max_calls }
    }
}
