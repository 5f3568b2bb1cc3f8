//! The engine as its clients see it: foreign clients, raw sockets, streams that block, and many sockets at once.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod support;

mod foreign_clients;
mod heartbeat;
mod many_sockets;
mod official_suite;
mod polling;
mod streams;
mod upgrade;
mod websocket;
