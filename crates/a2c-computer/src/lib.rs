//! The A2C-SMCP Computer role: run MCP servers and answer for them.
//!
//! ```no_run
//! use a2c_computer::config::ComputerConfig;
//! use a2c_computer::{Computer, ComputerOptions, Confirmation, LinkOptions, Seat};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut computer = Computer::start(ComputerOptions {
//!     link: LinkOptions::new("http://127.0.0.1:7420"),
//!     seat: Seat { office: "demo".into(), name: "desk".into() },
//!     config: ComputerConfig::load("computer.json")?,
//!     confirmation: Confirmation::Refuse,
//! })
//! .await?;
//! for (server, state) in computer.servers() {
//!     println!("{server}: {state}");
//! }
//! println!("over: {}", computer.ended().await);
//! computer.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! How a call flows: `office` receives it from the hub and decodes it, `tools` finds out which server and tool is meant
//! and whether it may run, `servers` holds the connection that runs it, and the result goes back as the acknowledgement.
//! After a lost connection the Computer connects and takes its seat again by itself.
//!
//! For contributors: this crate must not depend on the hub or the Agent. No request waits on a server it did not name.

mod computer;
pub mod config;
mod office;
mod servers;
mod tools;

pub use a2c_link::{
    ClientCertificate, ConnectError, Ended as LinkEnded, JoinError, LinkOptions, Reconnect, RequestError, Seat, Secret,
    TlsFiles, Token, TokenFileError, Transport,
};
pub use a2c_protocol as protocol;
pub use computer::{Computer, ComputerOptions, Ended, StartError};
pub use servers::state::ServerState;
pub use tools::gate::Confirmation;
