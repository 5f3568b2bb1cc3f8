//! The resolver trait: a resolver puts a document where an Agent can fetch it, and says where that is.

use std::error::Error;
use std::fmt;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::uri::DpeDocumentUri;
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Map;

use crate::file_names::sha256;

/// Puts documents where Agents can fetch them.
///
/// ```
/// use a2c_dpe::{SourceDocument, DpeContents, DpeResolver, ResolveError, async_trait};
/// use a2c_protocol::context::A2cResource;
///
/// /// Uploads documents to our intranet.
/// struct Intranet;
///
/// #[async_trait]
/// impl DpeResolver for Intranet {
///     async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
///         match &document.contents {
///             DpeContents::Inline(json) => {
///                 // … upload `json` …
///                 let uri = format!("https://docs.example.org/{}.json", document.etag);
///                 Ok(document.at(uri))
///             }
///             DpeContents::External(external) => Ok(external.answer()),
///             _ => Err(ResolveError::new("this kind of document cannot be published here")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait DpeResolver: Send + Sync {
    /// Publishes a document and says where. Only `uri` has to be set: name, description, type, size, annotations and
    /// etag are filled in where they are left out. An address that expires says so in `_meta.expires_at` (RFC 3339).
    ///
    /// It is never called twice at a time for one document. It is dropped, at any `await`, when no request waits for the
    /// answer any more.
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError>;

    /// Whether an earlier answer can still be fetched. One that cannot is not given again.
    async fn still_holds(&self, resource: &A2cResource) -> bool {
        let _ = resource;
        true
    }

    /// An earlier answer will not be given again, since its document changed or is gone. What was published for it may be
    /// removed.
    fn outdated(&self, resource: &A2cResource) {
        let _ = resource;
    }

    /// The Computer stops: the resolver removes what should not outlive it.
    async fn close(&self) {}
}

/// A document to be published, as its MCP server gives it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SourceDocument {
    /// Which document.
    pub uri: DpeDocumentUri,
    /// The resource as its MCP server lists it. For a document that is not listed, it has only the URI.
    pub resource: Resource,
    /// The document, or where it is published.
    pub contents: DpeContents,
    /// Names this state of the document: it changes when the document does.
    pub etag: String,
    /// The Agent that wants it, and the MCP server that has it.
    pub hint: ResolveHint,
}

impl SourceDocument {
    /// A document that no server listed: for the tests of a resolver.
    pub fn new(uri: DpeDocumentUri, contents: DpeContents) -> Self {
        let etag = match &contents {
            DpeContents::Inline(json) => sha256(json),
            DpeContents::External(external) => external.state().to_owned(),
        };
        Self { resource: unlisted(&uri), uri, contents, etag, hint: ResolveHint::default() }
    }

    /// The answer that this document is at `uri`; everything else is filled in later.
    pub fn at(&self, uri: impl Into<String>) -> A2cResource {
        bare(uri.into())
    }
}

/// The contents of a document, as its MCP server gave them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DpeContents {
    /// The whole document as JSON text.
    Inline(Bytes),
    /// The MCP server has published it.
    External(ExternalDocument),
}

/// A document that its MCP server has published itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExternalDocument {
    /// Its address: an absolute URI of any scheme but those that are themselves content (`data:`) or a program.
    pub uri: String,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// When the address expires, as an RFC 3339 time.
    pub expires_at: Option<String>,
    /// Names the state of the document.
    pub etag: Option<String>,
}

impl ExternalDocument {
    /// A document of which only the address is known.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, size: None, expires_at: None, etag: None }
    }

    /// What names its state: the etag, or the address if there is none.
    pub(crate) fn state(&self) -> &str {
        self.etag.as_deref().unwrap_or(&self.uri)
    }

    /// The answer that hands the document on as it is.
    pub fn answer(&self) -> A2cResource {
        A2cResource { mime_type: self.mime_type.clone(), size: self.size, ..bare(self.uri.clone()) }
    }
}

/// The request that caused a resolution, for resolvers that want to know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResolveHint {
    /// The MCP server that has the document.
    pub mcp_server_name: String,
    /// The Agent that asked first.
    pub agent: String,
    /// The id of its request.
    pub req_id: String,
}

/// Why a document could not be published.
///
/// The message goes to the Agent: it says what happened and what to do, without credentials and internal addresses.
/// The source goes to the log of the Computer.
#[derive(Debug)]
pub struct ResolveError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ResolveError {
    /// An error with a message for the Agent.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// The same error with its source.
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ResolveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// The resource of a document that its MCP server does not list.
pub(crate) fn unlisted(uri: &DpeDocumentUri) -> Resource {
    Resource {
        uri: uri.to_string(),
        name: String::new(),
        title: None,
        description: None,
        mime_type: None,
        size: None,
        annotations: None,
        meta: None,
        extra: Map::new(),
    }
}

fn bare(uri: String) -> A2cResource {
    A2cResource { uri, name: None, description: None, mime_type: None, size: None, annotations: None, meta: None }
}
