//! The A2C-SMCP Computer role: run MCP servers and answer for them.
//!
//! It must not depend on the hub or the Agent, and must not know command lines or terminals.
//!
//! ```no_run
//! use a2c_computer::config::ComputerConfig;
//! use a2c_computer::{Computer, ComputerOptions, LinkOptions, Seat};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let link = LinkOptions::new("http://127.0.0.1:7420");
//! let seat = Seat { office: "demo".into(), name: "desk".into() };
//! let options = ComputerOptions::new(link, seat, ComputerConfig::load("computer.json")?);
//! let mut computer = Computer::start(options).await?;
//! for (server, state) in computer.servers() {
//!     println!("{server}: {state}");
//! }
//! println!("over: {}", computer.ended().await);
//! computer.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! How a call flows: `responder` receives it from the hub, decodes it and finds out whether it is new; `tools` finds out
//! which server and tool is meant and whether it may run; `servers` holds the connection that runs it; the result goes back
//! as the acknowledgement. How a change flows: a server's task marks the change; `core` puts the list of all tools together
//! again; `announcer` tells the office. After a lost connection the Computer connects and takes its seat again by itself.
//!
//! While it runs, its owner operates it through a [`ComputerHandle`]. No request waits on a server that it did not name.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod announcer;
mod catalogue;
mod computer;
pub mod config;
mod config_file;
mod context;
#[cfg(unix)]
pub mod control;
mod core;
pub mod diagnosis;
mod handle;
mod hub_reply;
pub mod inputs;
mod responder;
mod seat_name;
mod servers;
mod tools;

pub use a2c_dpe as dpe;
pub use a2c_finder::{desktop, finder};
pub use a2c_link::{
    ClientCertificate, ConnectError, JoinError, LinkEnded, LinkOptions, Reconnect, RequestError, Seat, Secret,
    TlsFiles, Token, TokenFileError, Transport,
};
pub use a2c_mcp::log::{LogLine, LogSource, ServerLog};
pub use a2c_mcp::{HeartbeatPolicy, oauth};
pub use a2c_process::{GuardianError, GuardianProgram, Processes, guard};
pub use a2c_protocol as protocol;
/// For implementing the asynchronous traits of this crate, such as [`Confirmer`] and [`dpe::DpeResolver`].
pub use async_trait::async_trait;
pub use computer::{Computer, ComputerOptions, Ended, StartError};
pub use config_file::{ConfigFile, ConfigSaveError, ReloadError};
pub use core::HubLink;
pub use handle::{ComputerHandle, OperateError, ServerStatus, ToolAccess, ToolStatus};
pub use seat_name::file_name_of;
pub use servers::{FailureCause, ServerFailure, ServerState};
pub use servers::{NameTaken, ServerLimits};
pub use tools::confirm::{CallToConfirm, Confirmation, Confirmer, Verdict};
pub use tools::history::PastCall;
pub use tools::pins::{Approval, OpenError as PinsError, PendingChange, ToolChanges};
