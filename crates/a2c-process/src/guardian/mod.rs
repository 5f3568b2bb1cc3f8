//! The guardian: a process that outlives its owner for a moment and ends what the owner leaves behind when it is killed.
//!
//! [`client`] is the owner's side: it starts the guardian and tells it which process groups there are. [`main`] is what
//! the guardian process itself runs.

pub(crate) mod client;
pub(crate) mod main;
