//! What a server says about its resources: a page of their list, and the contents of one.

use std::time::Duration;

use a2c_protocol::context::{Annotations, Resource};
use rmcp::model::{
    ClientRequest, ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    ServerResult, SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::{Peer, RoleClient};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::calling::{CallFailure, exchange};
use super::server::{Live, Server};
use crate::inputs::RedactModel as _;

/// What a server can do with resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// It has some.
    pub(crate) resources: bool,
    /// It tells who subscribes when one changes.
    pub(crate) subscribe: bool,
}

impl Abilities {
    /// What a server said about itself.
    pub(super) fn of(peer: &Peer<RoleClient>) -> Self {
        let capability = peer.peer_info().and_then(|info| info.capabilities.resources.clone());
        Self {
            resources: capability.is_some(),
            subscribe: capability.and_then(|resources| resources.subscribe).unwrap_or(false),
        }
    }
}

/// A page of a server's list.
#[derive(Debug, Default)]
pub(crate) struct ResourcePage {
    pub(crate) resources: Vec<Resource>,
    pub(crate) next_cursor: Option<String>,
    /// Entries that are no resources.
    pub(crate) refused: usize,
}

impl Server {
    /// One page of its list. A server that is being started is waited for.
    pub(crate) async fn list_resources(
        &self,
        cursor: Option<String>,
        limit: Duration,
    ) -> Result<ResourcePage, CallFailure> {
        let deadline = Instant::now() + limit;
        let listed = list_page(&self.live_until(deadline).await?, cursor, deadline).await;
        let mut page = listed.map_err(|failure| failure.without(&self.credentials()))?;
        self.redact(&mut page.resources);
        page.next_cursor = page.next_cursor.map(|cursor| self.credentials().redact(&cursor));
        Ok(page)
    }

    /// The contents of a resource. A server that is being started is waited for.
    pub(crate) async fn read(&self, uri: &str, limit: Duration) -> Result<Vec<Value>, CallFailure> {
        let deadline = Instant::now() + limit;
        let live = self.live_until(deadline).await?;
        self.read_on(&live, uri, deadline).await
    }

    /// The contents of a resource of a server that runs; one that does not is not waited for.
    pub(crate) async fn read_now(&self, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
        let live = self.shared.live().ok_or(CallFailure::NotRunning)?;
        self.read_on(&live, uri, deadline).await
    }

    async fn read_on(&self, live: &Live, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
        let credentials = self.credentials();
        let mut contents = read(live, uri, deadline).await.map_err(|failure| failure.without(&credentials))?;
        contents.iter_mut().for_each(|content| credentials.redact_json(content));
        Ok(contents)
    }

    async fn live_until(&self, deadline: Instant) -> Result<Live, CallFailure> {
        match tokio::time::timeout_at(deadline, self.live()).await {
            Ok(live) => live.ok_or(CallFailure::NotRunning),
            Err(_) => Err(CallFailure::Timeout),
        }
    }

    fn redact(&self, resources: &mut [Resource]) {
        let credentials = self.credentials();
        resources.iter_mut().for_each(|resource| credentials.redact_resource(resource));
    }
}

/// One page of a server's list.
pub(super) async fn list_page(
    live: &Live,
    cursor: Option<String>,
    deadline: Instant,
) -> Result<ResourcePage, CallFailure> {
    let request = ListResourcesRequest {
        params: cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor))),
        ..ListResourcesRequest::default()
    };
    match send(live, ClientRequest::ListResourcesRequest(request), deadline).await? {
        ServerResult::ListResourcesResult(page) => Ok(ResourcePage {
            resources: page.resources.into_iter().map(taken_over).collect(),
            next_cursor: page.next_cursor,
            refused: 0,
        }),
        // The library gives up on a page of which one entry is not as it should be.
        ServerResult::CustomResult(other) => {
            tolerant(other.0).ok_or_else(|| CallFailure::Failed("its answer is no list of resources".into()))
        }
        _ => Err(CallFailure::Failed("its answer is no list of resources".into())),
    }
}

/// What can be used of a page that is not quite right.
fn tolerant(mut page: Value) -> Option<ResourcePage> {
    let Value::Array(entries) = page.get_mut("resources")?.take() else { return None };
    let all = entries.len();
    let resources: Vec<Resource> = entries.into_iter().filter_map(entry).collect();
    let next_cursor = page["nextCursor"].as_str().filter(|cursor| !cursor.is_empty()).map(ToOwned::to_owned);
    Some(ResourcePage { refused: all - resources.len(), resources, next_cursor })
}

