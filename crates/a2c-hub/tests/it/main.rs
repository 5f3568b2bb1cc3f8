//! The hub as its clients and operators see it: real sockets and files, one behaviour per module.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod support;

mod acks;
mod admission;
mod answers;
mod audit;
mod auth;
mod backpressure;
mod binary;
mod departures;
mod engineio_suite;
mod fairness;
mod first_events;
mod floods;
mod grants;
mod hostile;
mod joining;
mod leaving;
mod limits;
mod memory;
mod metrics;
mod node_client;
mod operators;
mod order;
mod pass_through;
mod payload_size;
mod proxy_protocol;
mod refusals;
mod shutdown;
mod slow_members;
mod telemetry;
mod tls;
mod traces;
mod updates;
mod upgrade;
mod version;
