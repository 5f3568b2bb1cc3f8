//! The Desktop: what an Agent sees of the `window://` resources of all MCP servers.
//!
//! A resource that a server lists becomes a [`ListedWindow`]: its identity, how much it matters, and what the server
//! should be told about it. With its contents read it is a [`Window`], and [`organize_desktop`] turns all windows into
//! the strings of the answer. Nothing here reads, waits or logs: what deserves a warning is returned as a
//! [`WindowWarning`], and the caller, who knows the server, says it.

mod organise;
mod server_order;
mod window;

pub use organise::{Window, organize_desktop};
pub(crate) use server_order::servers_by_use;
pub use window::{ListedWindow, WindowWarning};
