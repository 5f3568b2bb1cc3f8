//! Any bytes that a peer may send as a request, an answer or a notification are decoded or refused with the error of
//! the protocol.

use std::fmt::Debug;

use a2c_protocol::config::{GetConfigReq, GetConfigRet, IsoDuration};
use a2c_protocol::context::{
    GetDesktopReq, GetDesktopRet, GetDpeReq, GetDpeRet, GetFinderReq, GetFinderRet, GetResourcesReq, GetResourcesRet,
    ReadResourceReq, ReadResourceRet,
};
use a2c_protocol::event::{self, Inbound};
use a2c_protocol::notification::{Notification, ToolCallCancel};
use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq, ListRoomReq, ListRoomRet};
use a2c_protocol::request::{self, Request};
use a2c_protocol::tool::{CallToolResult, GetToolsReq, GetToolsRet, ToolCallReq};
use a2c_protocol::{ErrorBody, ErrorCode, Version, answer};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Decodes a text as everything that travels.
pub(crate) fn check(text: &str) {
    request::<JoinOfficeReq>(text);
    request::<LeaveOfficeReq>(text);
    request::<ListRoomReq>(text);
    request::<ToolCallCancel>(text);
    request::<GetToolsReq>(text);
    request::<GetConfigReq>(text);
    request::<GetDesktopReq>(text);
    request::<GetFinderReq>(text);
    request::<GetResourcesReq>(text);
    request::<ReadResourceReq>(text);
    request::<GetDpeReq>(text);
    tool_call(text);

    answer::<ListRoomRet>(text);
    answer::<GetToolsRet>(text);
    answer::<GetConfigRet>(text);
    answer::<GetDesktopRet>(text);
    answer::<GetFinderRet>(text);
    answer::<GetResourcesRet>(text);
    answer::<ReadResourceRet>(text);
    answer::<GetDpeRet>(text);
    answer::<CallToolResult>(text);

    notifications(text);
    let _ = Inbound::of(text);
    let _ = text.parse::<Version>();
    let _ = IsoDuration::parse(text);
    if let Ok(value) = serde_json::from_str(text) {
        let _ = ErrorBody::decode(&value);
    }
}

/// A request is refused as a 400, or is one whole JSON value that survives being sent on.
fn request<R: Request + Serialize + PartialEq + Debug>(text: &str) {
    if let Some((request, again)) = sent_on::<R>(text) {
        assert_eq!(again, request);
    }
}

/// The parameters of a tool are free JSON, and its fractions may change in the last digit: only the shape is compared.
fn tool_call(text: &str) {
    sent_on::<ToolCallReq>(text);
}

fn sent_on<R: Request + Serialize>(text: &str) -> Option<(R, R)> {
    match request::decode::<R>(text) {
        Ok(request) => {
            assert!(is_one_json_value(text), "{} took more than one value", R::EVENT);
            let written = serde_json::to_string(&request).expect("a request can be written");
            let again = request::decode(&written).expect("what was written can be read");
            Some((request, again))
        }
        Err(error) => {
            assert_eq!(error.code, ErrorCode::BadRequest);
            serde_json::to_string(&error).expect("an error can be written");
            None
        }
    }
}

fn answer<T: DeserializeOwned + Serialize>(text: &str) {
    if let Ok(answer) = answer::decode::<T>(text) {
        assert!(is_one_json_value(text), "an answer took more than one value");
        serde_json::to_string(&answer).expect("an answer can be written");
    }
}

fn notifications(text: &str) {
    for event in [
        event::NOTIFY_ENTER_OFFICE,
        event::NOTIFY_LEAVE_OFFICE,
        event::NOTIFY_TOOL_CALL_CANCEL,
        event::NOTIFY_UPDATE_CONFIG,
        event::NOTIFY_UPDATE_TOOL_LIST,
        event::NOTIFY_UPDATE_DESKTOP,
        event::NOTIFY_UPDATE_FINDER,
    ] {
        assert!(Notification::decode(event, text).is_some(), "{event} is a known event");
    }
}

fn is_one_json_value(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
