//! The client against servers nobody here wrote: the Node `socket.io` server and `python-socketio`,
//! each over every transport. A scenario is written once and run for all six pairs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod peers;

mod binary;
mod close;
mod events;
mod handshake;
mod reconnect;
mod tls;
