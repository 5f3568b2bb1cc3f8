//! The engine as its clients see it: foreign clients, raw sockets, streams that block, and crowds.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod support;

mod crowd;
mod foreign;
mod narrow;
mod patience;
mod polling;
mod upgrade;
mod websocket;
