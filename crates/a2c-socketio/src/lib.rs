//! A Socket.IO 5 / Engine.IO 4 client over tokio: one namespace per connection, events and
//! acknowledgements in both directions, binary attachments, and a link that comes back.
//!
//! This crate is a general transport. It must not depend on, or know of, any protocol spoken
//! above Socket.IO.
//!
//! ```no_run
//! use a2c_socketio::{Client, Incoming, Options, Payload};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::new("http://127.0.0.1:3000").namespace("/chat");
//! let (client, mut inbox) = Client::connect(options).await?;
//! let answer = client
//!     .call("greet", Payload::json("hello")?, Duration::from_secs(5))
//!     .await?;
//! println!("{}", answer.get::<String>(0)?);
//! while let Some(incoming) = inbox.recv().await {
//!     if let Incoming::Event(event) = incoming
//!         && let Some(ack) = event.ack
//!     {
//!         ack.send(Payload::json("seen")?).await?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How data flows
//!
//! * [`Client::connect`] dials once: the engine handshake (`engine`), then the namespace
//!   handshake (`dial`). A failure is returned, never retried.
//! * One background task (`connection_task`) then owns the link. It runs a session (`session`): a
//!   reader that turns frames into packets (`packet_assembler`), and a writer that drains the bounded
//!   outgoing queue in batches. When the link ends it dials again as the [`Reconnect`] policy says,
//!   for as long as [`Options::retry_when`] wants it.
//! * An arriving acknowledgement goes straight to the [`Client::call`] that waits for it; events
//!   and changes of state go to the [`Inbox`] in the order of their arrival.
//! * Everything that belongs to one link (queue, ack numbers, waiters) lives in one `Conn`
//!   value (`conn`) that dies with the link, so nothing of an old link can reach a new one.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod client;
mod close;
mod conn;
mod connection_task;
mod dial;
mod engine;
mod error;
mod inbox;
mod network_failure;
mod options;
mod packet;
mod packet_assembler;
mod payload;
mod reconnect;
mod redial;
mod retry;
mod session;
mod tls;

pub use client::Client;
pub use conn::AckReply;
pub use error::{
    CallError, CertificateProblem, ConnectRefusal, DisconnectReason, EmitError, HttpRefusal, InvalidOptions,
    PayloadError, SocketConnectError,
};
pub use inbox::{Closed, Event, Inbox, Incoming};
pub use options::{Options, Transport};
pub use payload::{Payload, Placeholder};
pub use reconnect::Reconnect;
pub use retry::FailedAttempt;
pub use tls::{ClientCertificate, TlsFiles};
