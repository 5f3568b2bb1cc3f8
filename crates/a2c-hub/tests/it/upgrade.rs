//! Members that begin by polling and try to move to a websocket: half-way, twice, too late.

use a2c_hub::Hub;
use serde_json::{Value, json};

use crate::support::{Member, RawClient, http, hub, until_empty};

/// An Agent that is polled, request by request.
struct Polled<'a> {
    hub: &'a Hub,
    sid: String,
    target: String,
}

impl<'a> Polled<'a> {
    async fn agent(hub: &'a Hub) -> Self {
        let polling = "/smcp/?EIO=4&transport=polling";
        let (_, _, open) = http(hub, "GET", &format!("{polling}&a2c_version=0.2.0"), "", "").await;
        let open: Value = serde_json::from_str(&open[1..]).unwrap();
        let sid = open["sid"].as_str().unwrap().to_owned();
        let agent = Self { hub, target: format!("{polling}&sid={sid}"), sid };
        agent.post("40/smcp,{\"role\":\"agent\"}").await;
        agent.poll_for("40/smcp,").await;
        let request = json!({"role": "agent", "name": "a", "office_id": "o"});
        agent.post(&format!("42/smcp,1[\"server:join_office\",{request}]")).await;
        assert_eq!(agent.poll_for("43/smcp,1").await, "[true,null]");
        agent
    }

    async fn post(&self, text: &str) {
        assert_eq!(http(self.hub, "POST", &self.target, "", text).await.2, "ok");
    }

    /// Polls until a packet begins like this, and gives the rest of it.
    async fn poll_for(&self, start: &str) -> String {
        loop {
            let (status, _, polled) = http(self.hub, "GET", &self.target, "", "").await;
            assert_eq!(status, "HTTP/1.1 200 OK", "{polled}");
            if let Some(packet) = polled.split('\x1e').find_map(|packet| packet.strip_prefix(start)) {
                return packet.to_owned();
            }
            if polled.split('\x1e').any(|packet| packet == "2") {
                self.post("3").await;
            }
        }
    }

    /// Calls the Computer, which answers.
    async fn calls(&self, computer: &mut Member) {
        self.post("42/smcp,7[\"client:x\",{\"computer\":\"c\"}]").await;
        computer.answer("client:x", json!({"ok": true})).await;
        assert_eq!(self.poll_for("43/smcp,7").await, "[{\"ok\":true}]");
    }

    async fn half_open(&self) -> RawClient {
        RawClient::upgrade(self.hub, &format!("sid={}", self.sid)).await
    }

    async fn probed(&self) -> RawClient {
        let mut websocket = self.half_open().await;
        websocket.send("2probe").await;
        assert_eq!(websocket.text().await, "3probe");
        websocket
    }
}

#[tokio::test]
async fn half_open_upgrades_leave_a_member_as_it_was() {
    let hub = hub().await;
    let agent = Polled::agent(&hub).await;
    let mut computer = Member::computer(&hub, "c", "o").await;

    let silent = agent.half_open().await;
    agent.calls(&mut computer).await;
    let mut second = agent.half_open().await;
    second.send("2probe").await;
    second.hung_up().await;
    agent.calls(&mut computer).await;
    silent.vanish();

    for words in [&["5"][..], &["42/smcp,[\"x\"]"], &["2probe", "2probe"], &["2probe", "41/smcp,"], &["hello"]] {
        // The one before may not have been forgotten yet: then this one is sent away at once, which is as good.
        let mut wrong = agent.half_open().await;
        wrong.send_together(words.iter().map(|word| (*word).to_owned())).await;
        wrong.hung_up().await;
        agent.calls(&mut computer).await;
    }
    assert_eq!(hub.connections(), 2);
    assert_eq!(computer.roll("o").await, ["agent a", "computer c"]);
}

#[tokio::test]
async fn a_probe_that_is_never_finished_and_one_that_is() {
    let hub = hub().await;
    let agent = Polled::agent(&hub).await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let unfinished = agent.probed().await;
    agent.calls(&mut computer).await;
    unfinished.vanish();
    let mut websocket = loop {
        let mut websocket = agent.half_open().await;
        websocket.send("2probe").await;
        if websocket.try_text().await.as_deref() == Some("3probe") {
            break websocket;
        }
    };
    // Asked by polling, answered by websocket.
    agent.post("42/smcp,8[\"client:x\",{\"computer\":\"c\"}]").await;
    websocket.send("5").await;
    computer.answer("client:x", json!({"n": 8})).await;
    loop {
        let text = websocket.text().await;
        if text.starts_with("43/smcp,") {
            assert_eq!(text, "43/smcp,8[{\"n\":8}]");
            break;
        }
        assert!(text.contains("notify:enter_office"), "{text}");
    }
    websocket.vanish();
    assert_eq!(computer.told("notify:leave_office").await, json!({"office_id": "o", "agent": "a"}));
    computer.close().await;
    until_empty(&hub).await;
}

#[tokio::test]
async fn an_upgrade_of_a_session_that_is_gone() {
    let hub = hub().await;
    let agent = Polled::agent(&hub).await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let mut probed = agent.probed().await;
    agent.post("41/smcp,").await;
    assert_eq!(computer.told("notify:leave_office").await, json!({"office_id": "o", "agent": "a"}));
    probed.send("5").await;
    probed.hung_up().await;
    for sid in [&*agent.sid, "0123456789abcdef0123456789abcdef", "nonsense", ""] {
        let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let target = format!("/smcp/?EIO=4&transport=websocket&sid={sid}");
        let (status, _, body) = http(&hub, "GET", &target, upgrade, "").await;
        assert_eq!((&*status, &*body), ("HTTP/1.1 400 Bad Request", r#"{"code":1,"message":"Session ID unknown"}"#));
    }
    computer.close().await;
    until_empty(&hub).await;
}
