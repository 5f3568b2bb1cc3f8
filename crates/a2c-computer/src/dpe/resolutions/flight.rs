//! One resolution of one document, from the question whether it is needed to the answer.

use std::error::Error;
use std::sync::Arc;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::error::ResolutionFailure;
use a2c_protocol::uri::DpeDocumentUri;
use bytes::Bytes;

use super::{Desk, Outcome, Wanted};
use crate::dpe::answer;
use crate::dpe::assemble::{DocumentReader, assemble, too_large};
use crate::dpe::failure::DpeFailure;
use crate::dpe::names::sha256;
use crate::dpe::resolver::{Document, DpeContents, ResolveError, ResolveHint, unlisted};
use crate::dpe::shelf::{Remembered, given_until};
use crate::dpe::source::{Source, classify};

/// From this size on, a document is hashed where it keeps nobody waiting.
const LARGE: usize = 1 << 20;

/// Everything that a resolution needs, so that it depends on nobody who waits for it.
pub(super) struct Flight<R> {
    desk: Arc<Desk>,
    number: u64,
    uri: DpeDocumentUri,
    listed: Option<Resource>,
    hint: ResolveHint,
    is_watched: bool,
    reader: R,
}

/// A state of a document, as its server gave it.
struct State {
    contents: DpeContents,
    etag: String,
    /// Whether the same etag means the same document. An address alone does not.
    is_told_by_etag: bool,
}

impl<R> Drop for Flight<R> {
    fn drop(&mut self) {
        self.desk.landed(&self.uri, self.number);
    }
}

impl<R: DocumentReader> Flight<R> {
    pub(super) fn new(desk: Arc<Desk>, number: u64, wanted: &Wanted<'_>, reader: R) -> Self {
        let Wanted { uri, listed, hint, is_watched, .. } = wanted;
        let (uri, listed, hint) = ((*uri).clone(), listed.clone(), hint.clone());
        Self { desk, number, uri, listed, hint, is_watched: *is_watched, reader }
    }

    pub(super) async fn fly(self) -> Outcome {
        let known = self.known().await;
        if let Some(known) = known.as_ref().filter(|known| self.is_watched && known.is_watched) {
            return Ok(known.answer.clone());
        }
        let state = self.read().await?;
        let etag = state.is_told_by_etag.then(|| state.etag.clone());
        if let Some(known) = known.filter(|known| etag.is_some() && known.etag == etag) {
            let answer = known.answer.clone();
            self.desk.remember(&self.uri, self.number, Remembered { is_watched: self.is_watched, ..known });
            return Ok(answer);
        }
        let document = self.document(state);
        let given = self.desk.resolver.resolve(&document).await.map_err(|error| self.refused(&error))?;
        let answer = answer::complete(given, &document)?;
        self.remember(&answer, etag);
        Ok(answer)
    }

    /// The remembered answer, if it can still be fetched.
    async fn known(&self) -> Option<Remembered> {
        let known = self.desk.state().shelf.get(&self.uri).cloned()?;
        // Another server may have had a document of that name before.
        if known.server != self.hint.mcp_server_name {
            return None;
        }
        let holds = known.is_current(self.desk.clock.now()) && self.desk.resolver.still_holds(&known.answer).await;
        holds.then_some(known)
    }

    /// Asks the server for the document, and for its pages where it comes in pages.
    async fn read(&self) -> Result<State, DpeFailure> {
        let uri = self.uri_to_read();
        let limit = self.desk.limits.max_bytes;
        let contents = self.reader.read(&uri).await?;
        let json = match classify(&contents)? {
            Source::Inline(text) if text.len() > limit => return Err(too_large(limit)),
            Source::Inline(text) => Bytes::copy_from_slice(text.as_bytes()),
            Source::Paged(level1) => assemble(&uri, &level1, self.listed.as_ref(), &self.reader, limit).await?.into(),
            Source::External(external) => {
                let is_told_by_etag = external.etag.is_some();
                let etag = external.state().to_owned();
                return Ok(State { contents: DpeContents::External(external), etag, is_told_by_etag });
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
        Ok(State { contents: DpeContents::Inline(json), etag, is_told_by_etag: true })
    }

    /// The server's own spelling of the URI, where it has one for the whole document.
    fn uri_to_read(&self) -> String {
        let listed = self.listed.as_ref().map(|resource| resource.uri.as_str());
        let own = listed.filter(|uri| DpeDocumentUri::parse_strict(uri).is_ok_and(|parsed| parsed == self.uri));
        own.map_or_else(|| self.uri.to_string(), str::to_owned)
    }

    fn document(&self, state: State) -> Document {
        let resource = self.listed.clone().unwrap_or_else(|| unlisted(&self.uri));
        let State { contents, etag, .. } = state;
        Document { uri: self.uri.clone(), resource, contents, etag, hint: self.hint.clone() }
    }

    /// The Agent gets the message; what caused it is for the owner.
    fn refused(&self, error: &ResolveError) -> DpeFailure {
        let mut cause = String::new();
        let mut next = error.source();
        while let Some(source) = next {
            cause = if cause.is_empty() { source.to_string() } else { format!("{cause}: {source}") };
            next = source.source();
        }
        tracing::warn!(uri = %self.uri, %error, cause, "a document could not be published");
        DpeFailure::failed(ResolutionFailure::ResolverError, error.to_string())
    }

    fn remember(&self, answer: &A2cResource, etag: Option<String>) {
        let Ok(expires) = answer::expiry(answer) else {
            let uri = &self.uri;
            tracing::warn!(%uri, "the expiry of a document's address is no RFC 3339 time: the address is not remembered");
            return;
        };
        let until = expires.map(|at| given_until(self.desk.clock.now(), at, self.desk.limits.renew_before));
        let server = self.hint.mcp_server_name.clone();
        let remembered = Remembered { answer: answer.clone(), etag, server, is_watched: self.is_watched, until };
        self.desk.remember(&self.uri, self.number, remembered);
    }
}
