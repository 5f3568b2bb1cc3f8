//! Nothing is lost: neither what is sent in the instant after CONNECT nor an answer that comes back at once.
//!
//! The whole product in one process, with only the sample MCP server outside: hub, Computer and Agent share a runtime,
//! so that answers race with the code that waits for them as closely as they can.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2c_computer::{LinkOptions, Transport};
use a2c_link::Link;
use a2c_protocol::Role;
use a2c_testbed::{PATIENCE, rounds};
use serde_json::json;

use crate::in_process::{TestOffice, sample, seat, start_hub};

const JOINS: usize = 10_000;
const CALLS: usize = 100_000;
const AT_ONCE: usize = 64;

/// Runs `work` for every number below `count`, `AT_ONCE` at a time, and counts how often it succeeded.
async fn many<F: Future<Output = bool> + Send>(
    count: usize,
    work: impl Fn(usize) -> F + Send + Sync + 'static,
) -> usize {
    let (next, done, work) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(work));
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (next, done, work) = (next.clone(), done.clone(), work.clone());
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    if work(number).await {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("a worker panicked");
    }
    done.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_join_in_the_instant_of_connecting_is_lost() {
    let hub = start_hub().await;
    let mut options = LinkOptions::new(hub.url());
    options.transport = Transport::Websocket;
    let joins = rounds(JOINS);
    let joined = many(joins, move |number| {
        let options = options.clone();
        async move {
            let (link, _inbox) = Link::connect(&options, Role::Computer).await.expect("connected");
            let joined = link.join(&seat(&format!("c{number}"))).await;
            link.close().await;
            joined.is_ok()
        }
    })
    .await;
    assert_eq!(joined, joins);
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_lost() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let asking = office.agent.clone();
    let calls = rounds(CALLS);
    let answered = many(calls, move |number| {
        let agent = asking.clone();
        async move {
            let text = number.to_string();
            let params = json!({ "text": text }).as_object().unwrap().clone();
            let result = agent.call_tool("desk", "echo", params, PATIENCE).await;
            result.expect("answered").text() == text
        }
    })
    .await;
    assert_eq!(answered, calls);
    assert_eq!(office.hub.calls_in_flight(), 0);
    office.end().await;
}
