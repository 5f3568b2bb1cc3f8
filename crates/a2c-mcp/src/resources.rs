//! What a server says about its resources: a page of their list, and the contents of one.

use a2c_protocol::context::Resource;
use rmcp::model::{
    ClientRequest, ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    ServerResult, SubscribeRequestParams, UnsubscribeRequestParams,
};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::{self, CallLimits, Connection, ServerReply};
use crate::call_failure::{CallFailure, ExpectedAnswer};
use crate::resource_list;

/// What a server can do with resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceSupport {
    /// It has some.
    pub resources: bool,
    /// It notifies subscribers when one changes.
    pub subscribe: bool,
}

/// A page of a server's list.
#[derive(Debug, Default)]
pub struct ResourcePage {
    /// The resources on it.
    pub resources: Vec<Resource>,
    /// Where the next page is.
    pub next_cursor: Option<String>,
    /// How many entries are no resources.
    pub refused: usize,
}

impl Connection {
    /// What the server said in the handshake about its resources.
    pub fn resource_support(&self) -> ResourceSupport {
        let capability = self.peer().peer_info().and_then(|info| info.capabilities.resources.clone());
        ResourceSupport {
            resources: capability.is_some(),
            subscribe: capability.and_then(|resources| resources.subscribe).unwrap_or(false),
        }
    }

    /// One page of the server's list of resources.
    pub async fn list_resources(&self, cursor: Option<String>, deadline: Instant) -> Result<ResourcePage, CallFailure> {
        let request = ListResourcesRequest {
            params: cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor))),
            ..ListResourcesRequest::default()
        };
        match self.ask(ClientRequest::ListResourcesRequest(request), deadline).await? {
            ServerReply::Text(text) => page(call::build(text, ExpectedAnswer::ResourceList).await?),
            ServerReply::Read(ServerResult::CustomResult(answer)) => page(resource_list::take(answer.0)),
            // The library read it from a stream that was resumed. As text, so that 0.8 stays 0.8.
            ServerReply::Read(ServerResult::ListResourcesResult(list)) => {
                serde_json::to_string(&list).and_then(|text| serde_json::from_str(&text)).ok().and_then(page)
            }
            ServerReply::Read(_) => None,
        }
        .ok_or(CallFailure::UnexpectedAnswer(ExpectedAnswer::ResourceList))
    }

    /// The contents of a resource.
    pub async fn read_resource(&self, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
        const NO_CONTENTS: CallFailure = CallFailure::UnexpectedAnswer(ExpectedAnswer::Contents);
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        match self.ask(ClientRequest::ReadResourceRequest(request), deadline).await? {
            ServerReply::Text(text) => contents(call::build(text, ExpectedAnswer::Contents).await?).ok_or(NO_CONTENTS),
            ServerReply::Read(ServerResult::ReadResourceResult(read)) => {
                let contents = read.contents.iter().map(serde_json::to_value);
                contents.collect::<Result<_, _>>().map_err(|_| NO_CONTENTS)
            }
            ServerReply::Read(ServerResult::CustomResult(other)) => contents(other.0).ok_or(NO_CONTENTS),
            ServerReply::Read(_) => Err(NO_CONTENTS),
        }
    }

    /// Asks for a notification when a resource changes.
    #[expect(deprecated, reason = "servers with `initialize` have no other way")]
    pub async fn subscribe(&self, uri: &str, deadline: Instant) -> Result<(), CallFailure> {
        if let Some(listening) = self.listening() {
            return listening.add(uri, deadline).await;
        }
        let request = rmcp::model::SubscribeRequest::new(SubscribeRequestParams::new(uri));
        self.ask(ClientRequest::SubscribeRequest(request), deadline).await.map(drop)
    }

    /// Asks for no more such notifications.
    #[expect(deprecated, reason = "servers with `initialize` have no other way")]
    pub async fn unsubscribe(&self, uri: &str, deadline: Instant) -> Result<(), CallFailure> {
        if let Some(listening) = self.listening() {
            listening.remove(uri);
            return Ok(());
        }
        let request = rmcp::model::UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri));
        self.ask(ClientRequest::UnsubscribeRequest(request), deadline).await.map(drop)
    }

    async fn ask(&self, request: ClientRequest, deadline: Instant) -> Result<ServerReply, CallFailure> {
        self.request(request, CallLimits { deadline, idle: None }, &CancellationToken::new()).await
    }
}

/// The contents in an answer that the library did not read.
fn contents(mut answer: Value) -> Option<Vec<Value>> {
    match answer.get_mut("contents")?.take() {
        Value::Array(contents) if contents.iter().all(Value::is_object) => Some(contents),
        _ => None,
    }
}

/// What can be used of a page. One bad entry does not cost the others.
fn page(mut page: Value) -> Option<ResourcePage> {
    let Value::Array(entries) = page.get_mut("resources")?.take() else { return None };
    let all = entries.len();
    let resources: Vec<Resource> = entries.into_iter().filter_map(entry).collect();
    let next_cursor = page["nextCursor"].as_str().filter(|cursor| !cursor.is_empty()).map(ToOwned::to_owned);
    Some(ResourcePage { refused: all - resources.len(), resources, next_cursor })
}

/// An entry of a list. Annotations that cannot be read are left out: they only say how to show it.
fn entry(mut entry: Value) -> Option<Resource> {
    if let Ok(resource) = Resource::deserialize(&entry) {
        return Some(resource);
    }
    entry.as_object_mut()?.remove("annotations")?;
    serde_json::from_value(entry).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn a_listed_resource_keeps_what_it_says() {
        let listed = json!({
            "uri": "window://h/a", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain", "size": 5000000000_u64,
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}],
            "annotations": {"audience": ["user", "assistant"], "priority": 0.8, "lastModified": "2026-01-01T00:00:00Z"},
            "_meta": {"fullscreen": true, "own": {"deep": [1]}},
            "com.example/own": {"deep": [1, null]}, "later": 0.1,
        });
        let page = page(json!({"resources": [listed]})).unwrap();
        assert_eq!(serde_json::to_value(&page.resources[0]).unwrap(), listed);
    }

    #[test]
    fn one_bad_entry_does_not_cost_the_page() {
        let listed = json!({"resources": [{"uri": "a://b", "name": "b", "annotations": {"priority": "high"}}, {"uri": 7}, {"uri": "a://c"}], "nextCursor": "2"});
        let seen = page(listed).unwrap();
        let uris: Vec<_> = seen.resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!((uris, seen.refused, seen.next_cursor.as_deref()), (vec!["a://b", "a://c"], 1, Some("2")));
        assert!(page(json!({"resources": {}})).is_none());
        assert!(page(json!([])).is_none());
    }
}
