//! A member as raw frames on a websocket.
//!
//! Tens of thousands of members live in this process beside the server that is measured, so each is one socket with
//! small buffers and no task of its own. Nothing stands between a measurement and the wire: what the server sends twice
//! is seen twice.

mod link;
mod packet;
mod seat;

pub use link::{Broken, Buffer, Link};
pub use packet::{Kind, Packet, field};
pub use seat::{NotSeated, OFFICE_IDS, Seat};
