//! The resolvers against real directories, web servers and an S3 server.

#[cfg(unix)]
mod directory;
#[cfg(feature = "object-store")]
mod object_store;
mod support;
