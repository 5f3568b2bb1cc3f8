//! The control socket: how the owner of a running Computer operates it from elsewhere on the same machine.
//!
//! [`ControlSocket`] takes a place in the file system (`place`) before the Computer starts; [`ControlSocket::serve`] then
//! answers everybody who may ask, each connection by a `session` that reads [`wire`] requests and has `operate` do them
//! with a [`ComputerHandle`](crate::ComputerHandle). [`Client`] is the other end.
//!
//! The folder is the owner's alone, so is the socket, and both ends look at who the other one is.

mod client;
mod operate;
mod place;
mod session;
mod socket;
pub mod wire;

pub use client::{Client, ClientError, Running, running};
pub use place::{PlaceError, folder, socket_in};
pub use socket::{About, BindError, Control, ControlSocket};
