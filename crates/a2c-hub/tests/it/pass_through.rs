//! Requests and answers pass through as the text they are; only the sender is stamped.

use a2c_socketio::Payload;
use serde_json::{Value, json};

use crate::support::{Member, hub, json_text};

/// Sends a request as this text; gives the text that the Computer got, and passes `answer` back.
async fn pass(agent: &Member, computer: &mut Member, event: &str, request: &str, answer: &str) -> (String, String) {
    let asked = agent.call(event, json_text(request));
    let answering = async {
        let event = computer.event(event).await;
        assert_eq!(event.payload.len(), 1);
        event.ack.unwrap().send(json_text(answer)).await.unwrap();
        event.payload.raw(0).unwrap().get().to_owned()
    };
    let (answer, seen) = tokio::join!(asked, answering);
    assert_eq!(answer.len(), 1);
    (seen, answer.raw(0).unwrap().get().to_owned())
}

const ODD: &str = r#"{"z": 1.0, "a": 1e5, "big": 123456789012345678901234567890, "neg": -0.0, "tiny": 1E-400,
 "text": "\u00e9\/é\u0000", "dup": 1, "dup": 2, "": {"agent": "inner", "computer": 7}, "list": [ 1 ,2, [ ] ], "_placeholder": false}"#;

#[tokio::test]
async fn answers_are_passed_on_to_the_byte() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let request = r#"{"agent":"a","computer":"c"}"#;
    for event in ["client:tool_call", "client:get_tools", "client:get_skills", "client:名"] {
        let (seen, answer) = pass(&agent, &mut computer, event, request, ODD).await;
        assert_eq!((seen.as_str(), answer.as_str()), (request, ODD), "{event}");
    }
}

#[tokio::test]
async fn requests_are_passed_on_to_the_byte() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let inside = &ODD[1..];
    for (sent, expected) in [
        (
            format!(r#"{{"agent": "a", "computer": "c", {inside}"#),
            format!(r#"{{"agent": "a", "computer": "c", {inside}"#),
        ),
        (format!(r#"{{"computer": "\u0063", {inside}"#), format!(r#"{{"agent":"a","computer": "\u0063", {inside}"#)),
        (
            format!(r#"{{"computer":"c","agent" : {{"b":[1]}} , {inside}"#),
            format!(r#"{{"computer":"c","agent" : "a" , {inside}"#),
        ),
        (
            format!(r#"{{"\u0061gent":"b","computer":"c",{inside}"#),
            format!(r#"{{"\u0061gent":"a","computer":"c",{inside}"#),
        ),
    ] {
        let (seen, _) = pass(&agent, &mut computer, "client:get_blob", &sent, "{}").await;
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn the_agent_is_stamped_from_the_session() {
    let hub = hub().await;
    let name = "Ada \"the\\first\" 名\u{1}";
    let agent = Member::agent(&hub, name, "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    for said in ["\"\"", "\"b\"", "null", "7", "[\"Ada\"]", "{\"agent\":\"Ada\"}"] {
        let request = format!("{{\"computer\":\"c\",\"agent\":{said},\"after\":[]}}");
        let (seen, _) = pass(&agent, &mut computer, "client:tool_call", &request, "{}").await;
        let seen: Value = serde_json::from_str(&seen).unwrap();
        assert_eq!(seen, json!({"computer": "c", "agent": name, "after": []}));
    }
}

#[tokio::test]
async fn an_error_of_the_computer_is_an_answer_like_any_other() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let error = r#"{"code":4014,"message":"no","mcp_server_name":"s","error":{"code":4014,"message":"no"}}"#;
    let (_, answer) = pass(&agent, &mut computer, "client:get_resources", r#"{"computer":"c"}"#, error).await;
    assert_eq!(answer, error);
}

#[tokio::test]
async fn a_request_that_wants_no_answer_is_passed_on_too() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    agent.client.emit("client:nudge", Payload::json(&json!({"computer": "c", "req_id": "r"})).unwrap()).await.unwrap();
    let event = computer.event("client:nudge").await;
    assert!(event.ack.is_none());
    assert_eq!(event.payload.get::<Value>(0).unwrap(), json!({"agent": "a", "computer": "c", "req_id": "r"}));
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn more_than_one_argument_of_an_answer_survives() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let asked = agent.call("client:x", json_text(r#"{"computer":"c"}"#));
    let answering = async {
        let ack = computer.event("client:x").await.ack.unwrap();
        ack.send(Payload::json(&json!({"first": 1})).unwrap().arg(&[2]).unwrap()).await.unwrap();
    };
    let (answer, ()) = tokio::join!(asked, answering);
    assert_eq!((answer.get::<Value>(0).unwrap(), answer.get::<Value>(1).unwrap()), (json!({"first": 1}), json!([2])));
}
