//! Listing and reading resources for an Agent that says which.

use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_finder::finder::FinderQuery;
use a2c_protocol::context::{
    GetFinderReq, GetFinderRet, GetResourcesReq, GetResourcesRet, ReadResourceReq, ReadResourceRet,
};
use a2c_protocol::uri::{DpeLevel, DpeUri};
use a2c_protocol::{ErrorBody, ErrorCode};

use super::refusal::Asked;
use crate::core::Core;
use crate::servers::server::Server;
use crate::tools::pages::ShelfError;

/// How long a server may take: a little less than hubs wait, so that the reason reaches the Agent.
const LIMIT: Duration = Duration::from_secs(25);

/// How many words may be looked for at once: each costs a look at everything.
const MAX_KEYWORDS: usize = 64;

/// The scheme of results that were too large to be sent at once.
const RESULTS: &str = "a2c-result:";

impl Core {
    /// A page of the Finder.
    pub(crate) async fn finder(&self, request: GetFinderReq) -> Result<GetFinderRet, ErrorBody> {
        if request.keywords.as_ref().is_some_and(|keywords| keywords.len() > MAX_KEYWORDS) {
            return Err(ErrorBody::bad_request(format!("field `keywords`: there may be {MAX_KEYWORDS} at most")));
        }
        let query = FinderQuery {
            limit: request.page_size(),
            keywords: request.keywords.unwrap_or_default(),
            file_type: request.file_type,
            offset: request.offset,
        };
        let (view, recent) = (self.surroundings.catalogue.finder(), self.history.servers_by_recency());
        // A million documents take a moment to look through.
        let page = tokio::task::spawn_blocking(move || view.page(&query, &recent)).await;
        let (documents, total_count) = page.map_err(|e| ErrorBody::new(ErrorCode::Internal, e.to_string()))?;
        Ok(GetFinderRet { documents, total_count, req_id: request.req_id })
    }

    /// A page of a server's list, as the server gives it.
    pub(crate) async fn resources(&self, request: GetResourcesReq) -> Result<GetResourcesRet, ErrorBody> {
        let name = &request.mcp_server;
        let server = self.server_named(name)?;
        let page = server.list_resources(request.cursor, LIMIT).await;
        if !server.abilities().resources && server.state().is_running() {
            return Err(lacks(name, "resources"));
        }
        let page = page.map_err(|failure| Asked { server: name, uri: None, dpe: None }.refusal(failure))?;
        Ok(GetResourcesRet { resources: page.resources, next_cursor: page.next_cursor, req_id: request.req_id })
    }

    /// The contents of a resource.
    pub(crate) async fn read_resource(&self, request: ReadResourceReq) -> Result<ReadResourceRet, ErrorBody> {
        let ReadResourceReq { uri, mcp_server, req_id, .. } = request;
        if has_scheme(&uri, RESULTS) {
            let page = self.shelf.read(&uri, Instant::now()).map_err(|e| unreadable(&e))?;
            return Ok(ReadResourceRet { contents: page.contents, req_id });
        }
        let (uri, dpe) = match has_scheme(&uri, "dpe:") {
            true => {
                let parsed = DpeUri::parse(&uri).map_err(|e| broken(&uri, &e))?.uri;
                (plain(&uri, parsed.level()), Some(parsed))
            }
            false => (uri, None),
        };
        let server = match (mcp_server, &dpe) {
            (Some(name), _) => self.server_named(&name)?,
            (None, Some(dpe)) => self.server_of(dpe.host().as_str(), dpe.document().as_ref(), &uri)?.1,
            (None, None) => {
                let listing = self.surroundings.catalogue.server_listing(&uri);
                listing.and_then(|name| self.servers.get(&name)).ok_or_else(|| unlisted(&uri))?
            }
        };
        let name = server.config().name.clone();
        let contents = server.read(&uri, LIMIT).await;
        if !server.abilities().resources && server.state().is_running() {
            return Err(lacks(&name, "resources"));
        }
        let contents =
            contents.map_err(|failure| Asked { server: &name, uri: Some(&uri), dpe: dpe.as_ref() }.refusal(failure))?;
        Ok(ReadResourceRet { contents, req_id })
    }

    /// The server that answers for a document of a host.
    pub(super) fn server_of(
        &self,
        host: &str,
        document: Option<&impl ToString>,
        uri: &str,
    ) -> Result<(Arc<str>, Arc<Server>), ErrorBody> {
        let document = document.map(ToString::to_string);
        let name = self.surroundings.catalogue.server_of(host, document.as_deref());
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

/// The server cannot do what is asked.
pub(super) fn lacks(server: &str, capability: &str) -> ErrorBody {
    let message = format!("MCP server '{server}' does not have the capability '{capability}'");
    ErrorBody::new(ErrorCode::McpCapabilityMissing, message)
        .with("mcp_server_name", server)
        .with("capability", capability)
}

fn broken(uri: &str, error: &a2c_protocol::uri::DpeUriError) -> ErrorBody {
    let body = ErrorBody::new(ErrorCode::DpeUriRule, error.to_string()).with("uri", uri);
    match error.rule() {
        Some(rule) => body.with("rule", rule.number()),
        None => body,
    }
}

/// The URI as servers expect it: without what means nothing, and otherwise as it was written.
fn plain(uri: &str, level: &DpeLevel) -> String {
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

fn unreadable(error: &ShelfError) -> ErrorBody {
    let code = match error {
        ShelfError::BadUri(_) => ErrorCode::BadRequest,
        ShelfError::Unknown(_) | ShelfError::NoSuchPart { .. } | ShelfError::OutOfRange { .. } => ErrorCode::NotFound,
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
    fn what_means_nothing_does_not_reach_the_server() {
        let check = |uri: &str, expected: &str| {
            let level = DpeUri::parse(uri).unwrap().uri.level().clone();
            assert_eq!(plain(uri, &level), expected, "{uri}");
        };
        check("dpe://h/d?depth=pages&limit=5", "dpe://h/d?depth=pages&limit=5");
        check("DPE://h/d/#x", "dpe://h/d");
        check("dpe://h/d/?format=text#x", "dpe://h/d?format=text");
        check("dpe://h", "dpe://h");
        check("dpe://h/", "dpe://h/");
        check("dpe://h/%E8%A1%A8/elements/a%2Fb", "dpe://h/%E8%A1%A8/elements/a%2Fb");
    }
}
