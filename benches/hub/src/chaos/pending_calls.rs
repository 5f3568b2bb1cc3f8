//! The calls of one connection held against the acknowledgements that came off its wire.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::wire::field;

/// A call that waits.
struct Call {
    req_id: String,
    computer: String,
    sent: Instant,
}

/// What one acknowledgement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The answer of the Computer that was called, to this call.
    Right,
    /// An error that says why.
    Error(i64),
    /// An acknowledgement of a call that had one already.
    Duplicate,
    /// An answer to another call, of another Computer, or to nothing that was asked.
    Wrong(String),
}

/// Ids are never used twice on a connection, so that a second acknowledgement cannot pass for a first one.
pub struct PendingCalls {
    office: String,
    next: u64,
    waiting: HashMap<u64, Call>,
}

impl PendingCalls {
    pub fn new(office: &str) -> Self {
        Self { office: office.to_owned(), next: 0, waiting: HashMap::new() }
    }

    /// Enters a call: its acknowledgement id.
    pub fn call(&mut self, req_id: &str, computer: &str, now: Instant) -> u64 {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, Call { req_id: req_id.to_owned(), computer: computer.to_owned(), sent: now });
        id
    }

    /// Enters an acknowledgement.
    pub fn acknowledged(&mut self, id: u64, body: &str) -> Entry {
        let Some(call) = self.waiting.remove(&id) else {
            return if id < self.next { Entry::Duplicate } else { Entry::Wrong(format!("id {id} was never used")) };
        };
        let served_by = format!("{}@{}", call.computer, self.office);
        if field(body, "served_by") == Some(&served_by) && field(body, "req_id") == Some(&call.req_id) {
            return Entry::Right;
        }
        match code(body) {
            Some(code) => Entry::Error(code),
            None => Entry::Wrong(body.chars().take(200).collect()),
        }
    }

    /// Calls under way.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes out the calls that have waited longer than any answer can take.
    pub fn overdue(&mut self, now: Instant, limit: Duration) -> usize {
        let before = self.waiting.len();
        self.waiting.retain(|_, call| now.duration_since(call.sent) < limit);
        before - self.waiting.len()
    }
}

/// The code of an error acknowledgement, flat and mirrored alike.
fn code(body: &str) -> Option<i64> {
    let arguments: Vec<Value> = serde_json::from_str(body).ok()?;
    let [error] = arguments.as_slice() else { return None };
    let code = error["code"].as_i64()?;
    (error["error"]["code"].as_i64() == Some(code) && error["message"].is_string()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: &str = r#"[{"code":404,"message":"gone","error":{"code":404,"message":"gone"}}]"#;

    fn answer(req_id: &str, computer: &str, office: &str) -> String {
        format!(r#"[{{"req_id":"{req_id}","served_by":"{computer}@{office}","content":[]}}]"#)
    }

    fn pending_calls() -> PendingCalls {
        let mut pending_calls = PendingCalls::new("o1");
        assert_eq!(pending_calls.call("r0", "c0", Instant::now()), 0);
        assert_eq!(pending_calls.call("r1", "c1", Instant::now()), 1);
        pending_calls
    }

    #[test]
    fn each_call_takes_one_right_answer_or_error() {
        let mut pending_calls = pending_calls();
        assert_eq!(pending_calls.acknowledged(1, &answer("r1", "c1", "o1")), Entry::Right);
        assert_eq!(pending_calls.acknowledged(0, GONE), Entry::Error(404));
        assert_eq!(pending_calls.waiting(), 0);
    }

    #[test]
    fn a_second_acknowledgement_is_a_duplicate_whatever_it_says() {
        let mut pending_calls = pending_calls();
        assert_eq!(pending_calls.acknowledged(0, &answer("r0", "c0", "o1")), Entry::Right);
        assert_eq!(pending_calls.acknowledged(0, &answer("r0", "c0", "o1")), Entry::Duplicate);
        assert_eq!(pending_calls.acknowledged(0, GONE), Entry::Duplicate);
        assert_eq!(pending_calls.waiting(), 1);
    }

    #[test]
    fn the_answer_of_another_is_wrong() {
        let table = [
            answer("r1", "c0", "o1"),
            answer("r0", "c1", "o1"),
            answer("r0", "c0", "o2"),
            "[]".to_owned(),
            "[null]".to_owned(),
            r#"[{"code":404,"message":"no mirror"}]"#.to_owned(),
            r#"[{"message":"no code","error":{"message":"no code"}}]"#.to_owned(),
        ];
        for body in table {
            assert!(matches!(pending_calls().acknowledged(0, &body), Entry::Wrong(_)), "{body}");
        }
        assert!(matches!(pending_calls().acknowledged(2, GONE), Entry::Wrong(_)));
    }

    #[test]
    fn what_waits_too_long_is_lost_once() {
        let (mut pending_calls, limit) = (pending_calls(), Duration::from_secs(20));
        assert_eq!(pending_calls.overdue(Instant::now() + limit / 2, limit), 0);
        assert_eq!(pending_calls.overdue(Instant::now() + limit, limit), 2);
        assert_eq!(pending_calls.overdue(Instant::now() + limit, limit), 0);
    }
}
