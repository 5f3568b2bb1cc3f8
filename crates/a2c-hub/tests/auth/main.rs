//! Signed tokens: which ones are taken, and what they permit.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod mint;

mod claims;
mod discretion;
mod foreign;
mod handshake;
mod signatures;
