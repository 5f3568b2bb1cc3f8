//! The SDK's Agent with our hub and our Computer.

use serde_json::{Value, json};

use super::peers::{Hub, Sdk, field};

#[test]
fn an_sdk_agent_works_after_an_upgrade_to_websocket() {
    check("sdk_agent.py", &json!({"transports": ["polling", "websocket"]}), "websocket");
}

#[test]
fn an_sdk_agent_works_by_polling() {
    check("sdk_agent.py", &json!({"transports": ["polling"]}), "polling");
}

#[test]
fn an_sdk_agent_works_by_websocket_alone_and_on_our_own_path() {
    check("sdk_agent.py", &json!({"transports": ["websocket"], "path": "smcp"}), "websocket");
}

#[test]
fn a_synchronous_sdk_agent_works_after_an_upgrade_to_websocket() {
    check("sdk_sync_agent.py", &json!({"transports": ["polling", "websocket"]}), "websocket");
}

#[test]
fn a_synchronous_sdk_agent_works_by_polling() {
    check("sdk_sync_agent.py", &json!({"transports": ["polling"]}), "polling");
}

fn check(script: &str, connection: &Value, transport: &str) {
    let hub = Hub::start();
    let mut agent = Sdk::start(script, &json!({"url": hub.url(), "office": "o", "name": "caller"}));
    assert_eq!(agent.ask("connect", connection.clone())["transport"], transport);
    agent.ask("join", json!({}));
    assert_eq!(agent.ask("computers", json!({}))["computers"], json!([]));

    // A Computer comes: the SDK is told, asks for its tools by itself, and finds it in the office.
    let desk = hub.address.computer("o", "desk", "auto");
    assert_eq!(agent.event("enter_office")["data"], json!({"office_id": "o", "computer": "desk"}));
    let received = agent.event("tools_received");
    assert_eq!((&received["computer"], &received["tools"]), (&json!("desk"), &json!(["add", "echo", "note", "wait"])));
    let computers = agent.ask("computers", json!({}))["computers"].take();
    assert_eq!(field(&computers, "name"), ["desk"]);
    assert_eq!((&computers[0]["role"], &computers[0]["office_id"]), (&json!("computer"), &json!("o")));
    assert_eq!(computers[0]["a2c_version"], "0.2.0");

    let tools = agent.ask("tools", json!({"computer": "desk"}))["tools"].take();
    assert_eq!(field(&tools, "name"), ["add", "echo", "note", "wait"]);
    let echo = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!(echo["description"], "Gives the text back.");
    assert_eq!(echo["params_schema"]["required"], json!(["text"]));

    assert_eq!(call(&mut agent, "echo", &json!({"text": "grüße 🌍"})), (false, "grüße 🌍".into(), Value::Null));
    assert_eq!(call(&mut agent, "add", &json!({"a": 2, "b": 0.5})), (false, "2.5".into(), Value::Null));
    let (failed, text, code) = call(&mut agent, "add", &json!({"a": "two"}));
    assert!(failed && text.contains("invalid type"), "{text}");
    assert_eq!(code, 4003);
    let (failed, _, code) = call(&mut agent, "no-such-tool", &json!({}));
    assert!(failed);
    assert_eq!(code, 4001);

    context(&mut agent);
    unknown_computer(&mut agent);

    // An office has one Agent.
    let (ok, refusal) = hub.address.ask("o", "auto", &["members"]);
    assert!(!ok && refusal["stderr"].as_str().unwrap().contains("already has an agent"), "{refusal}");

    desk.stop();
    assert_eq!(agent.event("leave_office")["data"], json!({"office_id": "o", "computer": "desk"}));
    assert_eq!(agent.ask("computers", json!({}))["computers"], json!([]));

    // Leaving asks for no answer; that the next request is refused shows that it was done. The seat is free again.
    agent.ask("leave", json!({}));
    assert_eq!(agent.fail("computers", json!({}))["raised"], "ValueError");
    let (ok, members) = hub.address.ask("o", "auto", &["members"]);
    assert!(ok, "{members}");
    assert_eq!(field(&members["sessions"], "name"), ["teller"]);
    agent.ask("disconnect", json!({}));
}

/// Whether it failed, its text, and its error code.
fn call(agent: &mut Sdk, tool: &str, params: &Value) -> (bool, String, Value) {
    let outcome = agent.ask("call", json!({"computer": "desk", "tool": tool, "params": params}));
    let result = &outcome["result"];
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (result["isError"] == true, text, result["_meta"]["error_code"].clone())
}

/// The SDK sees our Desktop, is told when it changes, and lists our resources.
fn context(agent: &mut Sdk) {
    let (desk, note) = (json!({"computer": "desk"}), "window://a2c.sample/note");
    let desktops = agent.ask("desktop", desk)["desktops"].take();
    assert!(desktops[0].as_str().unwrap().starts_with(note), "{desktops}");
    assert_eq!(agent.ask("desktop", json!({"computer": "desk", "size": 0}))["desktops"], json!([]));
    call(agent, "note", &json!({"text": "grüße"}));
    let received = agent.event("desktop_received");
    let expected = json!([format!("{note}\n\ngrüße")]);
    assert_eq!((&received["computer"], &received["desktops"]), (&json!("desk"), &expected));
    assert_eq!(agent.ask("desktop", json!({"computer": "desk", "window": note}))["desktops"], expected);

    let page = agent.ask("resources", json!({"computer": "desk", "server": "sample"}))["page"].take();
    assert_eq!(field(&page["resources"], "uri"), ["dpe://a2c.sample", "dpe://a2c.sample/handbook", note]);
    assert_eq!(page["resources"][2]["_meta"]["page_count"], 3);
    let refused = agent.fail("resources", json!({"computer": "desk", "server": "missing"}));
    assert_eq!((&refused["raised"], &refused["fields"]["code"]), (&json!("SMCPProtocolError"), &json!(404)));
}

/// Each call of the SDK has its own way to tell the 404.
fn unknown_computer(agent: &mut Sdk) {
    let missing = json!({"computer": "missing"});
    let called = agent.ask("call", json!({"computer": "missing", "tool": "echo", "params": {}}))["result"].take();
    assert_eq!(called["isError"], true);
    let text = called["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[404] Computer with name 'missing' not found"), "{text}");
    let refused = agent.fail("skills", missing.clone());
    assert_eq!(refused["raised"], "SMCPProtocolError");
    assert_eq!(refused["fields"]["code"], 404);
    assert_eq!(refused["fields"]["details"], json!({"computer_name": "missing"}));
    // Here the SDK looks at the request id alone, which an error does not carry.
    assert_eq!(agent.fail("tools", missing)["raised"], "ValueError");
}
