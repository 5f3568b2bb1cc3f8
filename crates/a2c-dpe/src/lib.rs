//! Documents by URL: puts a document where an Agent can fetch it, and answers with the address, never with the document.
//!
//! It must not know MCP sessions, MCP servers or offices: it reads a document through the [`DocumentReader`] it is given.
//!
//! How a request flows: [`Resolutions`] looks whether an earlier answer still holds. If not, the document is read;
//! `read_answer` tells what the MCP server gave; `assemble` makes one JSON of a document that comes in pages; and the
//! [`DpeResolver`] that the owner chose publishes it. `answer` completes what the resolver left out. The answer is cached
//! until the document changes or the address expires, and goes to every request that waits for this document.
//!
//! Resolvers: [`LocalDirectory`], [`HttpListener`], and with the cargo feature `object-store` `ObjectStore`. All of them
//! hand on external documents, which their MCP server has published itself, as they are.

mod answer;
mod assemble;
mod clock;
mod directory;
mod error;
mod fetch;
mod file_names;
mod listener;
mod private_files;
mod read_answer;
mod reader;
mod resolutions;
mod resolver;
#[cfg(feature = "object-store")]
mod store;
#[cfg(test)]
mod testing;

/// For implementing [`DpeResolver`].
pub use async_trait::async_trait;
pub use directory::LocalDirectory;
pub use error::GetDpeError;
pub use listener::{HttpListener, HttpOptions};
pub use reader::{DocumentReader, ReadError};
pub use resolutions::{ResolutionLimits, Resolutions, ResolveRequest};
pub use resolver::{DpeContents, DpeResolver, ExternalDocument, ResolveError, ResolveHint, SourceDocument};
#[cfg(feature = "object-store")]
pub use store::{ObjectStore, ObjectStoreError};

/// The example of the README is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
