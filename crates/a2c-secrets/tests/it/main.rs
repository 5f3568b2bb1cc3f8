//! The crate as its users see it.

mod redaction;
