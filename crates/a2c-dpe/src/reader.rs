//! How documents are read: the one thing this crate needs of an MCP server.

use a2c_protocol::error::ErrorBody;
use serde_json::Value;

/// Reads from the MCP server that has a document.
pub trait DocumentReader: Clone + Send + Sync + 'static {
    /// The contents of the answer to `resources/read`.
    fn read(&self, uri: &str) -> impl Future<Output = Result<Vec<Value>, ReadError>> + Send;
}

/// Why a document, or a page of it, could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The MCP server says that there is no such document, page or element. The Agent gets this error.
    #[error(transparent)]
    Missing(Box<ErrorBody>),
    /// The MCP server is down or slow, or it refused. The Agent gets this reason.
    #[error("{0}")]
    Unavailable(String),
}