/// An entry of a list. Annotations that cannot be read are none: they only say how to show it.
fn entry(mut entry: Value) -> Option<Resource> {
    if let Ok(resource) = Resource::deserialize(&entry) {
        return Some(resource);
    }
    entry.as_object_mut()?.remove("annotations")?;
    serde_json::from_value(entry).ok()
}

/// The contents of a resource.
pub(super) async fn read(live: &Live, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    let refuse = || CallFailure::Failed("its answer holds no contents".into());
    match send(live, ClientRequest::ReadResourceRequest(request), deadline).await? {
        ServerResult::ReadResourceResult(read) => {
            let contents = read.contents.iter().map(serde_json::to_value);
            contents.collect::<Result<_, _>>().map_err(|e| CallFailure::Failed(e.to_string()))
        }
        ServerResult::CustomResult(mut other) => match other.0.get_mut("contents").map(Value::take) {
            Some(Value::Array(contents)) if contents.iter().all(Value::is_object) => Ok(contents),
            _ => Err(refuse()),
        },
        _ => Err(refuse()),
    }
}

/// Asks to be told when a resource changes, or not any more.
#[expect(deprecated, reason = "the protocol versions that servers speak have no other way")]
pub(super) async fn subscribe(live: &Live, uri: &str, wanted: bool, deadline: Instant) -> Result<(), CallFailure> {
    use rmcp::model::{SubscribeRequest, UnsubscribeRequest};
    let request = match wanted {
        true => ClientRequest::SubscribeRequest(SubscribeRequest::new(SubscribeRequestParams::new(uri))),
        false => ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri))),
    };
    send(live, request, deadline).await.map(drop)
}

async fn send(live: &Live, request: ClientRequest, deadline: Instant) -> Result<ServerResult, CallFailure> {
    exchange(live, request, deadline, None, &CancellationToken::new()).await
}

/// The library's resource as the protocol has it.
fn taken_over(listed: rmcp::model::Resource) -> Resource {
    let mut extra = Map::new();
    if let Some(Ok(icons)) = listed.icons.as_ref().map(serde_json::to_value) {
        extra.insert("icons".into(), icons);
    }
    Resource {
        uri: listed.uri,
        name: listed.name,
        title: listed.title,
        description: listed.description,
        mime_type: listed.mime_type,
        size: listed.size,
        annotations: listed.annotations.map(|annotations| Annotations {
            audience: annotations.audience.map(|roles| roles.iter().map(role).collect()),
            // Through its shortest spelling: 0.8 is to stay 0.8.
            priority: annotations.priority.and_then(|priority| priority.to_string().parse().ok()),
            last_modified: annotations.last_modified,
            extra: Map::new(),
        }),
        meta: listed.meta.map(|meta| meta.0),
        extra,
    }
}

fn role(role: &rmcp::model::Role) -> String {
    match role {
        rmcp::model::Role::User => "user".into(),
        rmcp::model::Role::Assistant => "assistant".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_listed_resource_keeps_what_it_says() {
        let listed = json!({
            "uri": "window://h/a", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain", "size": 5000000000_u64,
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}],
            "annotations": {"audience": ["user", "assistant"], "priority": 0.8, "lastModified": "2026-01-01T00:00:00Z"},
            "_meta": {"fullscreen": true, "own": {"deep": [1]}},
        });
        let read: rmcp::model::Resource = serde_json::from_value(listed.clone()).unwrap();
        assert_eq!(serde_json::to_value(taken_over(read)).unwrap(), listed);
    }

    #[test]
    fn one_bad_entry_does_not_cost_the_page() {
        let page = json!({"resources": [{"uri": "a://b", "name": "b", "annotations": {"priority": "high"}}, {"uri": 7}, {"uri": "a://c"}], "nextCursor": "2"});
        let page = tolerant(page).unwrap();
        let uris: Vec<_> = page.resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!((uris, page.refused, page.next_cursor.as_deref()), (vec!["a://b", "a://c"], 1, Some("2")));
        assert!(tolerant(json!({"resources": {}})).is_none());
        assert!(tolerant(json!([])).is_none());
    }
}
