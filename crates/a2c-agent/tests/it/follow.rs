//! Following an office: who asks whom, how often, and what is told, through a real hub.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use a2c_agent::{Agent, AgentEvent, FollowOptions, FollowedPart, FollowedParts, Following, LinkOptions, RequestError};
use a2c_protocol::event;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::office::proxy::Proxy;
use crate::office::recorder::{Heard, Recorder};
use crate::office::{Asked, Computer, agent, error, hub, next, office, within};

fn only(parts: FollowedParts) -> FollowOptions {
    FollowOptions::default().with_parts(parts).with_retry(Duration::from_millis(10))
}

/// Follows with a recorder as it is by default.
async fn follow(agent: &Agent, parts: FollowedParts) -> (Following, UnboundedReceiver<Heard>) {
    let (recorder, heard) = Recorder::new();
    (agent.follow(Arc::new(recorder), only(parts)).await.unwrap(), heard)
}

async fn hear(heard: &mut UnboundedReceiver<Heard>) -> Heard {
    within(heard.recv()).await.expect("it is still followed")
}

/// A Desktop of one window.
fn desktop(window: &str) -> Value {
    json!({"desktops": [window]})
}

fn seen(computer: &str, window: &str) -> Heard {
    Heard::Desktop(computer.into(), vec![window.into()])
}

fn entered(computer: &str) -> Heard {
    Heard::Entered(computer.into())
}

fn left(computer: &str) -> Heard {
    Heard::Left(computer.into())
}

fn notified(event: &str) -> Heard {
    Heard::Notified(event.into())
}

