//! The control socket: how the owner of a running Computer operates it from elsewhere on the same machine.
//!
//! [`ControlSocket`] makes its file in a folder of the owner (`socket_folder`) before the Computer starts;
//! [`ControlSocket::serve`] then answers, each connection by a `session` that reads [`wire`] requests and has `operate` do
//! them with a [`ComputerHandle`](crate::ComputerHandle). [`ControlClient`] is the other end.
//!
//! Only the owner may open the folder and the socket, and both ends check the user of the other one.

mod about;
mod answers;
mod client;
mod operate;
mod session;
mod socket;
mod socket_folder;
pub mod wire;

pub use about::About;
pub use client::{ControlClient, ControlClientError, Running, running};
pub use socket::{BindError, Control, ControlSocket};
pub use socket_folder::{folder, socket_in};
