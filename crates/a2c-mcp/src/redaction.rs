//! Redaction of what MCP servers answer: tools, results, resources and errors.

use a2c_protocol::context::{Annotations, Resource};
use a2c_protocol::tool::CallToolResult;
use a2c_secrets::Redactor;
use rmcp::model::{ErrorData, Tool};

/// Redacts the types of the protocol in place.
pub trait RedactModel {
    /// Redacts what tools say about themselves. A tool whose name holds a secret is left out, and counted: under another
    /// name it could not be called.
    fn redact_tools(&self, tools: Vec<Tool>) -> (Vec<Tool>, usize);
    /// Redacts what goes to an Agent.
    fn redact_result(&self, result: &mut CallToolResult);
    /// Redacts what a resource says about itself.
    fn redact_resource(&self, resource: &mut Resource);
    /// Redacts the error of a server.
    fn redact_error(&self, error: &mut ErrorData);
}

impl RedactModel for Redactor {
    fn redact_tools(&self, tools: Vec<Tool>) -> (Vec<Tool>, usize) {
        if self.is_empty() {
            return (tools, 0);
        }
        let listed = tools.len();
        let tools: Vec<_> = tools.into_iter().filter_map(|tool| redact_tool(self, &tool)).collect();
        let left_out = listed - tools.len();
        (tools, left_out)
    }

    fn redact_result(&self, result: &mut CallToolResult) {
        if self.is_empty() {
            return;
        }
        result.content.iter_mut().chain(&mut result.structured_content).for_each(|value| self.redact_json(value));
        self.redact_object(&mut result.meta);
        self.redact_object(&mut result.extra);
    }

    fn redact_resource(&self, resource: &mut Resource) {
        if self.is_empty() {
            return;
        }
        let Resource { uri, name, title, description, mime_type, size: _, annotations, meta, extra } = resource;
        for text in
            [Some(uri), Some(name), title.as_mut(), description.as_mut(), mime_type.as_mut()].into_iter().flatten()
        {
            self.redact_in_place(text);
        }
        meta.iter_mut().for_each(|meta| self.redact_object(meta));
        self.redact_object(extra);
        if let Some(Annotations { audience, priority: _, last_modified, extra }) = annotations {
            audience.iter_mut().flatten().chain(last_modified).for_each(|text| self.redact_in_place(text));
            self.redact_object(extra);
        }
    }

    fn redact_error(&self, error: &mut ErrorData) {
        error.message = self.redact(&error.message).into();
        error.data.iter_mut().for_each(|data| self.redact_json(data));
    }
}

/// The tool without secrets, whatever members a later version of the library gives it.
fn redact_tool(secrets: &Redactor, tool: &Tool) -> Option<Tool> {
    if secrets.redact(&tool.name) != tool.name {
        return None;
    }
    let mut said = serde_json::to_value(tool).ok()?;
    secrets.redact_json(&mut said);
    serde_json::from_value(said).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_and_results_hold_them_in_no_member() {
        let redactor = Redactor::new(["canary-0123456789"]);
        let said = "is canary-0123456789";
        let everywhere = json!({"canary-0123456789": said, "deep": [{"canary-0123456789": [said]}]});
        let tool: Tool = serde_json::from_value(json!({
            "name": "read", "title": said, "description": said, "inputSchema": everywhere, "outputSchema": everywhere,
            "annotations": {"title": said, "readOnlyHint": true}, "_meta": everywhere,
            "icons": [{"src": said, "mimeType": said, "sizes": [said]}],
        }))
        .unwrap();
        let mut named = tool.clone();
        named.name = "read-canary-0123456789".into();
        let (tools, left_out) = redactor.redact_tools(vec![tool, named]);
        assert_eq!((tools.len(), left_out), (1, 1));
        let shown = serde_json::to_string(&tools).unwrap();
        assert!(!shown.contains("canary") && shown.matches("***").count() >= 17, "{shown}");

        let mut result: CallToolResult = serde_json::from_value(json!({
            "content": [everywhere], "structuredContent": everywhere, "_meta": everywhere, "later": everywhere,
        }))
        .unwrap();
        result.extra.insert("canary-0123456789".into(), said.into());
        redactor.redact_result(&mut result);
        let shown = serde_json::to_string(&result).unwrap();
        assert!(!shown.contains("canary"), "{shown}");

        let mut resource: Resource = serde_json::from_value(json!({
            "uri": "a://b", "name": "n", "_meta": everywhere, "later": everywhere, "annotations": everywhere,
        }))
        .unwrap();
        redactor.redact_resource(&mut resource);
        let shown = serde_json::to_string(&resource).unwrap();
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn resources_and_errors_hold_them_in_no_spelling() {
        let redactor = Redactor::new(["a/b\"c d"]);
        let mut resource: Resource = serde_json::from_value(json!({
            "uri": "window://h/a%2Fb%22c%20d", "name": "n", "description": "{\"key\":\"a/b\\\"c d\"}",
            "annotations": {"lastModified": "a/b\"c d", "audience": ["a/b\"c d"], "own": "a/b\"c d"},
        }))
        .unwrap();
        redactor.redact_resource(&mut resource);
        let told = serde_json::to_value(&resource).unwrap();
        assert_eq!(
            told,
            json!({
                "uri": "window://h/***", "name": "n", "description": "{\"key\":\"***\"}",
                "annotations": {"lastModified": "***", "audience": ["***"], "own": "***"},
            })
        );
        let mut error =
            ErrorData::new(rmcp::model::ErrorCode(-32002), "no a/b\"c d", Some(json!({"hint": "a/b\"c d"})));
        redactor.redact_error(&mut error);
        assert_eq!((&*error.message, error.data), ("no ***", Some(json!({"hint": "***"}))));
    }
}
