//! The A2C-SMCP Agent role: call tools and follow an office.
//!
//! [`Agent`] asks; [`Agent::subscribe`] listens. Requests go through the hub to the Computer they name and come back as
//! the structure asked for or as the error that was sent instead. This crate must not depend on MCP: what a tool is, an
//! Agent learns from its Computer.

mod agent;
mod cancel;
mod news;

pub use a2c_link::{ConnectError, JoinError, LinkOptions, Reconnect, RequestError, Secret, SocketError, Transport};
pub use a2c_protocol as protocol;
pub use agent::Agent;
pub use news::News;
