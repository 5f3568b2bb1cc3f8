//! MCP servers that are reached over HTTP: streamable HTTP, the older HTTP with server-sent events, and signing in.
//!
//! `outgoing` builds the client whose requests carry the owner's headers and never leave the server's origin. `streamable`
//! gives the MCP library's transport a `wire` of our own, `sse` is a transport of its own; both read `events` with
//! limits on size and silence, and `mend` answers that are none, so that no call waits for them. What goes wrong is a
//! [`fault::Fault`]; [`refusal()`] finds out of any of the library's errors whether the server refused who asked.
//! `oauth` signs in and keeps the tokens that the wire sends.

mod events;
mod fault;
mod mend;
pub mod oauth;
pub(crate) mod outgoing;
mod refusal;
pub(crate) mod sse;
pub(crate) mod streamable;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use refusal::{Refusal, RefusalKind, plain, plain_start, refusal};

/// The longest message a server may send. Larger than what a hub passes on: what is read can be refused by name.
const MESSAGE_LIMIT: usize = 64 << 20;
