//! Answers `get_finder`, `get_resources` and `read_resource`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_finder::finder::DocumentQuery;
use a2c_protocol::context::{
    GetFinderReq, GetFinderRet, GetResourcesReq, GetResourcesRet, ReadResourceReq, ReadResourceRet,
};
use a2c_protocol::uri::{DpeLevel, DpeUri};
use a2c_protocol::{ErrorBody, ErrorCode};

use super::ContextPlane;
use super::error_answer::FailedRequest;
use crate::servers::server::Server;
use crate::tools::result_store::ReadResultError;

/// How long a server may take: a little less than hubs wait, so that the error reaches the Agent.
const SERVER_LIMIT: Duration = Duration::from_secs(25);

/// How many keywords a search may have: each costs a pass over all documents.
const MAX_KEYWORDS: usize = 64;

/// The scheme of results that were too large to be sent whole.
const RESULT_SCHEME: &str = "a2c-result:";

impl ContextPlane<'_> {
    /// A page of the Finder.
    pub(crate) async fn finder(&self, request: GetFinderReq) -> Result<GetFinderRet, ErrorBody> {
        if request.keywords.as_ref().is_some_and(|keywords| keywords.len() > MAX_KEYWORDS) {
            return Err(ErrorBody::bad_request(format!("field `keywords`: there may be {MAX_KEYWORDS} at most")));
        }
        let query = DocumentQuery {
            limit: request.page_size(),
            keywords: request.keywords.unwrap_or_default(),
            file_type: request.file_type,
            offset: request.offset,
        };
        let (view, recent) = (self.catalogue.finder(), self.history.servers_by_recency());
        // Searching a million documents takes a while.
        let page = tokio::task::spawn_blocking(move || view.page(&query, &recent)).await;
        let (documents, total_count) = page.map_err(|e| ErrorBody::new(ErrorCode::Internal, e.to_string()))?;
        Ok(GetFinderRet { documents, total_count, req_id: request.req_id })
    }

    /// A page of a server's list of resources, as the server gives it.
    pub(crate) async fn resources(&self, request: GetResourcesReq) -> Result<GetResourcesRet, ErrorBody> {
        let name = &request.mcp_server;
        let server = self.server_named(name)?;
        let page = server.list_resources(request.cursor, SERVER_LIMIT).await;
        if !server.resource_support().resources && server.state().is_running() {
            return Err(lacks(name, "resources"));
        }
        let page = page.map_err(|failure| FailedRequest { server: name, uri: None, dpe: None }.answer(failure))?;
        Ok(GetResourcesRet { resources: page.resources, next_cursor: page.next_cursor, req_id: request.req_id })
    }

    /// The contents of a resource.
    pub(crate) async fn read_resource(&self, request: ReadResourceReq) -> Result<ReadResourceRet, ErrorBody> {
        let ReadResourceReq { uri, mcp_server, req_id, .. } = request;
        if has_scheme(&uri, RESULT_SCHEME) {
            let page = self.results.read(&uri, Instant::now()).map_err(|e| unreadable(&e))?;
            return Ok(ReadResourceRet { contents: page.contents, req_id });
        }
        let (uri, dpe) = match has_scheme(&uri, "dpe:") {
            true => {
                let parsed = DpeUri::parse(&uri).map_err(|e| invalid_uri(&uri, &e))?.uri;
                (normalized(&uri, parsed.level()), Some(parsed))
            }
            false => (uri, None),
        };
        let server = match (mcp_server, &dpe) {
            (Some(name), _) => self.server_named(&name)?,
            (None, Some(dpe)) => self.server_of(dpe.host().as_str(), dpe.document().as_ref(), &uri)?.1,
            (None, None) => {
                let listing = self.catalogue.server_listing(&uri);
                listing.and_then(|name| self.servers.get(&name)).ok_or_else(|| unlisted(&uri))?
            }
        };
        let name = server.config().name.clone();
        let contents = server.read(&uri, SERVER_LIMIT).await;
        if !server.resource_support().resources && server.state().is_running() {
            return Err(lacks(&name, "resources"));
        }
        let contents = contents
            .map_err(|failure| FailedRequest { server: &name, uri: Some(&uri), dpe: dpe.as_ref() }.answer(failure))?;
        Ok(ReadResourceRet { contents, req_id })
    }

    /// The server that has the documents of a host.
    pub(super) fn server_of(
        &self,
        host: &str,
        document: Option<&impl ToString>,
        uri: &str,
    ) -> Result<(Arc<str>, Arc<Server>), ErrorBody> {
        let document = document.map(ToString::to_string);
        let name = self.catalogue.server_of(host, document.as_deref());
        let found = name.and_then(|name| self.servers.get(&name).map(|server| (name, server)));
        found.ok_or_else(|| {
            let message = format!("no MCP server of this computer has documents of the host '{host}'");
            ErrorBody::new(ErrorCode::McpServerNotFound, message).with("mcp_server_name", host).with("uri", uri)
        })
    }

    fn server_named(&self, name: &str) -> Result<Arc<Server>, ErrorBody> {
        self.servers.get(name).filter(|server| !server.config().disabled).ok_or_else(|| {
            let message = format!("this computer has no MCP server named '{name}' that is switched on");
            ErrorBody::new(ErrorCode::NotFound, message).with("mcp_server_name", name)
        })
    }
}

