//! Routing: calls in flight, and what the hub reads and stamps in a payload on its way through.

pub(crate) mod calls;
pub(crate) mod envelope;
