//! The public interface as a Computer uses it: listed resources in, answers out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod order;
