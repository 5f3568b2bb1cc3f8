//! Documents by URL: `get_dpe` answers where a whole document can be fetched, never with the document itself.
//!
//! How a request flows: `resolutions` finds out whether the answer is known. If not, the document is read
//! from its MCP server; `source` tells what the server gave; `assemble` makes one JSON of a document that comes in pages;
//! and the [`DpeResolver`] that the owner chose puts it where Agents can fetch it. What it answers is completed,
//! remembered until the document changes or the address expires, and given to everybody who waits for it.
//!
//! Resolvers shipped: [`LocalDirectory`], [`HttpListener`], [`PassThrough`], and with the cargo feature `object-store`
//! `ObjectStore`. All of them hand on documents that are published already (external ones) as they are.

mod answer;
mod assemble;
mod clock;
mod directory;
mod failure;
mod fetch;
mod listener;
mod names;
mod pass_through;
mod private;
mod resolutions;
mod resolver;
mod shelf;
mod source;
#[cfg(feature = "object-store")]
mod store;
#[cfg(test)]
mod testing;

pub use directory::LocalDirectory;
pub use listener::{HttpListener, HttpOptions};
pub use pass_through::PassThrough;
pub use resolver::{Document, DpeContents, DpeResolver, ExternalDocument, ResolveError, ResolveHint};
#[cfg(feature = "object-store")]
pub use store::{ObjectStore, StoreError};

pub(crate) use assemble::{DocumentReader, ReadFailure};
pub(crate) use failure::DpeFailure;
pub(crate) use resolutions::{Resolutions, Wanted};
pub(crate) use shelf::ResolutionLimits;
