//! The client against foreign servers (`interop`) and against servers that send raw bytes (`raw`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod interop;
mod raw;
