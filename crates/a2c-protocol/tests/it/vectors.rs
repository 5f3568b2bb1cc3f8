//! Runs the vectors for versions, events, requests and answers (see `vectors/README.md`).

use std::collections::HashSet;

use a2c_protocol::config::GetConfigReq;
use a2c_protocol::context::{GetDesktopReq, GetDpeReq, GetFinderReq, GetResourcesReq, ReadResourceReq};
use a2c_protocol::event::{self, Inbound};
use a2c_protocol::notification::ToolCallCancel;
use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq, ListRoomReq};
use a2c_protocol::request::{self, Request};
use a2c_protocol::tool::{CallToolResult, GetToolsReq, ToolCallReq};
use a2c_protocol::{ErrorBody, version};
use serde::Serialize;
use serde_json::{Value, json};

/// Runs every vector of a file; `read` gives what comes out, in the terms of the file.
fn check(file: &str, read: impl Fn(&Value) -> Result<Value, Value>) {
    let path = format!("{}/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let vectors: Vec<Value> = serde_json::from_str(&text).expect("a list of vectors");
    assert!(!vectors.is_empty(), "{path} has no vectors");
    let mut names = HashSet::new();
    for vector in &vectors {
        let name = vector["name"].as_str().expect("a name");
        assert!(names.insert(name), "{file}: the name {name:?} is used twice");
        match read(vector) {
            Ok(ok) => assert_eq!(Some(&ok), vector.get("ok"), "{file}: {name}"),
            Err(error) => {
                let expected = vector.get("error").unwrap_or_else(|| panic!("{file}: {name}: refused with {error}"));
                assert!(fits(expected, &error), "{file}: {name}: expected {expected}, got {error}");
            }
        }
    }
}

/// Whether an error is what a vector says; messages may be given in part.
fn fits(expected: &Value, error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    match (expected["message_starts_with"].as_str(), expected["message_contains"].as_str()) {
        (Some(start), _) => message.starts_with(start) && expected["code"] == error["code"],
        (_, Some(part)) => message.contains(part) && expected["code"] == error["code"],
        _ => expected == error,
    }
}

#[test]
fn versions() {
    check("version.json", |vector| {
        let server = vector["server"].as_str().unwrap().parse().unwrap();
        match version::check(server, vector["input"].as_str()) {
            Ok(client) => Ok(json!(client)),
            Err(refusal) => Err(json!(refusal)),
        }
    });
}

#[test]
fn events() {
    check("events.json", |vector| match Inbound::of(vector["input"].as_str().unwrap()) {
        Inbound::Client(event) => Ok(json!({ "route": event })),
        Inbound::Update(what) => Ok(json!({ "notify": event::notify_update(what) })),
        Inbound::JoinOffice => Ok(json!({"handle": "join_office"})),
        Inbound::LeaveOffice => Ok(json!({"handle": "leave_office"})),
        Inbound::ListRoom => Ok(json!({"handle": "list_room"})),
        Inbound::ToolCallCancel => Ok(json!({"handle": "tool_call_cancel"})),
        Inbound::Unknown => Err(json!({"code": 400})),
    });
}

#[test]
fn requests() {
    check("requests.json", |vector| {
        let input = vector["input"].to_string();
        match vector["event"].as_str().unwrap() {
            event::TOOL_CALL => decoded::<ToolCallReq>(&input),
            event::GET_TOOLS => decoded::<GetToolsReq>(&input),
            event::GET_CONFIG => decoded::<GetConfigReq>(&input),
            event::GET_DESKTOP => decoded::<GetDesktopReq>(&input),
            event::GET_FINDER => decoded::<GetFinderReq>(&input),
            event::GET_RESOURCES => decoded::<GetResourcesReq>(&input),
            event::READ_RESOURCE => decoded::<ReadResourceReq>(&input),
            event::GET_DPE => decoded::<GetDpeReq>(&input),
            event::JOIN_OFFICE => decoded::<JoinOfficeReq>(&input),
            event::LEAVE_OFFICE => decoded::<LeaveOfficeReq>(&input),
            event::LIST_ROOM => decoded::<ListRoomReq>(&input),
            event::TOOL_CALL_CANCEL => decoded::<ToolCallCancel>(&input),
            other => panic!("{other} has no request"),
        }
    });
}

fn decoded<R: Request + Serialize>(input: &str) -> Result<Value, Value> {
    request::decode::<R>(input).map(|request| json!(request)).map_err(|error| json!(error))
}

#[test]
fn errors() {
    check("errors.json", |vector| {
        let error = ErrorBody::decode(&vector["input"]).ok_or_else(|| json!({}))?;
        let mut ok = json!({"code": error.code, "message": error.message, "fields": error.fields});
        if let Some(details) = error.details {
            ok["details"] = details.into();
        }
        Ok(ok)
    });
}

#[test]
fn results() {
    check("results.json", |vector| {
        let result: CallToolResult = serde_json::from_value(vector["input"].clone()).expect("a result");
        let written = serde_json::to_value(&result).unwrap();
        assert_eq!(written.get("meta"), written.get("_meta"), "both spellings are written");
        Ok(json!({"text": result.text(), "is_error": result.is_error, "meta": result.meta}))
    });
}
