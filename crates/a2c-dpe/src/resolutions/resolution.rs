//! One resolution of one document: whether it is needed, the reading, the publishing, the answer.

use std::error::Error;
use std::sync::Arc;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::error::ResolutionFailure;
use a2c_protocol::uri::DpeDocumentUri;
use bytes::Bytes;

use super::cache::{CachedAnswer, given_until};
use super::{Inner, Outcome, ResolveRequest};
use crate::answer;
use crate::assemble::assemble;
use crate::error::GetDpeError;
use crate::file_names::sha256;
use crate::read_answer::{ReadAnswer, classify};
use crate::reader::DocumentReader;
use crate::resolver::{DpeContents, ResolveError, ResolveHint, SourceDocument, unlisted};

/// A document of this size or more is hashed on a thread for blocking work.
const LARGE: usize = 1 << 20;

/// Everything that a resolution needs. It borrows nothing from the requests that wait for it.
pub(super) struct Resolution<R> {
    inner: Arc<Inner>,
    number: u64,
    uri: DpeDocumentUri,
    listed: Option<Resource>,
    hint: ResolveHint,
    is_watched: bool,
    reader: R,
}

/// A state of a document, as its server gave it.
struct DocumentState {
    contents: DpeContents,
    etag: String,
    /// Whether the same etag means the same state. An address that stands for an etag does not.
    etag_is_reliable: bool,
}

impl<R> Drop for Resolution<R> {
    fn drop(&mut self) {
        self.inner.ended(&self.uri, self.number);
    }
}

impl<R: DocumentReader> Resolution<R> {
    pub(super) fn new(inner: Arc<Inner>, number: u64, request: &ResolveRequest<'_>, reader: R) -> Self {
        let ResolveRequest { uri, listed, hint, is_watched, .. } = request;
        let (uri, listed, hint) = ((*uri).clone(), listed.clone(), hint.clone());
        Self { inner, number, uri, listed, hint, is_watched: *is_watched, reader }
    }

    pub(super) async fn run(self) -> Outcome {
        let cached = self.cached().await;
        if let Some(cached) = cached.as_ref().filter(|cached| self.is_watched && cached.is_watched) {
            return Ok(cached.answer.clone());
        }
        let state = self.read().await?;
        let etag = state.etag_is_reliable.then(|| state.etag.clone());
        if let Some(cached) = cached.filter(|cached| etag.is_some() && cached.etag == etag) {
            let answer = cached.answer.clone();
            self.inner.cache(&self.uri, self.number, CachedAnswer { is_watched: self.is_watched, ..cached });
            return Ok(answer);
        }
        let document = self.document(state);
        let given = self.inner.resolver.resolve(&document).await.map_err(|error| self.refused(&error))?;
        let answer = answer::complete(given, &document)?;
        self.cache(&answer, etag);
        Ok(answer)
    }

    /// The cached answer, if its address can still be fetched.
    async fn cached(&self) -> Option<CachedAnswer> {
        let cached = self.inner.state().cache.get(&self.uri).cloned()?;
        // Another server may have had a document of this name before.
        if cached.server != self.hint.mcp_server_name {
            return None;
        }
        let holds = cached.is_current(self.inner.clock.now()) && self.inner.resolver.still_holds(&cached.answer).await;
        holds.then_some(cached)
    }

    /// Reads the document, and its pages if it comes in pages.
    async fn read(&self) -> Result<DocumentState, GetDpeError> {
        let uri = self.uri_to_read();
        let limit = self.inner.limits.max_bytes;
        let contents = self.reader.read(&uri).await?;
        let json = match classify(&contents)? {
            ReadAnswer::Inline(text) if text.len() > limit => return Err(GetDpeError::too_large(limit)),
            ReadAnswer::Inline(text) => Bytes::copy_from_slice(text.as_bytes()),
            ReadAnswer::Paged(level1) => {
                assemble(&uri, &level1, self.listed.as_ref(), &self.reader, limit).await?.into()
            }
            ReadAnswer::External(external) => {
                let etag_is_reliable = external.etag.is_some();
                let etag = external.state().to_owned();
                return Ok(DocumentState { contents: DpeContents::External(external), etag, etag_is_reliable });
            }
        };
        drop(contents);
        let etag = if json.len() < LARGE {
            sha256(&json)
        } else {
            let json = json.clone();
            let hashed = tokio::task::spawn_blocking(move || sha256(&json)).await;
            hashed.expect("hashing does not fail")
        };
        Ok(DocumentState { contents: DpeContents::Inline(json), etag, etag_is_reliable: true })
    }

    /// The URI as the server lists it, if that names this document; else the URI as it was asked for.
    fn uri_to_read(&self) -> String {
        let listed = self.listed.as_ref().map(|resource| resource.uri.as_str());
        let own = listed.filter(|uri| DpeDocumentUri::parse_strict(uri).is_ok_and(|parsed| parsed == self.uri));
        own.map_or_else(|| self.uri.to_string(), str::to_owned)
    }

    fn document(&self, state: DocumentState) -> SourceDocument {
        let resource = self.listed.clone().unwrap_or_else(|| unlisted(&self.uri));
        let DocumentState { contents, etag, .. } = state;
        SourceDocument { uri: self.uri.clone(), resource, contents, etag, hint: self.hint.clone() }
    }

    /// The Agent gets the message of an error; its sources go to the log.
    fn refused(&self, error: &ResolveError) -> GetDpeError {
        let mut cause = String::new();
        let mut next = error.source();
        while let Some(source) = next {
            cause = if cause.is_empty() { source.to_string() } else { format!("{cause}: {source}") };
            next = source.source();
        }
        tracing::warn!(uri = %self.uri, %error, cause, "a document could not be published");
        GetDpeError::failed(ResolutionFailure::ResolverError, error.to_string())
    }

    fn cache(&self, answer: &A2cResource, etag: Option<String>) {
        let Ok(expires) = answer::expiry(answer) else {
            let uri = &self.uri;
            tracing::warn!(%uri, "the resolver gave an `expires_at` that is no RFC 3339 time: the address is not cached");
            return;
        };
        let until = expires.map(|at| given_until(self.inner.clock.now(), at, self.inner.limits.renew_before));
        let server = self.hint.mcp_server_name.clone();
        let cached = CachedAnswer { answer: answer.clone(), etag, server, is_watched: self.is_watched, until };
        self.inner.cache(&self.uri, self.number, cached);
    }
}
