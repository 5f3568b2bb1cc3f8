//! What our hub passes on without knowing it: the SDK's skills and blobs, unknown events, unknown fields, bytes.

use a2c_agent::{Agent, AgentEvent, LinkOptions, RequestError};
use serde_json::{Map, Value, json};

use super::peers::{Hub, Sdk, news};

/// More than the SDK sends in place, and more than one of its blocks.
const LARGE: usize = 300_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_agent_reads_the_skills_and_blobs_of_an_sdk_computer() {
    let hub = Hub::start();
    let mut desk = desk(&hub);
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "caller").await.unwrap();
    let mut told = agent.subscribe();
    agent.join("o").await.unwrap();
    assert_eq!(request(&agent, "client:get_skills", json!({})).await["skills"], json!([]));

    desk.ask("write_skill", json!({"name": "greet", "text": "Say hello."}));
    let payload = news(&mut told, |news| unknown(news, "notify:update_skills")).await;
    assert_eq!(payload, json!({"computer": "desk"}));
    let answer = request(&agent, "client:get_skills", json!({"req_id": "skills-1"})).await;
    assert_eq!(answer["req_id"], "skills-1");
    assert_eq!(
        (&answer["skills"][0]["name"], &answer["skills"][0]["description"]),
        (&json!("greet"), &json!("Says greet."))
    );
    let skill = request(&agent, "client:get_skill", json!({"name": "greet"})).await;
    assert_eq!((&skill["body"], &skill["mime_type"]), (&json!("Say hello."), &json!("text/markdown")));
    assert_eq!(refused(&agent, "client:get_skill", json!({"name": "No Name"})).await, 4016);
    assert_eq!(refused(&agent, "client:get_blob", json!({"blob_handle": "nothing"})).await, 4018);

    // A large result arrives as a handle, its bytes block by block.
    let call = json!({"tool_name": "picture", "params": {"size": LARGE}, "timeout": 60});
    let picture = request(&agent, "client:tool_call", call).await;
    let handle = &picture["content"][0]["_meta"]["a2c_blob_handle"];
    assert!(handle.is_string(), "{picture}");
    let block = request(&agent, "client:get_blob", json!({"blob_handle": handle, "chunk_offset": LARGE - 3})).await;
    assert_eq!((&block["eof"], &block["total_size"]), (&json!(true), &json!(LARGE)));
    agent.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_events_and_fields_survive_both_ways() {
    let hub = Hub::start();
    let mut desk = desk(&hub);
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "caller").await.unwrap();
    let mut told = agent.subscribe();
    agent.join("o").await.unwrap();
    let later = json!({"deep": [1, {"er": null}], "big": 9_007_199_254_740_993_u64, "text": "grüße 🌍"});
    let asked = json!({"computer": "desk", "req_id": "mirror-1", "agent": "caller", "later": later});
    let answer = request(&agent, "client:mirror", asked.clone()).await;
    assert_eq!(answer, json!({"request": asked, "req_id": "mirror-1", "later": {"unheard": ["of", null, 1.5]}}));

    // Whatever name it claims, the hub puts in the real one.
    let fields = json!({"computer": "another", "later": later});
    desk.ask("announce", json!({"what": "weather", "fields": fields}));
    let payload = news(&mut told, |news| unknown(news, "notify:update_weather")).await;
    assert_eq!(payload, json!({"computer": "desk", "later": later}));
    agent.close().await;
}

#[test]
fn an_sdk_agent_and_an_sdk_computer_share_skills_blobs_and_bytes_through_our_hub() {
    let hub = Hub::start();
    let mut agent = Sdk::start("sdk_agent.py", &json!({"url": hub.url(), "office": "o", "name": "caller"}));
    agent.ask("connect", json!({"transports": ["polling", "websocket"]}));
    agent.ask("join", json!({}));
    assert_eq!(agent.ask("computers", json!({}))["computers"], json!([]));
    let mut desk = desk(&hub);
    assert_eq!(agent.event("tools_received")["tools"], json!(["echo", "fail", "picture", "reword"]));

    desk.ask("write_skill", json!({"name": "greet", "text": "Say hello."}));
    let received = agent.event("skills_received");
    assert_eq!((&received["computer"], &received["skills"]), (&json!("desk"), &json!(["greet"])));
    assert_eq!(agent.ask("skills", json!({"computer": "desk"}))["skills"][0]["name"], "greet");
    // Too long to come in place: the SDK's Agent fetches it as a blob without being asked to.
    let long = "hello ".repeat(LARGE / 6);
    desk.ask("write_skill", json!({"name": "greet-at-length", "text": long}));
    loop {
        let received = agent.event("skills_received");
        if received["skills"] == json!(["greet", "greet-at-length"]) {
            break;
        }
    }
    let skill = agent.ask("skill", json!({"computer": "desk", "name": "greet-at-length"}))["skill"].take();
    assert_eq!(skill["body"], long);

    let call = json!({"computer": "desk", "tool": "picture", "params": {"size": LARGE}});
    let picture = agent.ask("call", call)["result"].take();
    let encoded = picture["content"][0]["data"].as_str().unwrap();
    assert_eq!(encoded.len(), LARGE.div_ceil(3) * 4, "the image is whole again");

    let bytes = "00ff10807f";
    assert_eq!(agent.ask("send_bytes", json!({"computer": "desk", "hex": bytes}))["hex"], bytes);

    desk.ask("update_config", json!({}));
    assert_eq!(agent.event("update_config")["data"], json!({"computer": "desk"}));
}

fn desk(hub: &Hub) -> Sdk {
    let mut desk = Sdk::start("sdk_computer.py", &json!({"url": hub.url(), "name": "desk"}));
    desk.ask("boot", json!({}));
    desk.ask("connect", json!({"transports": ["polling", "websocket"]}));
    desk.ask("join", json!({"office": "o"}));
    desk
}

/// The payload of a notification that our Agent has no name for.
fn unknown(news: AgentEvent, wanted: &str) -> Option<Value> {
    match news {
        AgentEvent::Unknown { event, payload } if event == wanted => Some(payload),
        _ => None,
    }
}

fn to_desk(payload: Value) -> Map<String, Value> {
    let Value::Object(mut payload) = payload else { panic!("a request is an object") };
    payload.insert("computer".into(), "desk".into());
    payload
}

async fn request(agent: &Agent, event: &str, payload: Value) -> Value {
    agent.request(event, to_desk(payload), std::time::Duration::from_secs(30)).await.unwrap()
}

/// The code of the error it is answered with.
async fn refused(agent: &Agent, event: &str, payload: Value) -> i64 {
    match agent.request(event, to_desk(payload), std::time::Duration::from_secs(30)).await {
        Err(RequestError::Refused(error)) => error.code.number(),
        other => panic!("expected an error, got {other:?}"),
    }
}
