//! Reshaping results: the Vector Remap Language program of a server (`vrl` in its configuration).
//!
//! A [`Program`] is compiled once, when the configuration is loaded, and applied to every result of the server's tools.
//! The event it works on (`.`) is the result as it travels to the Agent, plus the name and parameters of the call where
//! the caller gives them; what the event has become when the program ends is returned as JSON text, for the result's
//! meta. The result itself is never changed, and a program that fails changes nothing.
//!
//! Without the cargo feature `vrl` the type is there and cannot be had, so that callers are the same in both builds.

#[cfg(not(feature = "vrl"))]
mod absent;
#[cfg(feature = "vrl")]
mod library;
#[cfg(feature = "vrl")]
mod nesting;
#[cfg(feature = "vrl")]
mod program;

#[cfg(not(feature = "vrl"))]
pub(crate) use absent::Program;
#[cfg(feature = "vrl")]
pub(crate) use program::Program;
