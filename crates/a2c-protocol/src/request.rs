//! Requests: how a payload is decoded, or which field of it is at fault.

use serde::de::DeserializeOwned;

use crate::error::ErrorBody;

/// A request whose payload can be judged beyond its types.
pub trait Request: DeserializeOwned {
    /// The event that carries it.
    const EVENT: &'static str;

    /// Rules that types do not express; the error names the field.
    fn validate(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

/// A field with a value outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct FieldError {
    /// Which field.
    pub field: &'static str,
    /// What is wrong, and what to send instead.
    pub problem: String,
}

/// Decodes the payload of a request, or says as a 400 which field is at fault.
pub fn decode<R: Request>(json: &str) -> Result<R, ErrorBody> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let malformed = |what: String| ErrorBody::bad_request(format!("{} is malformed: {what}", R::EVENT));
    let request: R = serde_path_to_error::deserialize(&mut deserializer).map_err(|e| malformed(explain(&e)))?;
    deserializer.end().map_err(|_| malformed("text after the payload".into()))?;
    request.validate().map_err(|FieldError { field, problem }| malformed(format!("field `{field}`: {problem}")))?;
    Ok(request)
}

/// The field and what is wrong with it, without the position, which means nothing once the payload was forwarded.
fn explain(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let text = error.inner().to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    if path == "." { what.to_owned() } else { format!("field `{path}`: {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{GetFinderReq, GetResourcesReq};
    use crate::error::ErrorCode;
    use crate::office::JoinOfficeReq;
    use crate::tool::ToolCallReq;

    fn refusal<R: Request + std::fmt::Debug>(json: &str) -> String {
        let error = decode::<R>(json).unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest);
        error.message
    }

    #[test]
    fn a_refusal_names_the_field() {
        let call = |rest: &str| format!(r#"{{"agent": "a", "req_id": "1", "computer": "c", {rest}}}"#);
        let check = |message: String, field: &str| assert!(message.contains(field), "{message}");
        check(refusal::<ToolCallReq>(r#"{"agent": 3, "req_id": "1", "computer": "c"}"#), "agent");
        check(refusal::<ToolCallReq>(&call(r#""params": {}, "timeout": 30"#)), "tool_name");
        check(refusal::<ToolCallReq>(&call(r#""tool_name": "t", "params": {}, "timeout": 0"#)), "timeout");
        check(refusal::<ToolCallReq>(&call(r#""tool_name": "t", "params": {}, "timeout": "30""#)), "timeout");
        check(refusal::<ToolCallReq>(&call(r#""tool_name": "t", "params": 3, "timeout": 30"#)), "params");
        check(refusal::<GetFinderReq>(&call(r#""limit": -1"#)), "limit");
        check(refusal::<GetFinderReq>(&call(r#""offset": 1.5"#)), "offset");
        check(refusal::<GetResourcesReq>(&call(r#""cursor": "x""#)), "mcp_server");
        check(refusal::<JoinOfficeReq>(r#"{"role": "boss", "name": "n", "office_id": "o"}"#), "role");
        check(refusal::<JoinOfficeReq>(r#"{"role": {"agent": null}, "name": "n", "office_id": "o"}"#), "role");
        check(refusal::<JoinOfficeReq>(r#"{"role": "agent", "name": "", "office_id": "o"}"#), "name");
        check(refusal::<JoinOfficeReq>("[]"), "server:join_office");
        check(refusal::<JoinOfficeReq>("{"), "EOF");
        check(refusal::<JoinOfficeReq>(r#"{"role": "agent", "name": "n", "office_id": "o"}x"#), "after");
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let json = r#"{"role": "agent", "name": "n", "office_id": "o", "later": [1, 2]}"#;
        assert_eq!(decode::<JoinOfficeReq>(json).unwrap().name, "n");
    }
}
