//! What a resolver is: it puts a document where an Agent can fetch it, and says where that is.

use std::error::Error;
use std::fmt;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::uri::DpeDocumentUri;
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Map;

use super::names::sha256;

/// Puts documents where Agents can fetch them.
///
/// ```
/// use a2c_computer::async_trait;
/// use a2c_computer::dpe::{Document, DpeContents, DpeResolver, ResolveError};
/// use a2c_computer::protocol::context::A2cResource;
///
/// /// Hands documents to a service of ours.
/// struct Intranet;
///
/// #[async_trait]
/// impl DpeResolver for Intranet {
///     async fn resolve(&self, document: &Document) -> Result<A2cResource, ResolveError> {
///         match &document.contents {
///             DpeContents::Inline(json) => {
///                 // … upload `json` …
///                 let uri = format!("https://docs.example.org/{}.json", document.etag);
///                 Ok(document.at(uri))
///             }
///             DpeContents::External(elsewhere) => Ok(elsewhere.answer()),
///             _ => Err(ResolveError::new("this kind of document is not known here")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait DpeResolver: Send + Sync {
    /// Publishes a document and says where. Only `uri` has to be set: name, description, type, size, annotations and
    /// etag are filled in where they are left out. An address that expires says so in `_meta.expires_at` (RFC 3339).
    ///
    /// Never called twice at a time for one document. It stops, at any `await`, when everybody who asked has given up.
    async fn resolve(&self, document: &Document) -> Result<A2cResource, ResolveError>;

    /// Whether an earlier answer can still be fetched. One that cannot is not given again.
    async fn still_holds(&self, resource: &A2cResource) -> bool {
        let _ = resource;
        true
    }

    /// An earlier answer will not be given again, since its document changed or is gone. What is kept for it may go.
    fn outdated(&self, resource: &A2cResource) {
        let _ = resource;
    }

    /// The Computer stops: what should not outlive it goes.
    async fn close(&self) {}
}

/// A document to be published.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Document {
    /// Which document.
    pub uri: DpeDocumentUri,
    /// The resource as its MCP server listed it; where it did not, one with nothing but the URI.
    pub resource: Resource,
    /// What it says, or where that is.
    pub contents: DpeContents,
    /// Names this state of the document: it changes when the document does.
    pub etag: String,
    /// Who wants it, and from where it comes.
    pub hint: ResolveHint,
}

impl Document {
    /// A document that no server listed: for the tests of a resolver.
    pub fn new(uri: DpeDocumentUri, contents: DpeContents) -> Self {
        let etag = match &contents {
            DpeContents::Inline(json) => sha256(json),
            DpeContents::External(elsewhere) => elsewhere.state().to_owned(),
        };
        Self { resource: unlisted(&uri), uri, contents, etag, hint: ResolveHint::default() }
    }

    /// The answer that this document is at `uri`; everything else is filled in later.
    pub fn at(&self, uri: impl Into<String>) -> A2cResource {
        bare(uri.into())
    }
}

/// What an MCP server gave for a document.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DpeContents {
    /// The whole document as JSON text.
    Inline(Bytes),
    /// It is published already.
    External(ExternalDocument),
}

/// A document that its MCP server has published itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExternalDocument {
    /// Where: an absolute URI of any scheme but those that carry their content, or a program, in themselves.
    pub uri: String,
    /// Of which type.
    pub mime_type: Option<String>,
    /// How large, in bytes.
    pub size: Option<u64>,
    /// Until when, RFC 3339.
    pub expires_at: Option<String>,
    /// In which state.
    pub etag: Option<String>,
}

impl ExternalDocument {
    /// A document of which only the address is known.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, size: None, expires_at: None, etag: None }
    }

    /// What names its state: the etag, and where there is none, the address.
    pub(super) fn state(&self) -> &str {
        self.etag.as_deref().unwrap_or(&self.uri)
    }

    /// The answer that hands it on as it is.
    pub fn answer(&self) -> A2cResource {
        A2cResource { mime_type: self.mime_type.clone(), size: self.size, ..bare(self.uri.clone()) }
    }
}

/// Circumstances that a resolver may want to know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResolveHint {
    /// The MCP server that has the document.
    pub mcp_server_name: String,
    /// The Agent that asked first.
    pub agent: String,
    /// Its request.
    pub req_id: String,
}

/// Why a document could not be published.
///
/// The message travels to the Agent: what happened and what to do, without credentials and without internal addresses.
/// The source is for the log of the Computer's owner.
#[derive(Debug)]
pub struct ResolveError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ResolveError {
    /// An error with a message for people.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// The same, with what caused it.
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

/// What is known of a document that its server does not list.
pub(super) fn unlisted(uri: &DpeDocumentUri) -> Resource {
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
