//! Signed tokens: which ones the hub accepts, and what they permit.

mod tokens;

mod claims;
mod handshake;
mod pyjwt;
mod secrecy;
mod signatures;
