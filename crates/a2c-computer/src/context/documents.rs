//! Answers `get_dpe`: where a whole document can be fetched.

use std::sync::Arc;
use std::time::Duration;

use a2c_dpe::{DocumentReader, GetDpeError, ReadError, ResolveHint, ResolveRequest};
use a2c_mcp::CallFailure;
use a2c_protocol::context::{GetDpeReq, GetDpeRet};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::uri::DpeDocumentUri;
use a2c_protocol::{ErrorBody, ErrorCode};
use serde_json::Value;

use super::ContextPlane;
use super::error_answer::FailedRequest;
use super::resources::lacks;
use crate::servers::server::Server;

/// How long a resolution may take if the Agent sets no limit: a little less than hubs wait.
const DEFAULT_LIMIT: Duration = Duration::from_secs(25);

impl ContextPlane<'_> {
    /// Resolves a document to a URL.
    pub(crate) async fn document(&self, request: GetDpeReq) -> Result<GetDpeRet, ErrorBody> {
        let GetDpeReq { agent, req_id, uri: asked, timeout, .. } = request;
        let parsed = DpeDocumentUri::parse(&asked).map_err(|e| {
            ErrorBody::new(ErrorCode::InvalidDpeUri, e.to_string()).with("uri", &*asked).with("reason", e.reason())
        })?;
        if !parsed.dropped.is_empty() {
            tracing::warn!(uri = asked, "the query or fragment of a document's URI is dropped");
        }
        let uri = parsed.uri;
        let text = uri.to_string();
        if !self.documents.is_possible() {
            return Err(GetDpeError::NoResolver.into_body(&text));
        }
        let host = uri.host().as_str();
        let (name, server) = self.server_of(host, Some(&uri), &text)?;
        if server.state().is_running() && !server.resource_support().subscribe {
            return Err(lacks(&name, "resources.subscribe"));
        }
        let limit = timeout.map_or(DEFAULT_LIMIT, |seconds| seconds.duration());
        let request = ResolveRequest {
            uri: &uri,
            listed: self.catalogue.document(&name, &text),
            hint: ResolveHint { mcp_server_name: name.to_string(), agent, req_id: req_id.clone() },
            // A server that is down announces nothing.
            is_watched: server.state().is_running() && self.catalogue.is_subscribed(&name, &text, host),
            limit,
        };
        let reader = Reader { server, name };
        let resource = self.documents.resolve(request, &reader).await.map_err(|error| error.into_body(&text))?;
        Ok(GetDpeRet { resource, req_id })
    }
}

/// Reads documents from one MCP server.
#[derive(Clone)]
struct Reader {
    server: Arc<Server>,
    name: Arc<str>,
}

impl DocumentReader for Reader {
    async fn read(&self, uri: &str) -> Result<Vec<Value>, ReadError> {
        // Later requests for the same document may have a longer limit than the first. This is the longest.
        self.server.read(uri, Seconds::MAX.duration()).await.map_err(|failure| {
            let is_answered = matches!(failure, CallFailure::Refused(_));
            let dpe = a2c_protocol::uri::DpeUri::parse(uri).ok().map(|parsed| parsed.uri);
            let body = FailedRequest { server: &self.name, uri: Some(uri), dpe: dpe.as_ref() }.answer(failure);
            match body.code {
                ErrorCode::DocumentNotFound | ErrorCode::PageOutOfRange | ErrorCode::ElementNotFound if is_answered => {
                    ReadError::Missing(Box::new(body))
                }
                _ => ReadError::Unavailable(body.message),
            }
        })
    }
}
