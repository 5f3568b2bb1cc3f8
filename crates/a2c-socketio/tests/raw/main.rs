//! The client against servers made of bytes: what no well-behaved server sends, and what the
//! wire looks like from the other side.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

mod hostile_handshakes;
mod hostile_links;
mod queues;
mod retries;
