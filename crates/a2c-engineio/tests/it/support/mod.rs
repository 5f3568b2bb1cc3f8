//! A server for a test, and clients that send raw frames or plain HTTP.

mod http;
mod raw_websocket;
mod server;

pub(crate) use a2c_testbed::{PATIENCE, within};
pub(crate) use http::{Polling, answer, exchange};
pub(crate) use raw_websocket::{RawWebsocket, frame};
pub(crate) use server::{Server, config};
