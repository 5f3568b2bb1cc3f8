//! The A2C-SMCP Computer role: run MCP servers and answer for them.
//!
//! How a call flows: `office` receives it from the hub and decodes it, `tools` finds out which server and tool is
//! meant and whether it may run, `servers` holds the connection that runs it, and the result goes back as the
//! acknowledgement. Configuration is read once by `config`; what leaves the Computer is redacted there.
//!
//! This crate must not depend on the hub or the Agent. No request waits on a server it did not name.

mod computer;
pub mod config;
mod office;
mod servers;
mod tools;

pub use a2c_link::{ConnectError, JoinError, LinkOptions, Reconnect, RequestError, Seat, Secret, Transport};
pub use a2c_protocol as protocol;
pub use computer::{Computer, ComputerOptions, Ended, StartError};
pub use servers::state::ServerState;
pub use tools::gate::Confirmation;
