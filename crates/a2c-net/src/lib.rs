//! Outgoing connections: which addresses they may reach, the TLS of a client, and the HTTP client.
//!
//! It must not know MCP, Socket.IO, documents or configuration, and accepts no connections.
//!
//! [`AddressKind`] says what an address is, [`AddressPolicy`] which kinds a caller allows. [`PolicyClient`] is an HTTP
//! client for URLs that others chose: it judges the URL, every redirect and every address behind a name, and reaches no
//! listener that is [`OffLimits`]. [`tls`] and
//! [`http_client`] are the set-up that all clients have in common.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod address;
mod client;
mod judge;
mod lookup;
mod off_limits;
mod policy;
mod policy_resolver;
pub mod tls;

pub use address::AddressKind;
pub use client::{HttpClientError, PolicyClient, USER_AGENT, http_client};
pub use judge::{UrlRefusal, is_this_machine, judge_url, literal_address};
pub use lookup::{LookupError, lookup};
pub use off_limits::OffLimits;
pub use policy::AddressPolicy;
