//! What an Agent, a Computer and a client without a seat may not do.

use serde_json::{Value, json};

use crate::support::{Member, assert_error, hub};

#[tokio::test]
async fn only_an_agent_calls_computers() {
    let hub = hub().await;
    let caller = Member::computer(&hub, "caller", "o").await;
    let mut callee = Member::computer(&hub, "callee", "o").await;
    for name in ["callee", "caller", "unseated"] {
        assert_error(&caller.ask("client:get_tools", json!({"computer": name, "req_id": "r"})).await, 403);
    }
    callee.heard_nothing().await;
}

#[tokio::test]
async fn without_a_seat_everything_is_4103() {
    let hub = hub().await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let unseated = Member::connect(&hub).await;
    let agent = Member::connect_with(Member::options(&hub).auth(json!({"role": "agent"}))).await.unwrap();
    for member in [&unseated, &agent] {
        for event in [
            "client:get_tools",
            "client:tool_call",
            "server:update_config",
            "server:list_room",
            "server:tool_call_cancel",
        ] {
            let request = json!({"agent": "a", "computer": "c", "req_id": "r", "office_id": "o"});
            assert_error(&member.ask(event, request).await, 4103);
        }
    }
    computer.heard_nothing().await;
}

#[tokio::test]
async fn a_seat_that_was_given_up_is_no_seat() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    assert_eq!(agent.leave("o").await, (true, None));
    computer.told("notify:leave_office").await;
    assert_error(&agent.ask("client:get_tools", json!({"computer": "c", "req_id": "r"})).await, 4103);
    computer.heard_nothing().await;
}

#[tokio::test]
async fn a_computer_of_another_office_does_not_exist() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut elsewhere = Member::computer(&hub, "desk", "p").await;
    let ask = async |name: &str| agent.ask("client:get_tools", json!({"computer": name, "req_id": "r"})).await;
    let expected = |name: &str| {
        let message = format!("Computer with name '{name}' not found");
        let details = json!({"computer_name": name});
        json!({
            "code": 404, "message": message, "computer": name, "details": details,
            "error": {"code": 404, "message": message, "details": details}
        })
    };
    for name in ["desk", "nowhere", "a", ""] {
        let answer = ask(name).await;
        assert_error(&answer, 404);
        assert_eq!(answer, expected(name));
    }
    elsewhere.heard_nothing().await;
}

#[tokio::test]
async fn another_office_is_not_listed() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let computer = Member::computer(&hub, "c", "o").await;
    let _elsewhere = Member::computer(&hub, "c", "p").await;
    let ask = async |member: &Member, office: &str| {
        member.ask("server:list_room", json!({"agent": "a", "req_id": "r", "office_id": office})).await
    };
    let (existing, absent) = (ask(&agent, "p").await, ask(&agent, "q").await);
    assert_error(&existing, 4104);
    assert_eq!(existing, absent, "whether an office exists is not told");
    assert_error(&ask(&computer, "p").await, 4104);
    assert_eq!(computer.roll("o").await, ["agent a", "computer c"]);
}

#[tokio::test]
async fn a_session_id_in_the_list_opens_no_session() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let listed = agent.ask("server:list_room", json!({"agent": "a", "req_id": "r", "office_id": "o"})).await;
    let sid = listed["sessions"][0]["sid"].as_str().unwrap();
    assert_eq!(agent.client.sid().as_deref(), Some(sid));
    let target = format!("/smcp/?EIO=4&transport=polling&sid={sid}");
    let (status, ..) = crate::support::http(&hub, "GET", &target, "", "").await;
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
}

#[tokio::test]
async fn only_a_computer_updates_and_only_an_agent_cancels() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    agent.told("notify:enter_office").await;
    assert_error(&agent.ask("server:update_config", json!({"computer": "c"})).await, 403);
    assert_error(&computer.ask("server:tool_call_cancel", json!({"agent": "a", "req_id": "r"})).await, 403);
    agent.heard_nothing().await;
    computer.heard_nothing().await;
}

#[tokio::test]
async fn a_running_req_id_is_refused_until_it_is_answered() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut one = Member::computer(&hub, "one", "o").await;
    let mut two = Member::computer(&hub, "two", "o").await;
    one.told("notify:enter_office").await;
    let request = |computer: &str| json!({"computer": computer, "req_id": "r"});

    let first = agent.asking("client:tool_call", request("one"));
    let waiting = one.event("client:tool_call").await;
    for (event, computer) in [("client:tool_call", "one"), ("client:tool_call", "two"), ("client:get_tools", "one")] {
        let error = assert_error(&agent.ask(event, request(computer)).await, 400);
        assert!(error.message.contains("`req_id`"), "{error}");
    }
    one.heard_nothing().await;
    two.heard_nothing().await;

    let other_agent = Member::agent(&hub, "b", "p").await;
    let mut third = Member::computer(&hub, "one", "p").await;
    let same_key = other_agent.asking("client:tool_call", request("one"));
    third.answer("client:tool_call", json!({"of": "another agent"})).await;
    assert_eq!(same_key.await.unwrap(), json!({"of": "another agent"}));

    waiting.ack.unwrap().send(a2c_socketio::Payload::json(&json!({"n": 1})).unwrap()).await.unwrap();
    assert_eq!(first.await.unwrap(), json!({"n": 1}));
    let again = agent.asking("client:tool_call", request("one"));
    one.answer("client:tool_call", json!({"n": 2})).await;
    assert_eq!(again.await.unwrap(), json!({"n": 2}), "a finished key reaches the Computer");
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn calls_without_a_req_id_run_side_by_side() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let asked: Vec<_> = (0..3).map(|_| agent.asking("client:get_config", json!({"computer": "c"}))).collect();
    for _ in 0..3 {
        computer.answer("client:get_config", json!({"servers": {}})).await;
    }
    for answer in asked {
        assert_eq!(answer.await.unwrap()["servers"], Value::Object(Default::default()));
    }
}
