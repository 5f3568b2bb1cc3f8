//! The client side of MCP as a Computer uses it: sessions over standard streams, streamable HTTP and legacy SSE.
//!
//! It knows one server at a time. It must not know offices, rules about tools, the catalogue of a Computer or how servers
//! are supervised.
//!
//! A transport ([`stdio::start`], [`streamable::open`], [`sse::open`]) carries a [`Session`], whose [`Connection`] takes
//! requests: tool calls, pages of resources, contents of one. [`oauth`] signs in to streamable servers. Every failure is a
//! type: [`SessionError`] for a session, [`CallFailure`] for a request.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod call;
mod call_failure;
mod detail;
pub mod http;
mod large;
mod large_result;
mod listening;
pub mod log;
pub mod oauth;
mod owed;
pub mod paging;
mod progress;
mod redaction;
mod resource_list;
mod resources;
mod session;
pub mod sse;
pub mod stdio;
pub mod streamable;

pub use a2c_supervise::HeartbeatPolicy;
pub use call::{CallLimits, Connection, ToolAnswer, ToolCall};
pub use call_failure::{CallFailure, ExpectedAnswer};
pub use detail::Detail;
pub use large_result::{LargeResult, LargeResultFields};
pub use redaction::RedactModel;
pub use resources::{ResourcePage, ResourceSupport};
pub use rmcp::transport::Transport;
pub use rmcp::{RoleClient, model};
pub use session::{Degradation, Handshake, Session, SessionError, SessionErrorKind, SessionEvents, SessionOptions};