fn answer_to(asked: &Asked, name: &str) -> Value {
    match asked.event.as_str() {
        event::GET_TOOLS => json!({"tools": [{"name": name, "params_schema": {}}]}),
        event::GET_DESKTOP => desktop(name),
        event::GET_FINDER => json!({"documents": [], "total_count": name.len()}),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn it_begins_with_the_members_and_stores_what_they_offer() {
    let (_hub, agent, mut desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::ALL).await;
    assert_eq!(following.computers(), ["desk"]);
    assert!(following.tools("desk").is_none() && following.tools("absent").is_none());
    assert_eq!(hear(&mut heard).await, entered("desk"));
    let mut events = BTreeSet::new();
    for _ in 0..3 {
        let asked = desk.next().await;
        events.insert(asked.event.clone());
        let answer = answer_to(&asked, "one");
        asked.answer(answer).await;
        hear(&mut heard).await;
    }
    let all = [event::GET_DESKTOP, event::GET_FINDER, event::GET_TOOLS].map(str::to_owned);
    assert_eq!(events, BTreeSet::from(all));
    assert_eq!(following.tools("desk").unwrap()[0].name, "one");
    assert_eq!(following.desktop("desk").unwrap()[..], ["one"]);
    assert_eq!(following.finder("desk").unwrap().total_count, 3);
    desk.was_asked_nothing(&agent).await;
}

#[tokio::test]
async fn each_notification_refreshes_what_it_is_about_and_is_told_before() {
    let (_hub, agent, mut desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::ALL).await;
    for _ in 0..3 {
        let asked = desk.next().await;
        let answer = answer_to(&asked, "old");
        asked.answer(answer).await;
    }
    for _ in 0..4 {
        hear(&mut heard).await;
    }
    for (told, asked_for) in [
        (event::UPDATE_TOOL_LIST, event::GET_TOOLS),
        (event::UPDATE_CONFIG, event::GET_TOOLS),
        (event::UPDATE_DESKTOP, event::GET_DESKTOP),
        (event::UPDATE_FINDER, event::GET_FINDER),
    ] {
        desk.tell(told).await;
        let asked = desk.asked(asked_for).await;
        assert_eq!(hear(&mut heard).await, notified(told), "told while the answer is still to come");
        let answer = answer_to(&asked, "newer");
        asked.answer(answer).await;
        let expected = match asked_for {
            event::GET_TOOLS => Heard::Tools("desk".into(), vec!["newer".into()]),
            event::GET_DESKTOP => seen("desk", "newer"),
            _ => Heard::Finder("desk".into(), 5),
        };
        assert_eq!(hear(&mut heard).await, expected);
        desk.was_asked_nothing(&agent).await;
    }
    assert_eq!(following.desktop("desk").unwrap()[..], ["newer"]);
}

#[tokio::test]
async fn a_computer_that_comes_is_fetched_and_one_that_leaves_is_dropped() {
    let (hub, agent, _desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
    assert_eq!(hear(&mut heard).await, entered("desk"));
    let mut late = Computer::join(&hub, "late").await;
    assert_eq!(hear(&mut heard).await, notified("enter late"));
    assert_eq!(hear(&mut heard).await, entered("late"));
    late.asked(event::GET_DESKTOP).await.answer(desktop("w")).await;
    assert_eq!(hear(&mut heard).await, seen("late", "w"));
    assert_eq!(following.computers(), ["desk", "late"]);
    late.leave().await;
    assert_eq!(hear(&mut heard).await, notified("leave late"));
    assert_eq!(hear(&mut heard).await, left("late"));
    assert_eq!((following.computers(), following.desktop("late")), (vec!["desk".to_owned()], None));
    late.enter().await;
    assert_eq!(hear(&mut heard).await, notified("enter late"));
    assert_eq!(hear(&mut heard).await, entered("late"));
    assert!(following.desktop("late").is_none(), "nothing is left of the first visit");
    late.asked(event::GET_DESKTOP).await.answer(desktop("again")).await;
    assert_eq!(hear(&mut heard).await, seen("late", "again"));
}

#[tokio::test]
async fn a_burst_during_a_refresh_costs_one_more_and_the_last_state_is_seen() {
    let (_hub, agent, mut desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
    assert_eq!(hear(&mut heard).await, entered("desk"));
    let first = desk.asked(event::GET_DESKTOP).await;
    for _ in 0..20 {
        desk.tell(event::UPDATE_DESKTOP).await;
    }
    for _ in 0..20 {
        assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    }
    desk.was_asked_nothing(&agent).await;
    first.answer(desktop("first")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "first"));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("last")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "last"));
    desk.was_asked_nothing(&agent).await;
    assert_eq!(following.desktop("desk").unwrap()[..], ["last"]);
}

#[tokio::test]
async fn a_computer_that_does_not_answer_delays_no_other() {
    let (hub, agent, mut slow) = office().await;
    let mut quick = Computer::join(&hub, "quick").await;
    let (_following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
    let _never = slow.asked(event::GET_DESKTOP).await;
    quick.asked(event::GET_DESKTOP).await.answer(desktop("1")).await;
    while hear(&mut heard).await != seen("quick", "1") {}
    slow.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    quick.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    quick.asked(event::GET_DESKTOP).await.answer(desktop("2")).await;
    assert_eq!(hear(&mut heard).await, seen("quick", "2"));
}

#[tokio::test]
async fn parts_that_are_not_followed_are_not_asked_for() {
    let (_hub, agent, mut desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::TOOLS).await;
    desk.asked(event::GET_TOOLS).await.answer(json!({"tools": []})).await;
    for _ in 0..2 {
        hear(&mut heard).await;
    }
    for told in [event::UPDATE_FINDER, event::UPDATE_DESKTOP] {
        desk.tell(told).await;
        assert_eq!(hear(&mut heard).await, notified(told));
    }
    desk.was_asked_nothing(&agent).await;
    assert!(following.finder("desk").is_none());
}

#[tokio::test]
async fn every_default_can_be_replaced() {
    let (_hub, agent, mut desk) = office().await;
    let (mut recorder, mut heard) = Recorder::new();
    recorder.after_enter = Some(FollowedParts::NONE);
    recorder.after_desktop_update = Some(FollowedParts::NONE);
    recorder.after_config_update = Some(FollowedParts::DESKTOP | FollowedParts::FINDER);
    recorder.desktop_size = Some(1);
    let _following = agent.follow(Arc::new(recorder), only(FollowedParts::ALL)).await.unwrap();
    assert_eq!(hear(&mut heard).await, entered("desk"));
    desk.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    desk.was_asked_nothing(&agent).await;
    desk.tell(event::UPDATE_CONFIG).await;
    let (one, other) = (desk.next().await, desk.next().await);
    let (windows, finder) = if one.event == event::GET_DESKTOP { (one, other) } else { (other, one) };
    assert_eq!((finder.event.as_str(), &windows.payload["desktop_size"]), (event::GET_FINDER, &json!(1)));
}

#[tokio::test]
async fn a_failed_refresh_keeps_what_was_known_and_is_tried_again_where_that_may_help() {
    let (_hub, agent, mut desk) = office().await;
    let (following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
    assert_eq!(hear(&mut heard).await, entered("desk"));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("good")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "good"));

    desk.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    for _ in 0..2 {
        desk.asked(event::GET_DESKTOP).await.refuse(&error(429, "limit", 1)).await;
        assert_eq!(hear(&mut heard).await, Heard::Failed("desk".into(), FollowedPart::Desktop, Some(429)));
        assert_eq!(following.desktop("desk").unwrap()[..], ["good"]);
    }
    desk.asked(event::GET_DESKTOP).await.answer(desktop("better")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "better"));

    desk.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    desk.asked(event::GET_DESKTOP).await.answer(json!({"desktops": 7})).await;
    assert_eq!(hear(&mut heard).await, Heard::Failed("desk".into(), FollowedPart::Desktop, None));
    desk.tell(event::UPDATE_DESKTOP).await;
    assert_eq!(hear(&mut heard).await, notified(event::UPDATE_DESKTOP));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("best")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "best"));
    desk.was_asked_nothing(&agent).await;
}

