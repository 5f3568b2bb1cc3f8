//! The Agent through a real hub, opposite a Computer that answers as each test says.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod context;
mod documents;
mod dpe;
mod follow;
mod office;
