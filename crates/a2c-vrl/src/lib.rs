//! Runs the owner's program in the Vector Remap Language over the results of an MCP server's tools.
//!
//! It must not know MCP, servers or configuration: it gets a program's text and a result.
//!
//! A [`Program`] is compiled once and applied to every result. The event it works on (`.`) is the result as it travels to
//! the Agent, plus the name and parameters of the call. The outcome is the event after the run, as JSON text. The result
//! itself is never changed, and a program that fails changes nothing.
//!
//! Without the cargo feature `vrl` the type exists, and every program is refused when it is compiled. So callers are the
//! same in both builds.

mod error;
#[cfg(feature = "vrl")]
mod functions;
#[cfg(feature = "vrl")]
mod nesting;
#[cfg(feature = "vrl")]
mod program;
#[cfg(not(feature = "vrl"))]
mod unsupported;

pub use error::{CompileError, ProgramRunError};
#[cfg(feature = "vrl")]
pub use program::Program;
#[cfg(not(feature = "vrl"))]
pub use unsupported::Program;

/// The example of the README is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