#[tokio::test]
async fn after_a_lost_connection_the_whole_office_is_looked_at_again() {
    let hub = hub().await;
    let (mut stays, goes) = (Computer::join(&hub, "stays").await, Computer::join(&hub, "goes").await);
    let proxy = Proxy::to(&hub).await;
    let agent = Agent::connect(&LinkOptions::new(&proxy.url), "a").await.unwrap();
    agent.join("o").await.unwrap();
    let mut events = agent.subscribe();
    let (following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
    stays.asked(event::GET_DESKTOP).await.answer(desktop("before")).await;
    while hear(&mut heard).await != seen("stays", "before") {}

    proxy.cut();
    assert!(matches!(next(&mut events).await, AgentEvent::Disconnected { .. }));
    // Whether the Agent hears of these or not depends on when it is back; what it knows in the end does not.
    goes.leave().await;
    let mut comes = Computer::join(&hub, "comes").await;
    comes.asked(event::GET_DESKTOP).await.answer(desktop("new")).await;
    stays.asked(event::GET_DESKTOP).await.answer(desktop("after")).await;
    let mut expected = vec![left("goes"), seen("comes", "new"), seen("stays", "after")];
    while !expected.is_empty() {
        let heard = hear(&mut heard).await;
        expected.retain(|expected| *expected != heard);
    }
    assert_eq!(following.computers(), ["comes", "stays"]);
    assert_eq!(following.desktop("stays").unwrap()[..], ["after"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn events_that_were_missed_are_made_up_for() {
    let (hub, agent, mut desk) = office().await;
    let mut events = agent.subscribe();
    let (mut recorder, mut heard) = Recorder::new();
    let (release, gate) = std::sync::mpsc::channel();
    recorder.gate = Some(gate.into());
    let following = agent.follow(Arc::new(recorder), only(FollowedParts::DESKTOP)).await.unwrap();
    assert_eq!(hear(&mut heard).await, entered("desk"));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("old")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "old"));

    // The follower holds the first news until more came than is kept.
    desk.tell(event::UPDATE_FINDER).await;
    next(&mut events).await;
    let mut missed = Computer::join(&hub, "missed").await;
    next(&mut events).await;
    for _ in 0..1100 {
        desk.tell(event::UPDATE_FINDER).await;
        next(&mut events).await;
    }
    drop(release);
    missed.asked(event::GET_DESKTOP).await.answer(desktop("found")).await;
    desk.asked(event::GET_DESKTOP).await.answer(desktop("new")).await;
    let mut expected = vec![seen("missed", "found"), seen("desk", "new")];
    while !expected.is_empty() {
        let heard = hear(&mut heard).await;
        assert_ne!(heard, notified("enter missed"), "it was to be missed");
        expected.retain(|expected| *expected != heard);
    }
    assert_eq!(following.computers(), ["desk", "missed"]);
}

#[tokio::test]
async fn what_is_told_of_one_computer_is_in_order_even_if_the_follower_takes_its_time() {
    let (_hub, agent, mut desk) = office().await;
    let (mut recorder, mut heard) = Recorder::new();
    let busy = Arc::new(tokio::sync::Notify::new());
    recorder.busy = Some(busy.clone());
    let _following = agent.follow(Arc::new(recorder), only(FollowedParts::DESKTOP)).await.unwrap();
    assert_eq!(hear(&mut heard).await, entered("desk"));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("1")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "1"));
    desk.leave().await;
    desk.enter().await;
    assert_eq!(hear(&mut heard).await, notified("leave desk"));
    assert_eq!(hear(&mut heard).await, notified("enter desk"));
    desk.was_asked_nothing(&agent).await;
    busy.notify_one();
    assert_eq!(hear(&mut heard).await, left("desk"));
    assert_eq!(hear(&mut heard).await, entered("desk"));
    desk.asked(event::GET_DESKTOP).await.answer(desktop("2")).await;
    assert_eq!(hear(&mut heard).await, seen("desk", "2"));
}

