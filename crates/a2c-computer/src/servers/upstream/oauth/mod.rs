//! Signing in to streamable servers.

pub(crate) mod bearer;
mod store;

pub use store::{StoreError, TokenStore};
