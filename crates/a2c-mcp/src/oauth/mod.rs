//! Signing in to streamable servers, with the MCP library's OAuth: discovery, registration, PKCE, refresh.
//!
//! [`login()`] sends the owner's browser to the authorisation server, waits on a `callback` page of its own for the answer
//! and keeps the tokens as a `sign_in` in a [`TokenStore`]. A connection's `bearer` takes the token from there and renews
//! it; the `challenge` of a refusal waits there for the next sign-in. Requests to an authorisation server go through `authorization_http`, because the MCP server names the addresses.
//! The library writes some of its secrets to the log, hence its log is switched off while it holds them.

mod authorization_http;
pub(crate) mod bearer;
mod callback;
pub(crate) mod challenge;
mod files;
mod login;
mod sign_in;
mod store;

pub use authorization_http::AddressError;
pub use bearer::SignInError;
pub use files::FileStore;
pub use login::{LoginError, LogoutError, login, logout};
pub use store::{TokenStore, TokenStoreError};

/// How long before its end a token is renewed, at most.
const MARGIN_SECONDS: u64 = 30;
