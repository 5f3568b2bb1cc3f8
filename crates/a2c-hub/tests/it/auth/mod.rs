//! Signed tokens: which ones the hub accepts, and what they permit.

mod issuer;
mod tokens;

mod claims;
mod handshake;
mod key_sets;
mod pyjwt;
mod remote_keys;
mod secrecy;
mod signatures;
