//! Joining an office: the rules, the announcements, and that a refusal changes nothing.

use serde_json::json;

use crate::support::{Member, hub};

#[tokio::test]
async fn the_others_hear_of_a_newcomer_and_the_newcomer_does_not() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    assert_eq!(agent.told("notify:enter_office").await, json!({"office_id": "o", "computer": "desk"}));
    let mut lab = Member::computer(&hub, "lab", "o").await;
    for member in [&mut agent, &mut desk] {
        assert_eq!(member.told("notify:enter_office").await, json!({"office_id": "o", "computer": "lab"}));
    }
    assert_eq!(agent.roll("o").await, ["agent a", "computer desk", "computer lab"]);
    for member in [&mut agent, &mut desk, &mut lab] {
        member.heard_nothing().await;
    }
}

#[tokio::test]
async fn computers_hear_of_the_agent() {
    let hub = hub().await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    let mut elsewhere = Member::computer(&hub, "desk", "p").await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    assert_eq!(desk.told("notify:enter_office").await, json!({"office_id": "o", "agent": "a"}));
    agent.heard_nothing().await;
    elsewhere.heard_nothing().await;
}

#[tokio::test]
async fn a_second_agent_is_refused_and_changes_nothing() {
    let hub = hub().await;
    let mut first = Member::agent(&hub, "a", "o").await;
    let mut second = Member::connect(&hub).await;
    let reason = second.refused_join("agent", "b", "o").await;
    assert!(reason.contains("already has an agent"), "{reason}");
    first.heard_nothing().await;
    second.heard_nothing().await;
    assert_eq!(first.roll("o").await, ["agent a"]);
    // Nothing is fixed and nothing is reserved: it may still become a Computer, of any name.
    assert_eq!(second.join("computer", "b", "o").await, (true, None));
    assert_eq!(first.told("notify:enter_office").await, json!({"office_id": "o", "computer": "b"}));
}

#[tokio::test]
async fn joining_again_succeeds_and_announces_nothing() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    assert_eq!(agent.join("agent", "a", "o").await, (true, None));
    assert_eq!(desk.join("computer", "desk", "o").await, (true, None));
    agent.heard_nothing().await;
    desk.heard_nothing().await;
    assert_eq!(agent.roll("o").await, ["agent a", "computer desk"]);
}

#[tokio::test]
async fn an_agent_leaves_before_it_moves() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut there = Member::computer(&hub, "there", "p").await;
    let mut here = Member::computer(&hub, "here", "o").await;
    assert!(agent.refused_join("agent", "a", "p").await.contains("leave"));
    there.heard_nothing().await;
    here.heard_nothing().await;
    assert_eq!(agent.roll("o").await, ["agent a", "computer here"]);
    assert_eq!(agent.leave("o").await, (true, None));
    assert_eq!(agent.join("agent", "a", "p").await, (true, None));
    assert_eq!(there.told("notify:enter_office").await, json!({"office_id": "p", "agent": "a"}));
}

#[tokio::test]
async fn a_computer_that_moves_leaves_its_old_office() {
    let hub = hub().await;
    let mut old = Member::agent(&hub, "old", "o").await;
    let mut new = Member::agent(&hub, "new", "p").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    old.told("notify:enter_office").await;
    assert_eq!(desk.join("computer", "bench", "p").await, (true, None), "a move may change the name");
    assert_eq!(old.told("notify:leave_office").await, json!({"office_id": "o", "computer": "desk"}));
    assert_eq!(new.told("notify:enter_office").await, json!({"office_id": "p", "computer": "bench"}));
    for member in [&mut old, &mut new, &mut desk] {
        member.heard_nothing().await;
    }
    assert_eq!(old.roll("o").await, ["agent old"]);
    assert_eq!(new.roll("p").await, ["agent new", "computer bench"]);
}

#[tokio::test]
async fn a_name_is_taken_once_per_role_and_office() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "same", "o").await;
    let _first = Member::computer(&hub, "same", "o").await;
    agent.told("notify:enter_office").await;
    let _elsewhere = Member::computer(&hub, "same", "p").await;
    let second = Member::connect(&hub).await;
    assert!(second.refused_join("computer", "same", "o").await.contains("same"));
    agent.heard_nothing().await;
    assert_eq!(agent.roll("o").await, ["agent same", "computer same"]);
}

#[tokio::test]
async fn a_refused_move_keeps_the_old_seat() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut mover = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    let mut sitting = Member::computer(&hub, "desk", "p").await;
    mover.refused_join("computer", "desk", "p").await;
    for member in [&mut agent, &mut mover, &mut sitting] {
        member.heard_nothing().await;
    }
    let asked = agent.asking("client:get_tools", json!({"computer": "desk", "req_id": "r"}));
    mover.answer("client:get_tools", json!({"from": "the mover"})).await;
    assert_eq!(asked.await.unwrap(), json!({"from": "the mover"}));
}

#[tokio::test]
async fn a_role_is_fixed_by_connect_or_by_the_first_join() {
    let hub = hub().await;
    let claimed = Member::connect_with(Member::options(&hub).auth(json!({"role": "agent"}))).await.unwrap();
    assert!(claimed.refused_join("computer", "c", "o").await.contains("role"));
    assert_eq!(claimed.join("agent", "a", "o").await, (true, None));

    let late = Member::connect(&hub).await;
    assert_eq!(late.join("computer", "c", "o").await, (true, None));
    assert!(late.refused_join("agent", "c", "p").await.contains("role"));
    assert_eq!(late.leave("o").await, (true, None));
    assert!(late.refused_join("agent", "c", "p").await.contains("role"), "leaving does not free the role");
    assert_eq!(late.join("computer", "c", "p").await, (true, None));
}

#[tokio::test]
async fn another_name_in_the_same_office_is_refused() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let desk = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    assert!(desk.refused_join("computer", "bench", "o").await.contains("leave"));
    assert!(agent.refused_join("agent", "b", "o").await.contains("leave"));
    agent.heard_nothing().await;
    assert_eq!(agent.roll("o").await, ["agent a", "computer desk"]);
    let other = Member::computer(&hub, "bench", "o").await;
    assert_eq!(other.roll("o").await.len(), 3, "the refused name was not reserved");
}

#[tokio::test]
async fn names_and_offices_are_bounded() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let member = Member::connect(&hub).await;
    let (long, wide) = ("n".repeat(257), "名".repeat(86));
    for bad in ["", &long, &wide] {
        assert!(member.refused_join("computer", bad, "o").await.contains("name"));
        assert!(member.refused_join("computer", "c", bad).await.contains("office_id"));
        assert!(!member.leave(bad).await.0);
    }
    agent.heard_nothing().await;
    assert_eq!(member.join("computer", &"n".repeat(256), "o").await, (true, None));
    assert_eq!(member.join("computer", "c", &"o".repeat(256)).await, (true, None));
}
