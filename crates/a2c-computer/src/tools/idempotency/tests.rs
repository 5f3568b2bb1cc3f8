use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Answers are their own size.
fn calls(limits: IdempotencyLimits) -> IdempotentCalls<usize> {
    IdempotentCalls::new(limits, |answer| *answer)
}

fn key(req_id: &str) -> CallKey<'_> {
    CallKey { agent: "agent", req_id }
}

const ABOUT: Fingerprint = Fingerprint(1);

fn first<A: Clone + std::fmt::Debug>(arrival: Arrival<A>) -> RunPermit<A> {
    match arrival {
        Arrival::First(permit) => permit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_repeat_waits_for_the_first_and_later_ones_get_its_answer() {
    let (calls, now) = (calls(IdempotencyLimits::default()), Instant::now());
    let permit = first(calls.begin(key("1"), ABOUT, now));
    let waiters: Vec<_> = (0..3)
        .map(|_| match calls.begin(key("1"), ABOUT, now) {
            Arrival::Running(waiter) => tokio::spawn(waiter.outcome()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(calls.running(), 1);
    permit.finish(42, now);
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), CallOutcome::Answer(42));
    }
    assert!(matches!(calls.begin(key("1"), ABOUT, now), Arrival::Done(42)));
    assert_eq!(calls.running(), 0);
    let other_agent = CallKey { agent: "other", req_id: "1" };
    assert!(matches!(calls.begin(other_agent, ABOUT, now), Arrival::First(_)), "keys are each Agent's own");
}

#[tokio::test]
async fn a_call_that_dies_is_unknown_and_does_not_run_again() {
    let (calls, now) = (calls(IdempotencyLimits::default()), Instant::now());
    let permit = first(calls.begin(key("1"), ABOUT, now));
    let Arrival::Running(waiter) = calls.begin(key("1"), ABOUT, now) else { panic!("it runs") };
    let died = tokio::spawn(async move {
        let _permit = permit;
        panic!("as tools do");
    });
    assert!(died.await.unwrap_err().is_panic());
    assert_eq!(waiter.outcome().await, CallOutcome::Unknown);
    assert!(matches!(calls.begin(key("1"), ABOUT, now), Arrival::Unknown));
    assert_eq!(calls.running(), 0);
}

#[test]
fn a_call_that_ran_for_long_and_died_is_remembered_from_its_end() {
    let age = Duration::from_secs(3600);
    let (calls, begun) = (calls(IdempotencyLimits { age, ..IdempotencyLimits::default() }), Instant::now());
    let permit = first(calls.begin(key("1"), ABOUT, begun));
    while Instant::now() == begun {}
    drop(permit);
    assert!(matches!(calls.begin(key("1"), ABOUT, begun + age), Arrival::Unknown));
}

#[test]
fn another_call_under_the_same_key_is_noticed() {
    let (calls, now) = (calls(IdempotencyLimits::default()), Instant::now());
    let print = |tool: &str, params: Value| calls.fingerprint(tool, params.as_object().unwrap());
    let about = print("read", json!({"path": "a", "n": 1}));
    assert_eq!(about, print("read", json!({"n": 1, "path": "a"})));
    let permit = first(calls.begin(key("1"), about, now));
    for other in [print("read", json!({"path": "b", "n": 1})), print("write", json!({"path": "a", "n": 1}))] {
        assert!(matches!(calls.begin(key("1"), other, now), Arrival::Mismatch));
    }
    permit.finish(1, now);
    assert!(matches!(calls.begin(key("1"), print("read", json!({})), now), Arrival::Mismatch), "when it is over, too");
    assert!(matches!(calls.begin(key("1"), about, now), Arrival::Done(1)));
}

#[test]
fn a_cancellation_reaches_the_running_call_alone() {
    let (calls, now) = (calls(IdempotencyLimits::default()), Instant::now());
    assert!(!calls.cancel(key("1")), "nothing runs");
    let (one, two) = (first(calls.begin(key("1"), ABOUT, now)), first(calls.begin(key("2"), ABOUT, now)));
    assert!(calls.cancel(key("1")));
    assert!(one.cancelled().is_cancelled() && !two.cancelled().is_cancelled());
    one.finish(0, now);
    assert!(!calls.cancel(key("1")), "it is over");
}

#[test]
fn a_large_answer_is_forgotten_but_not_that_it_ran() {
    let (calls, now) = (calls(IdempotencyLimits { answer_bytes: 10, ..IdempotencyLimits::default() }), Instant::now());
    first(calls.begin(key("1"), ABOUT, now)).finish(11, now);
    assert!(matches!(calls.begin(key("1"), ABOUT, now), Arrival::Forgotten));
}

#[tokio::test]
async fn a_large_answer_reaches_those_who_wait() {
    let calls = IdempotentCalls::new(
        IdempotencyLimits { answer_bytes: 0, ..IdempotencyLimits::default() },
        |answer: &Arc<str>| answer.len(),
    );
    let permit = first(calls.begin(key("1"), ABOUT, Instant::now()));
    let Arrival::Running(waiter) = calls.begin(key("1"), ABOUT, Instant::now()) else { panic!("it runs") };
    permit.finish("large".into(), Instant::now());
    assert_eq!(waiter.outcome().await, CallOutcome::Answer("large".into()));
}

#[test]
fn too_many_at_a_time_are_turned_away_and_may_come_again() {
    let (calls, now) = (calls(IdempotencyLimits { running: 1, ..IdempotencyLimits::default() }), Instant::now());
    let permit = first(calls.begin(key("1"), ABOUT, now));
    assert!(matches!(calls.begin(key("2"), ABOUT, now), Arrival::Full));
    assert!(matches!(calls.begin(key("1"), ABOUT, now), Arrival::Running(_)), "a repeat takes no place");
    permit.finish(1, now);
    assert!(matches!(calls.begin(key("2"), ABOUT, now), Arrival::First(_)));
}

/// What can happen.
#[derive(Debug, Clone)]
enum Step {
    Arrive { key: u8, about: u64 },
    Finish { key: u8, answer: usize },
    Pass(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_u8, prop_oneof![9 => Just(1_u64), 1 => Just(2)]).prop_map(|(key, about)| Step::Arrive { key, about }),
        3 => (0..6_u8, 0..8_usize).prop_map(|(key, answer)| Step::Finish { key, answer }),
        1 => (0..5_u64).prop_map(Step::Pass),
    ]
}

/// The same rules, said plainly: a list of what is over, newest last.
#[derive(Default)]
struct Model {
    running: HashMap<u8, (u64, RunPermit<usize>)>,
    over: Vec<Over>,
}

struct Over {
    key: u8,
    about: u64,
    answer: Option<usize>,
    at: Instant,
}

const LIMITS: IdempotencyLimits =
    IdempotencyLimits { running: 3, answers: 2, bytes: 9, answer_bytes: 6, calls: 4, age: Duration::from_secs(10) };

impl Model {
    fn forget(&mut self, now: Instant) {
        let excess = self.over.len().saturating_sub(LIMITS.calls);
        self.over.drain(..excess);
        self.over.retain(|over| now.duration_since(over.at) < LIMITS.age);
        loop {
            let answers: Vec<_> = self.over.iter().filter_map(|over| over.answer).collect();
            if answers.len() <= LIMITS.answers && answers.iter().sum::<usize>() <= LIMITS.bytes {
                return;
            }
            self.over.iter_mut().find(|over| over.answer.is_some()).unwrap().answer = None;
        }
    }

    fn expected(&mut self, key: u8, about: u64, now: Instant) -> String {
        self.forget(now);
        let over = self.over.iter().find(|over| over.key == key).map(|over| (over.about, over.answer));
        match (self.running.get(&key), over) {
            (Some((known, _)), _) if *known != about => "mismatch".into(),
            (Some(_), _) => "running".into(),
            (None, Some((known, _))) if known != about => "mismatch".into(),
            (None, Some((_, Some(answer)))) => format!("done {answer}"),
            (None, Some((_, None))) => "forgotten".into(),
            (None, None) if self.running.len() == LIMITS.running => "full".into(),
            (None, None) => "first".into(),
        }
    }
}

proptest! {
    #[test]
    fn it_does_what_the_plain_rules_say(steps in proptest::collection::vec(any_step(), 1..80)) {
        let (calls, mut model, mut now) = (calls(LIMITS), Model::default(), Instant::now());
        for step in steps {
            match step {
                Step::Pass(seconds) => now += Duration::from_secs(seconds),
                Step::Finish { key, answer } => {
                    let Some((about, permit)) = model.running.remove(&key) else { continue };
                    permit.finish(answer, now);
                    let answer = (answer <= LIMITS.answer_bytes).then_some(answer);
                    model.over.push(Over { key, about, answer, at: now });
                    model.forget(now);
                }
                Step::Arrive { key: number, about } => {
                    let expected = model.expected(number, about, now);
                    let begin = calls.begin(key(&number.to_string()), Fingerprint(about), now);
                    let got = match &begin {
                        Arrival::First(_) => "first".into(),
                        Arrival::Running(_) => "running".into(),
                        Arrival::Done(answer) => format!("done {answer}"),
                        Arrival::Forgotten => "forgotten".into(),
                        Arrival::Unknown => "unknown".into(),
                        Arrival::Mismatch => "mismatch".into(),
                        Arrival::Full => "full".into(),
                    };
                    prop_assert_eq!(got, expected);
                    if let Arrival::First(permit) = begin {
                        model.running.insert(number, (about, permit));
                    }
                }
            }
            let calls = calls.shared.calls();
            prop_assert_eq!(calls.running, model.running.len());
            prop_assert!(calls.bytes <= LIMITS.bytes && calls.answered.len() <= LIMITS.answers);
            prop_assert_eq!(calls.all.len(), calls.running + calls.finished.len());
        }
    }
}
