//! What streamable HTTP, legacy SSE and OAuth have in common: parameters, requests, event streams, and their failures.
//!
//! `parameters` reads what the owner wrote, `client` builds an HTTP client whose requests carry the owner's headers and
//! never leave the server's origin, and `request` sends one request. `events` reads an event stream with limits on size
//! and silence; `repair` turns an answer that is not MCP into an error for the request that waits for it. Every failure
//! is an [`HttpError`]; [`http_error`] finds it behind an error of the MCP library.

mod access;
mod client;
mod error;
pub(crate) mod events;
mod parameters;
pub(crate) mod repair;
pub(crate) mod request;

pub use access::{AccessError, AccessReason, Credentials};
pub use client::HttpSetupError;
pub(crate) use client::client;
pub use error::{HttpError, NotMcp, http_error};
pub use parameters::ParameterError;
pub(crate) use parameters::{address, headers, limit};