#[tokio::test]
async fn it_ends_with_its_handle() {
    let (_hub, agent, mut desk) = office().await;
    for is_dropped in [true, false] {
        let (following, mut heard) = follow(&agent, FollowedParts::DESKTOP).await;
        let asked = desk.asked(event::GET_DESKTOP).await;
        if is_dropped {
            drop(following);
        } else {
            following.stop().await;
        }
        asked.answer(desktop("too late")).await;
        desk.tell(event::UPDATE_DESKTOP).await;
        // The follower is dropped with the last task: then nothing is told any more.
        let mut told = Vec::new();
        while let Some(heard) = within(heard.recv()).await {
            told.push(heard);
        }
        assert_eq!(told, [entered("desk")]);
        desk.was_asked_nothing(&agent).await;
    }
}

#[tokio::test]
async fn it_ends_with_the_connection_and_stop_waits_for_the_follower() {
    let (_hub, agent, mut desk) = office().await;
    let (mut recorder, mut heard) = Recorder::new();
    let busy = Arc::new(tokio::sync::Notify::new());
    recorder.busy = Some(busy.clone());
    let following = agent.follow(Arc::new(recorder), only(FollowedParts::DESKTOP)).await.unwrap();
    desk.asked(event::GET_DESKTOP).await.answer(desktop("1")).await;
    assert_eq!(hear(&mut heard).await, entered("desk"));
    assert_eq!(hear(&mut heard).await, seen("desk", "1"));
    agent.close().await;
    let stop = tokio::spawn(following.stop());
    tokio::task::yield_now().await;
    assert!(!stop.is_finished(), "the follower is still at work");
    busy.notify_one();
    within(stop).await.unwrap();
    assert!(within(heard.recv()).await.is_none());
}

#[tokio::test]
async fn an_agent_without_a_seat_cannot_follow() {
    let hub = hub().await;
    let agent_without = Agent::connect(&LinkOptions::new(hub.url()), "a").await.unwrap();
    let outcome = agent_without.follow(Arc::new(()), FollowOptions::default()).await;
    assert!(matches!(outcome, Err(RequestError::Refused(_))));
    let agent = agent(&hub).await;
    assert!(agent.follow(Arc::new(()), FollowOptions::default()).await.unwrap().computers().is_empty());
}
