//! The program and its roles as users meet them, a module per behaviour.
//!
//! `program` runs `a2c` as a process of its own; `in_process` has hub, Computer and Agent in the process of the test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "a test says which SDK it ran")]

mod in_process;
mod program;

mod audit;
mod cli;
mod computer_cli;
mod computer_config;
mod connection;
mod context;
mod context_cli;
mod context_real;
mod control;
mod documents;
mod help;
mod hostile_mcp;
mod interop_python;
mod issuer_keys;
mod large_messages;
mod leaky;
mod left_behind;
mod logging;
mod mistakes;
mod nothing_lost;
mod once;
mod operating;
mod real_servers;
mod refusals;
mod sdk;
mod server;
mod server_check;
mod server_settings;
mod token;
mod trace;
mod unruly;
