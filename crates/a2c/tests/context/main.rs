//! Desktop, Finder, resources and documents, through hub, Computer and Agent, with servers made of the Python `mcp`
//! package.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod desktop;
mod documents;
mod errors;
mod example;
mod finder;
mod library;
mod news;
mod resources;
mod sdk;
#[path = "../stage/mod.rs"]
mod stage;
mod warnings;
