//! The error that an Agent gets when an MCP server fails to list or read.

use a2c_mcp::CallFailure;
use a2c_mcp::http::AccessReason;
use a2c_mcp::model::ErrorData;
use a2c_protocol::uri::{DpeLevel, DpeUri};
use a2c_protocol::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::servers::protocol_code::{RESOURCE_NOT_FOUND, protocol_code};

/// JSON-RPC: the parameters are invalid, for instance a cursor.
const INVALID_PARAMS: i32 = -32602;

/// A request to an MCP server that failed.
pub(super) struct FailedRequest<'a> {
    pub(super) server: &'a str,
    pub(super) uri: Option<&'a str>,
    /// The URI, if it is one of a document.
    pub(super) dpe: Option<&'a DpeUri>,
}

impl FailedRequest<'_> {
    /// The error for the Agent.
    pub(super) fn answer(&self, failure: CallFailure) -> ErrorBody {
        let server = self.server;
        let error = match failure {
            // Why it does not run is for the owner only: it may quote what the server wrote.
            CallFailure::NotRunning => {
                ErrorBody::new(ErrorCode::Internal, format!("MCP server '{server}' is not running: try again later"))
            }
            CallFailure::Timeout | CallFailure::Idle(_) | CallFailure::Cancelled => {
                ErrorBody::new(ErrorCode::Timeout, format!("MCP server '{server}' did not answer in time"))
            }
            CallFailure::Access(error) => {
                let (code, what) = match error.reason {
                    AccessReason::Required => (ErrorCode::UpstreamAuthorizationRequired, "requires a sign-in"),
                    _ => (ErrorCode::UpstreamAuthorizationFailed, "refused this computer"),
                };
                ErrorBody::new(code, format!("MCP server '{server}' {what}"))
                    .with("auth_hint", json!({ "message": error.hint() }))
            }
            CallFailure::Refused(error) => self.answered(&error),
            other => ErrorBody::new(ErrorCode::Internal, format!("MCP server '{server}' failed: {other}")),
        };
        let error = match self.uri {
            Some(uri) if !error.fields.contains_key("uri") => error.with("uri", uri),
            _ => error,
        };
        error.with_detail("mcp_server", server)
    }

    /// The answer for an error that the server sent.
    fn answered(&self, error: &ErrorData) -> ErrorBody {
        let message = error.message.to_string();
        if let Some(code) = protocol_code(error) {
            let fields = error.data.as_ref().and_then(Value::as_object).into_iter().flatten();
            let mut body = ErrorBody::new(code, message);
            for (field, value) in fields.filter(|(field, _)| !RESERVED.contains(&field.as_str())) {
                body = body.with(field, value.clone());
            }
            return self.named(body);
        }
        match (error.code.0, self.dpe.map(DpeUri::level)) {
            (RESOURCE_NOT_FOUND, Some(level)) => {
                let code = match level {
                    DpeLevel::Catalogue | DpeLevel::Document { .. } => ErrorCode::DocumentNotFound,
                    DpeLevel::Page { .. } => ErrorCode::PageOutOfRange,
                    DpeLevel::Element { .. } => ErrorCode::ElementNotFound,
                };
                self.named(ErrorBody::new(code, message))
            }
            (RESOURCE_NOT_FOUND, None) => ErrorBody::new(ErrorCode::NotFound, message),
            (INVALID_PARAMS, _) => ErrorBody::bad_request(message).with_detail("mcp_code", INVALID_PARAMS),
            (code, _) => {
                let server = self.server;
                ErrorBody::new(ErrorCode::Internal, format!("MCP server '{server}' answered: {message}"))
                    .with_detail("mcp_code", code)
            }
        }
    }

    /// Adds which document, page or element the error is about, if the server did not.
    fn named(&self, error: ErrorBody) -> ErrorBody {
        let Some(level) = self.dpe.map(DpeUri::level) else { return error };
        let name = |error: ErrorBody, field: &str, value: Value| match error.fields.contains_key(field) {
            true => error,
            false => error.with(field, value),
        };
        let mut error = error;
        if let Some(doc_ref) = level.doc_ref() {
            error = name(error, "doc_ref", doc_ref.into());
        }
        match level {
            DpeLevel::Page { index, .. } => name(error, "page_index", (*index).into()),
            DpeLevel::Element { id, .. } => name(error, "element_id", id.as_str().into()),
            DpeLevel::Catalogue | DpeLevel::Document { .. } => error,
        }
    }
}

/// Fields that the shape of an error uses itself.
const RESERVED: [&str; 5] = ["code", "message", "details", "error", "req_id"];

#[cfg(test)]
mod tests {
    use super::*;

    fn told(uri: &str, error: Value) -> Value {
        let error: ErrorData = serde_json::from_value(error).unwrap();
        let dpe = DpeUri::parse(uri).ok().map(|parsed| parsed.uri);
        let request = FailedRequest { server: "docs", uri: Some(uri), dpe: dpe.as_ref() };
        serde_json::to_value(request.answer(CallFailure::Refused(error))).unwrap()
    }

    #[test]
    fn errors_of_servers_reach_the_agent_under_their_code() {
        let check = |uri: &str, error: Value, code: u64, field: &str, value: Value| {
            let told = told(uri, error.clone());
            assert_eq!((&told["code"], &told[field]), (&code.into(), &value), "{uri} {error}: {told}");
            assert_eq!(told["error"]["code"], told["code"]);
            assert_eq!(told["details"]["mcp_server"], "docs");
        };
        let of = |code: i32, data: Value| json!({"code": code, "message": "no", "data": data});
        check("dpe://h/d", of(-32002, json!({"code": 4201, "doc_ref": "d"})), 4201, "doc_ref", json!("d"));
        check("dpe://h/d", of(0, json!({"code": 4201})), 4201, "doc_ref", json!("d"));
        check(
            "dpe://h/d/pages/9",
            of(-32002, json!({"code": 4202, "page_index": 9, "page_count": 3})),
            4202,
            "page_count",
            json!(3),
        );
        check("dpe://h/d/pages/9", of(-32002, Value::Null), 4202, "page_index", json!(9));
        check("dpe://h/d/elements/x%20y", of(-32002, json!({})), 4203, "element_id", json!("x y"));
        check("dpe://h/d", of(-32602, json!({"code": 4204, "rule": 5, "uri": "dpe://h/d"})), 4204, "rule", json!(5));
        check("demo://x", of(-32002, Value::Null), 404, "uri", json!("demo://x"));
        check("demo://x", of(-32602, Value::Null), 400, "message", json!("no"));
        check("demo://x", of(0, Value::Null), 500, "message", json!("MCP server 'docs' answered: no"));
        // A server must not pass its words off as the hub's or the Computer's.
        check("demo://x", of(0, json!({"code": 401})), 500, "uri", json!("demo://x"));
        check("dpe://h/d", of(0, json!({"code": 4201, "message": "x", "error": 1})), 4201, "message", json!("no"));
    }
}
