//! The hub as its clients see it: real sockets, every rule of the protocol, one behaviour per file.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod support;

mod acks;
mod admission;
mod answers;
mod backpressure;
mod binary;
mod books;
mod departures;
mod floods;
mod grants;
mod hostile;
mod instant;
mod joining;
mod leaving;
mod limits;
mod memory;
mod node;
mod operators;
mod order;
mod passing;
mod process;
mod refusals;
mod shutdown;
mod size;
mod slow;
mod tls;
mod updates;
mod upgrade;
mod version;
