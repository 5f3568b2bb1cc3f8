//! The Desktop: what an Agent sees of the `window://` resources of all MCP servers.
//!
//! A resource that a server lists becomes a [`ListedWindow`]: its identity, how much it matters, and what the server
//! should be told about it. With its contents read it is a [`Window`], and [`organize_desktop`] turns all windows into
//! the strings of the answer. Nothing here reads, waits or logs: warnings are returned as
//! [`WindowWarning`], and the caller, which knows the server, logs them.

mod listed_window;
mod organise;

pub use listed_window::{ListedWindow, WindowWarning};
pub use organise::{Window, organize_desktop};
