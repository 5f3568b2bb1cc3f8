//! The routes for operators: health, readiness, metrics, views, and disconnecting a member.

use a2c_hub::Hub;
use a2c_hub::auth::{ApiKey, ApiKeyAuth};
use a2c_socketio::Incoming;
use serde_json::{Value, json};

use crate::support::{Member, http, hub, hub_with, until_empty};

async fn get(hub: &Hub, target: &str, headers: &str) -> (String, String) {
    let (status, _, body) = http(hub, "GET", target, headers, "").await;
    (status, body)
}

async fn json_of(hub: &Hub, target: &str) -> Value {
    let (status, body) = get(hub, target, "").await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{body}");
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn offices_members_and_calls_are_shown() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let _idle = Member::connect(&hub).await;
    assert_eq!(json_of(&hub, "/admin/offices").await, json!([{"office_id": "o", "agent": "a", "computers": ["c"]}]));

    let asked =
        agent.asking("client:tool_call", json!({"computer": "c", "req_id": "r", "tool_name": "t", "timeout": 9}));
    let ack = computer.event("client:tool_call").await.ack.unwrap();
    let calls = json_of(&hub, "/admin/calls").await;
    assert_eq!(calls.as_array().unwrap().len(), 1);
    for (key, expected) in
        [("office_id", "o"), ("agent", "a"), ("computer", "c"), ("req_id", "r"), ("request", "tool_call")]
    {
        assert_eq!(calls[0][key], expected);
    }

    let members = json_of(&hub, "/admin/members").await;
    assert_eq!(members.as_array().unwrap().len(), 3);
    let mine = json_of(&hub, "/admin/members?office_id=o").await;
    assert_eq!(mine.as_array().unwrap().len(), 2);
    assert_eq!(
        (&mine[0]["name"], &mine[0]["role"], &mine[0]["calls_in_flight"]),
        (&json!("a"), &json!("agent"), &json!(1))
    );
    assert_eq!((&mine[0]["subject"], &mine[0]["a2c_version"]), (&json!("anybody"), &json!("0.2.0")));
    assert!(mine[0]["address"].as_str().unwrap().starts_with("127.0.0.1:"));

    ack.send(a2c_socketio::Payload::json(&json!({"content": []})).unwrap()).await.unwrap();
    asked.await.unwrap();
    assert_eq!(json_of(&hub, "/admin/calls").await, json!([]));
}

#[tokio::test]
async fn a_dismissed_member_does_not_come_back() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    agent.told("notify:enter_office").await;
    let members = json_of(&hub, "/admin/members?office_id=o").await;
    let sid = members[1]["sid"].as_str().unwrap().to_owned();
    let (status, ..) = http(&hub, "DELETE", &format!("/admin/members/{sid}"), "", "").await;
    assert_eq!(status, "HTTP/1.1 204 No Content");
    // The Socket.IO word for it, which keeps clients from coming back by themselves.
    assert!(matches!(computer.next().await, Some(Incoming::Disconnected { .. }) | None));
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "c"}));
    let (status, _, body) = http(&hub, "DELETE", &format!("/admin/members/{sid}"), "", "").await;
    assert!(status.contains("404") && body.contains("/admin/members"), "{status} {body}");
}

#[tokio::test]
async fn numbers_are_read() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let asked = agent.asking("client:get_tools", json!({"computer": "c", "req_id": "r"}));
    computer.answer("client:get_tools", json!({"tools": []})).await;
    asked.await.unwrap();
    agent.ask("client:get_tools", json!({"computer": "absent", "req_id": "r"})).await;
    agent.ask("nonsense", json!({})).await;
    let (status, text) = get(&hub, "/metrics", "").await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    for line in [
        "a2c_hub_connections 2",
        "a2c_hub_members{role=\"agent\"} 1",
        "a2c_hub_offices 1",
        "a2c_hub_calls_in_flight 0",
        "a2c_hub_connections_accepted_total 2",
        "a2c_hub_requests_total{kind=\"get_tools\",outcome=\"ok\"} 1",
        "a2c_hub_requests_total{kind=\"get_tools\",outcome=\"not_found\"} 1",
        "a2c_hub_requests_total{kind=\"join_office\",outcome=\"ok\"} 2",
        "a2c_hub_requests_total{kind=\"unknown\",outcome=\"malformed\"} 1",
        "a2c_hub_call_duration_seconds_count{kind=\"other\"} 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let moved = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap();
    assert!(moved("a2c_hub_received_bytes_total") > 100 && moved("a2c_hub_sent_bytes_total") > 100);
}

#[tokio::test]
async fn strangers_do_not_fill_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| {
        config.admin = Some(ApiKeyAuth::new(ApiKey::new("operators-only").unwrap()));
        config.audit = Some(a2c_hub::audit::AuditConfig::at(&path));
    })
    .await;
    let long = format!("/admin/members/{}", "x".repeat(4000));
    for _ in 0..50 {
        assert!(http(&hub, "DELETE", &long, "", "").await.0.contains("401"));
    }
    hub.shutdown().await;
    let text = std::fs::read_to_string(&path).unwrap();
    let refused: Vec<_> = text.lines().filter(|line| line.contains("/admin/members/")).collect();
    assert_eq!(refused.len(), 1, "one record a minute for an address");
    assert!(refused[0].len() < 1000, "{}", refused[0]);
}

#[tokio::test]
async fn a_host_or_origin_that_is_no_text_is_none_of_ours() {
    let hub = hub().await;
    for header in ["origin: http://\u{e9}vil.example\r\n", "host: \u{e9}vil.example\r\n"] {
        let (status, _) = get(&hub, "/admin/offices", header).await;
        assert!(status.contains("403") || status.contains("400"), "{header:?} {status}");
    }
}

#[tokio::test]
async fn operators_are_local_or_show_a_token() {
    let local = hub().await;
    // A client behind a proxy on this machine is not on this machine.
    for header in ["x-forwarded-for: 10.0.0.1\r\n", "Forwarded: for=10.0.0.1\r\n", "via: 1.1 proxy\r\n"] {
        for target in ["/metrics", "/admin/offices"] {
            let (status, body) = get(&local, target, header).await;
            assert!(status.contains("401") && body.contains("admin token"), "{target} {header} {status}");
        }
    }
    let (status, _) = get(&local, "/admin/offices", "origin: https://evil.example\r\n").await;
    assert!(status.contains("403"), "{status}");

    let keyed = hub_with(|config| config.admin = Some(ApiKeyAuth::new(ApiKey::new("operators-only").unwrap()))).await;
    assert!(get(&keyed, "/metrics", "").await.0.contains("401"));
    assert!(get(&keyed, "/metrics", "authorization: Bearer wrong\r\n").await.0.contains("401"));
    assert!(get(&keyed, "/metrics", "authorization: Bearer operators-only\r\n").await.0.contains("200"));
    // Health needs no credential.
    assert_eq!(get(&keyed, "/healthz", "").await.1, "ok\n");
    assert_eq!(get(&keyed, "/readyz", "").await.1, "ready\n");
    until_empty(&keyed).await;
}
