//! `a2c agent browse`: leafing through the documents of a Computer, on a terminal.
//!
//! Everything that happens becomes an [`Action`](state::Action): a key (`keys`), the answer to a request (`ask`), news of
//! the office. [`State`](state::State) takes one action after the other and says what to ask for next; it does no I/O.
//! `view` draws a state and changes nothing. `run` holds the terminal and brings the four together, so that nothing that
//! is slow is ever waited for.

mod ask;
mod document;
mod keys;
mod list;
mod place;
mod run;
mod state;
mod view;
mod wrap;

pub(super) use document::rendering;
pub(super) use keys::help as keys_help;
pub(super) use run::Browse;
