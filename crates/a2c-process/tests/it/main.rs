//! Real processes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod frames;
mod run;
mod tree;
mod worker;
