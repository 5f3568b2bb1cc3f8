//! The link of an Agent or a Computer to its hub: handshake, seat, requests.
//!
//! This crate holds what both roles do alike: they send their version, role and credential, explain why a hub refuses
//! them, take a seat, and take it again after a lost connection. The role itself handles the events that arrive. This
//! crate must not know tools, MCP or documents.
//!
//! While a connection is lost, `token` provides the credential of the next attempt, and `reconnect_log` decides whether
//! another attempt makes sense and logs why it is needed.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod answer;
mod answer_text;
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
pub use answer_text::AnswerText;
pub use error::{ConnectError, JoinError, RequestError};
pub use link::{Link, Seat};
pub use link_ended::LinkEnded;
pub use options::LinkOptions;
pub use token::{Token, TokenFileError};