/// The server lacks a capability.
pub(super) fn lacks(server: &str, capability: &str) -> ErrorBody {
    let message = format!("MCP server '{server}' does not have the capability '{capability}'");
    ErrorBody::new(ErrorCode::McpCapabilityMissing, message)
        .with("mcp_server_name", server)
        .with("capability", capability)
}

fn invalid_uri(uri: &str, error: &a2c_protocol::uri::DpeUriError) -> ErrorBody {
    let body = ErrorBody::new(ErrorCode::DpeUriRule, error.to_string()).with("uri", uri);
    match error.rule() {
        Some(rule) => body.with("rule", rule.number()),
        None => body,
    }
}

/// The URI as servers expect it: without fragment and trailing slash, and otherwise as it was written.
fn normalized(uri: &str, level: &DpeLevel) -> String {
    let uri = uri.split_once('#').map_or(uri, |(uri, _)| uri);
    let (path, query) = match uri.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (uri, String::new()),
    };
    let path = match level {
        DpeLevel::Catalogue => path,
        _ => path.strip_suffix('/').unwrap_or(path),
    };
    let rest = path.split_once(':').map_or(path, |(_, rest)| rest);
    format!("dpe:{rest}{query}")
}

fn unlisted(uri: &str) -> ErrorBody {
    let message = format!("no MCP server of this computer lists '{uri}': say which one to ask (`mcp_server`)");
    ErrorBody::new(ErrorCode::NotFound, message).with("uri", uri)
}

fn unreadable(error: &ReadResultError) -> ErrorBody {
    let code = match error {
        ReadResultError::BadUri(_) => ErrorCode::BadRequest,
        ReadResultError::Unknown(_) | ReadResultError::NoSuchPart { .. } | ReadResultError::OutOfRange { .. } => {
            ErrorCode::NotFound
        }
    };
    ErrorBody::new(code, error.to_string())
}

fn has_scheme(uri: &str, scheme: &str) -> bool {
    uri.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragment_and_trailing_slash_do_not_reach_the_server() {
        let check = |uri: &str, expected: &str| {
            let level = DpeUri::parse(uri).unwrap().uri.level().clone();
            assert_eq!(normalized(uri, &level), expected, "{uri}");
        };
        check("dpe://h/d?depth=pages&limit=5", "dpe://h/d?depth=pages&limit=5");
        check("DPE://h/d/#x", "dpe://h/d");
        check("dpe://h/d/?format=text#x", "dpe://h/d?format=text");
        check("dpe://h", "dpe://h");
        check("dpe://h/", "dpe://h/");
        check("dpe://h/%E8%A1%A8/elements/a%2Fb", "dpe://h/%E8%A1%A8/elements/a%2Fb");
    }
}
