//! The crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod policy_client;
mod tls;
