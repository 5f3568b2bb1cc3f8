//! Redaction of what MCP servers answer: results, resources and errors.

use a2c_protocol::context::{Annotations, Resource};
use a2c_protocol::tool::CallToolResult;
use a2c_secrets::Redactor;
use rmcp::model::ErrorData;

/// Redacts the types of the protocol in place.
pub trait RedactModel {
    /// Redacts what goes to an Agent.
    fn redact_result(&self, result: &mut CallToolResult);
    /// Redacts what a resource says about itself.
    fn redact_resource(&self, resource: &mut Resource);
    /// Redacts the error of a server.
    fn redact_error(&self, error: &mut ErrorData);
}

impl RedactModel for Redactor {
    fn redact_result(&self, result: &mut CallToolResult) {
        if self.is_empty() {
            return;
        }
        result.content.iter_mut().chain(&mut result.structured_content).for_each(|value| self.redact_json(value));
        result.meta.values_mut().chain(result.extra.values_mut()).for_each(|value| self.redact_json(value));
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
        meta.iter_mut().flat_map(|meta| meta.values_mut()).for_each(|value| self.redact_json(value));
        extra.values_mut().for_each(|value| self.redact_json(value));
        if let Some(Annotations { audience, priority: _, last_modified, extra }) = annotations {
            audience.iter_mut().flatten().chain(last_modified).for_each(|text| self.redact_in_place(text));
            extra.values_mut().for_each(|value| self.redact_json(value));
        }
    }

    fn redact_error(&self, error: &mut ErrorData) {
        error.message = self.redact(&error.message).into();
        error.data.iter_mut().for_each(|data| self.redact_json(data));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
