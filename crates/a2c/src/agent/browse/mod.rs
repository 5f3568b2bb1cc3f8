//! `a2c agent browse`: leafing through the documents of a Computer, on a terminal.
//!
//! Everything that happens becomes an [`Action`](state::Action): a key (`keys`), the answer to a query (`load`), an event of
//! the office. [`BrowserState`](state::BrowserState) takes one action after the other and returns the queries to send
//! next; it does no I/O. `view` draws a state and changes nothing. `run` holds the terminal and connects the four, so
//! that a slow answer never blocks a key.

mod document;
mod item;
mod keys;
mod list;
mod load;
mod location;
mod query;
mod run;
mod state;
mod view;
mod wrap;

pub(super) use document::rendering;
pub(super) use keys::help as keys_help;
pub(super) use run::Browse;
