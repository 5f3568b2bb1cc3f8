//! What holds for every request and every text.

use a2c_protocol::context::{GetDpeReq, GetFinderReq};
use a2c_protocol::notification::Notification;
use a2c_protocol::office::{JoinOfficeReq, Role};
use a2c_protocol::request::{self, Request};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::tool::{CallToolResult, ToolCallReq};
use a2c_protocol::{ErrorBody, ErrorCode, Version, answer, event};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

/// Any JSON, a few levels deep; numbers whole, since fractions may change in the last digit.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object_of(inner).prop_map(Value::from),
        ]
    })
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::btree_map(".{0,8}", values, 0..4).prop_map(|map| map.into_iter().collect())
}

fn round_trips<R: Request + Serialize + PartialEq + std::fmt::Debug>(request: &R) {
    let text = serde_json::to_string(request).expect("a request can be written");
    assert_eq!(request::decode::<R>(&text).as_ref(), Ok(request));
}

proptest! {
    #[test]
    fn requests_round_trip(
        (agent, req_id, computer, tool_name, uri) in (".{0,20}", ".{0,20}", ".{0,20}", ".{0,20}", ".{1,20}"),
        params in object_of(json()),
        seconds in 1u64..=3600,
        keywords in proptest::option::of(proptest::collection::vec(".{0,8}", 0..3)),
        (offset, limit) in (any::<u64>(), any::<u64>()),
    ) {
        let timeout = Seconds::new(seconds).unwrap();
        round_trips(&GetFinderReq {
            agent: agent.clone(), req_id: req_id.clone(), computer: computer.clone(), keywords, file_type: None, offset, limit,
        });
        round_trips(&GetDpeReq {
            agent: agent.clone(), req_id: req_id.clone(), computer: computer.clone(), uri, timeout: Some(timeout),
        });
        round_trips(&ToolCallReq { agent, req_id, computer, tool_name, params, timeout });
    }

    #[test]
    fn a_join_is_taken_exactly_when_its_names_are_in_bounds(name in ".{0,100}", office_id in ".{0,100}") {
        let fits = |text: &str| (1..=256).contains(&text.len());
        let expected = fits(&name) && fits(&office_id);
        let text = serde_json::to_string(&JoinOfficeReq { role: Role::Agent, name, office_id }).unwrap();
        prop_assert_eq!(request::decode::<JoinOfficeReq>(&text).is_ok(), expected);
    }

    #[test]
    fn errors_round_trip(number in any::<i64>(), message in ".{0,40}", fields in object_of(json()), details in proptest::option::of(object_of(json()))) {
        let mut error = ErrorBody::new(ErrorCode::from_number(number), message);
        error.fields = fields.into_iter().filter(|(k, _)| !["code", "message", "details", "error"].contains(&k.as_str())).collect();
        error.details = details;
        let value = serde_json::to_value(&error).unwrap();
        prop_assert_eq!(ErrorBody::decode(&value), Some(error));
    }

    #[test]
    fn results_round_trip(content in proptest::collection::vec(json(), 0..4), is_error in any::<bool>(), meta in object_of(json())) {
        let result = CallToolResult { content, is_error, meta, ..CallToolResult::default() };
        let text = serde_json::to_string(&result).unwrap();
        prop_assert_eq!(answer::decode::<CallToolResult>(&text).unwrap(), result);
    }

    #[test]
    fn versions_round_trip(major in any::<u32>(), minor in any::<u32>(), patch in any::<u32>()) {
        let version = Version::new(major, minor, patch);
        prop_assert_eq!(version.to_string().parse::<Version>(), Ok(version));
        prop_assert!(version.serves(version));
        prop_assert!(version.serves(version.min_supported()));
    }

    #[test]
    fn no_text_panics(text in ".{0,200}") {
        let _ = request::decode::<ToolCallReq>(&text);
        let _ = answer::decode::<CallToolResult>(&text);
        let _ = Notification::decode(event::NOTIFY_ENTER_OFFICE, &text);
        let _ = text.parse::<Version>();
    }
}
