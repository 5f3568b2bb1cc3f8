//! The resolvers against real directories, web servers and an S3 server.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod directory;
#[cfg(feature = "object-store")]
mod object_store;
mod support;
