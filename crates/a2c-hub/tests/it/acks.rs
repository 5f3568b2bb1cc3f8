//! A sender that asks for an acknowledgement gets one, whatever is wrong with the event.

use serde_json::{Value, json};

use crate::support::{Member, RawClient, assert_error, hub};

/// Sends the body of an event as it is, and gives the one value of the acknowledgement.
async fn answer(client: &mut RawClient, body: &str) -> Value {
    let arguments: Vec<Value> = serde_json::from_str(&client.ask_text(body).await).unwrap();
    assert_eq!(arguments.len(), 1, "{body}: {arguments:?}");
    arguments.into_iter().next().unwrap()
}

#[tokio::test]
async fn a_body_that_is_no_event_is_400() {
    let hub = hub().await;
    let mut client = RawClient::joined(&hub, "agent", "a", "o").await;
    for body in [
        "",
        "[",
        "[]",
        "{}",
        "null",
        "\"client:get_tools\"",
        "[7]",
        "[null,{}]",
        "[{}]",
        "[[\"client:get_tools\"]]",
        "[\"client:get_tools\",{\"computer\":}]",
        "[\"client:get_tools\",{}",
        "[\"client:get_tools\",{}]]",
        "[\"client:get_tools\",{\"computer\":\"c\\x\"}]",
        "[\"\\ud800\",{}]",
        "[\"client:get_tools\" {}]",
        "[\"a\",01]",
    ] {
        let error = assert_error(&answer(&mut client, body).await, 400);
        assert!(!error.message.is_empty());
    }
    assert_eq!(client.ask("server:leave_office", &json!({"office_id": "o"})).await, "[true,null]");
}

#[tokio::test]
async fn a_payload_that_is_not_one_object_is_400() {
    let hub = hub().await;
    let mut client = RawClient::joined(&hub, "agent", "a", "o").await;
    for event in ["client:get_tools", "client:x", "server:list_room", "server:update_config", "server:tool_call_cancel"]
    {
        for arguments in
            ["", ",null", ",7", ",\"text\"", ",[]", ",[{}]", ",true", ",{},{}", ",{\"computer\":\"c\"},null"]
        {
            let error = assert_error(&answer(&mut client, &format!("[\"{event}\"{arguments}]")).await, 400);
            assert!(error.message.contains(event), "{error}");
        }
    }
    for event in ["server:join_office", "server:leave_office"] {
        for arguments in ["", ",null", ",7", ",[]", ",{},{}", ",{}", ",{\"office_id\":7}"] {
            let ack = client.ask_text(&format!("[\"{event}\"{arguments}]")).await;
            let (ok, reason): (bool, String) = serde_json::from_str(&ack).unwrap();
            assert!(!ok && reason.contains(event), "{event}{arguments}: {ack}");
        }
    }
    assert_eq!(client.ask("server:leave_office", &json!({"office_id": "o"})).await, "[true,null]", "still there");
}

#[tokio::test]
async fn a_wrong_type_is_400_and_names_the_field() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let check = async |event: &str, request: Value, field: &str| {
        let error = assert_error(&agent.ask(event, &request).await, 400);
        assert!(error.message.contains(&format!("`{field}`")), "{request}: {error}");
    };
    check("client:get_tools", json!({}), "computer").await;
    check("client:get_tools", json!({"computer": 7}), "computer").await;
    check("client:get_tools", json!({"computer": null}), "computer").await;
    check("client:get_tools", json!({"computer": ["c"]}), "computer").await;
    check("client:tool_call", json!({"computer": "c", "req_id": 7}), "req_id").await;
    check("client:tool_call", json!({"computer": "c", "req_id": {"a": 1}}), "req_id").await;
    check("client:tool_call", json!({"computer": "c", "timeout": "30"}), "timeout").await;
    check("client:tool_call", json!({"computer": "c", "timeout": [30]}), "timeout").await;
    check("server:list_room", json!({"agent": "a", "req_id": "r"}), "office_id").await;
    check("server:list_room", json!({"agent": "a", "req_id": "r", "office_id": 7}), "office_id").await;
    check("server:tool_call_cancel", json!({"agent": "a", "req_id": 7}), "req_id").await;
    computer.heard_nothing().await;
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn a_timeout_out_of_range_is_400() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    for timeout in [json!(0), json!(3601), json!(-1), json!(1.5), json!(1e300), json!(18446744073709551615u64)] {
        let request = json!({"computer": "c", "req_id": "r", "timeout": timeout});
        let error = assert_error(&agent.ask("client:tool_call", &request).await, 400);
        assert!(error.message.contains("`timeout`"), "{timeout}: {error}");
    }
    computer.heard_nothing().await;
    for timeout in [json!(1), json!(3600), json!(30.0), Value::Null] {
        let asked = agent.asking("client:tool_call", json!({"computer": "c", "req_id": "r", "timeout": timeout}));
        computer.answer("client:tool_call", json!({"content": []})).await;
        assert_eq!(asked.await.unwrap(), json!({"content": []}));
    }
}

#[tokio::test]
async fn an_unknown_event_is_400() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    for event in
        ["", "client:", "server:", "server:update_", "server:shutdown", "notify:enter_office", "connect", "message"]
    {
        assert_error(&agent.ask(event, json!({"computer": "c"})).await, 400);
    }
}

#[tokio::test]
async fn an_answer_without_content_is_an_empty_ack() {
    let hub = hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert_eq!(agent.ask("server:tool_call_cancel", &json!({"agent": "a", "req_id": "unknown"})).await, "[]");
    assert_eq!(computer.ask("server:update_desktop", &json!({"computer": "c"})).await, "[]");
}

#[tokio::test]
async fn an_event_without_an_id_gets_no_ack() {
    let hub = hub().await;
    let mut client = RawClient::connect(&hub).await;
    for body in ["[", "[\"client:get_tools\",{}]", "[\"x\"]", "[\"server:list_room\",{}]"] {
        client.send(format!("42/smcp,{body}")).await;
    }
    // The first thing to come back is the answer to the one question.
    client.send("42/smcp,77[\"server:leave_office\",{\"office_id\":\"o\"}]").await;
    assert!(client.text().await.starts_with("43/smcp,77[false,"));
}

#[tokio::test]
async fn a_huge_name_is_not_sent_back() {
    let hub = hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let huge = "n".repeat(1 << 20);
    for body in [
        format!("[\"{huge}\",{{}}]"),
        format!("[\"client:{huge}\",{{}}]"),
        format!("[\"client:{huge}\",7]"),
        format!("[\"client:get_tools\",{{\"computer\":\"{huge}\"}}]"),
    ] {
        let answer = agent.ask_text(&body).await;
        assert!(answer.len() < 4096, "{} bytes", answer.len());
        let code = serde_json::from_str::<Value>(&answer).unwrap()[0]["code"].as_i64();
        assert!(matches!(code, Some(400 | 404)), "{answer}");
    }
}
