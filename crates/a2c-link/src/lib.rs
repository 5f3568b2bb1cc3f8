//! The link of an Agent or a Computer to its hub: handshake, seat, requests.
//!
//! What both roles do alike lives here once: they say which version they speak and what they are, understand why a hub
//! refuses them, take a seat and take it again after a lost connection. What a role does with the events that arrive is
//! its own business. This crate must not know tools, MCP or documents.
//!
//! While a connection is lost, `token` says what to show to the hub next and `reconnect_log` whether the hub's refusal may
//! pass, and tells the owner why it takes so long.

mod error;
mod link;
mod link_ended;
mod options;
mod reconnect_log;
mod token;

pub use a2c_secrets::Secret;
pub use a2c_socketio::{
    AckReply, CertificateProblem, ClientCertificate, Closed, DisconnectReason, EmitError, Event, Inbox, Incoming,
    Payload, Reconnect, SocketConnectError, TlsFiles, Transport,
};
pub use error::{ConnectError, JoinError, RequestError};
pub use link::{Link, Seat};
pub use link_ended::LinkEnded;
pub use options::LinkOptions;
pub use token::{Token, TokenFileError};
