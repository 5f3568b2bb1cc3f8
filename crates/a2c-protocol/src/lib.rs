//! The A2C-SMCP 0.2 wire: events, structures, error codes, version rules and URIs.
//!
//! Pure data and pure functions. This crate does no I/O, has no async, holds no clock and no lock, and depends on
//! serde and little else, so that every role (and a fuzzer) can use it as it is.
//!
//! How a payload becomes a value: the transport hands over JSON text, [`request::decode`] turns the payload of a
//! request into its structure or into the 400 that names the offending field, [`answer::decode`] turns an
//! acknowledgement into the structure asked for or into the [`error::ErrorBody`] it carried.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod answer;
pub mod config;
pub mod context;
pub mod document;
pub mod error;
pub mod event;
pub mod notification;
pub mod office;
pub mod request;
pub mod seconds;
pub mod tool;
mod tool_schema;
pub mod trace;
pub mod tree_size;
pub mod uri;
pub mod version;

pub use error::{ErrorBody, ErrorCode};
pub use office::Role;
pub use version::{PROTOCOL_VERSION, Version};

/// The Socket.IO namespace in which everything happens.
pub const NAMESPACE: &str = "/smcp";

/// The HTTP path of the handshake that our clients use unless told otherwise.
pub const DEFAULT_PATH: &str = "/smcp";
