//! Secret values, wiped from memory when they are dropped and never printed, and their redaction from text and JSON.
//!
//! It must not know configuration, MCP or files: it is given values and texts.
//!
//! A [`Secret`] is a text, a [`SecretJson`] any JSON value. A [`Redactor`] replaces known secrets by [`REDACTED`] in
//! log lines, error messages and results, in every spelling that software on the way may give them.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod json;
mod json_text;
mod redactor;
mod secret;
mod spelling;

pub use json::SecretJson;
pub use redactor::Redactor;
pub use secret::{REDACTED, Secret};
