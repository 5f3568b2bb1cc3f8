//! Servers to look into, and questions to ask.

use a2c_agent::{AgentEvent, AgentEvents, RequestError};
use a2c_protocol::ErrorBody;
use a2c_protocol::notification::Notification;
use a2c_testbed::PATIENCE;
use serde_json::{Map, Value, json};

use crate::in_process::{TestOffice, stdio, within};

/// A server with these resources.
pub(crate) fn server(resources: &[Value]) -> Value {
    server_with(&json!({ "resources": resources }))
}

/// A server that is told everything.
pub(crate) fn server_with(says: &Value) -> Value {
    let script = a2c_testbed::workspace_root().join("tests/interop/python/mcp_context.py");
    stdio(a2c_testbed::python(), &[script.to_str().unwrap(), &says.to_string()])
}

/// A server that is told more than fits on a command line.
pub(crate) fn server_from(file: &std::path::Path) -> Value {
    let script = a2c_testbed::workspace_root().join("tests/interop/python/mcp_context.py");
    stdio(a2c_testbed::python(), &[script.to_str().unwrap(), &format!("@{}", file.to_str().unwrap())])
}

/// A window with a text.
pub(crate) fn window(uri: &str, read: impl Into<Value>) -> Value {
    json!({"uri": uri, "name": uri, "read": read.into()})
}

/// A document that says everything about itself.
pub(crate) fn document(uri: &str, title: &str, modified: &str) -> Value {
    let meta = json!({"file_type": "md", "page_count": 2, "file_uri": format!("file:///{title}.md")});
    json!({"uri": uri, "name": title, "_meta": meta, "annotations": {"lastModified": modified}, "read": {"json": {}}})
}

/// A document that says nothing about itself in the list.
pub(crate) fn quiet_document(uri: &str, read: &Value) -> Value {
    json!({"uri": uri, "name": uri.rsplit('/').next(), "read": read})
}

/// The level 1 of a document.
pub(crate) fn level_one(doc_ref: &str, title: &str) -> Value {
    json!({"json": {
        "doc_ref": doc_ref, "uri": format!("dpe://docs/{doc_ref}"), "file_uri": format!("file:///{doc_ref}"),
        "file_type": "pdf", "title": title, "page_count": 3, "keywords": ["k"], "summary": "s", "last_modified": "2026-01-01T00:00:00Z",
    }})
}

impl TestOffice {
    /// Asks the Computer; `fields` is what the request says besides.
    pub(crate) async fn ask(&self, event: &str, fields: Value) -> Value {
        self.try_ask(event, fields).await.unwrap()
    }

    /// Asks the Computer for something that it refuses.
    pub(crate) async fn refused(&self, event: &str, fields: Value) -> ErrorBody {
        match self.try_ask(event, fields).await {
            Err(RequestError::Refused(error)) => error,
            other => panic!("{event} is not refused: {other:?}"),
        }
    }

    async fn try_ask(&self, event: &str, fields: Value) -> Result<Value, RequestError> {
        let mut payload: Map<String, Value> = fields.as_object().cloned().unwrap();
        payload.insert("computer".into(), "desk".into());
        self.agent.request(event, payload, PATIENCE).await
    }

    /// The Desktop, all of it.
    pub(crate) async fn desktop(&self) -> Vec<String> {
        self.desktop_with(json!({})).await
    }

    pub(crate) async fn desktop_with(&self, fields: Value) -> Vec<String> {
        let answer = self.ask("client:get_desktop", fields).await;
        serde_json::from_value(answer["desktops"].clone()).unwrap()
    }

    /// What the Finder shows of each document, in its order.
    pub(crate) async fn finder(&self, fields: Value, field: &str) -> Vec<Value> {
        let answer = self.ask("client:get_finder", fields).await;
        answer["documents"].as_array().unwrap().iter().map(|document| document[field].clone()).collect()
    }

    /// How often a server of the fixture was asked for what.
    pub(crate) async fn counts(&self, tool: &str) -> Value {
        serde_json::from_str(&self.text(tool, json!({})).await).unwrap()
    }
}

/// Waits until the Agent hears that something of the Computer changed.
pub(crate) async fn told_of(news: &mut AgentEvents, what: fn(&Notification) -> bool) {
    loop {
        if let AgentEvent::Notification(heard) = within(news.recv()).await.expect("the agent lives")
            && what(&heard)
        {
            return;
        }
    }
}

pub(crate) fn of_desktop(heard: &Notification) -> bool {
    matches!(heard, Notification::UpdateDesktop(_))
}

pub(crate) fn of_finder(heard: &Notification) -> bool {
    matches!(heard, Notification::UpdateFinder(_))
}
