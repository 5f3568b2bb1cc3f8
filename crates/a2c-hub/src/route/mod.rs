//! Routing: calls in flight, and the fields that the hub reads and writes in a payload.

pub(crate) mod calls;
pub(crate) mod envelope;
pub(crate) mod placeholders;
