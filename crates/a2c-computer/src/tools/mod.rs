//! Tools: which there are, under which names, which may run, and running them.

pub(crate) mod call;
pub(crate) mod gate;
pub(crate) mod listing;
