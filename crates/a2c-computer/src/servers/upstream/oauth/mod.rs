//! Signing in to streamable servers, with the MCP library's OAuth: discovery, registration, PKCE, refresh.
//!
//! [`login()`] sends the owner's browser to the authorisation server, waits on a `landing` page of its own for the answer
//! and puts the tokens on a `shelf`, which is a [`TokenStore`] seen through the library's eyes. A connection's `bearer`
//! takes them from there and renews them. What is asked of an authorisation server goes through `outside`: its addresses
//! come from somebody else. The library tells some of its secrets to the log, hence it is not listened to while it holds
//! them.

pub(crate) mod bearer;
mod files;
mod landing;
mod login;
mod outside;
mod shelf;
mod store;

pub use files::FileStore;
pub use login::{LoginError, login, logout};
pub use store::{StoreError, TokenStore};

/// How long before its end a token is renewed, at most.
const MARGIN_SECONDS: u64 = 30;
