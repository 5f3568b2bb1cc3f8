use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Answers are their own size.
fn kept(limits: KeptLimits) -> Kept<usize> {
    Kept::new(limits, |answer| *answer)
}

fn key(req_id: &str) -> CallKey<'_> {
    CallKey { agent: "agent", req_id }
}

const ABOUT: Fingerprint = Fingerprint(1);

fn first<A: Clone + std::fmt::Debug>(begin: Begin<A>) -> Ticket<A> {
    match begin {
        Begin::First(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_repeat_waits_for_the_first_and_later_ones_get_its_answer() {
    let (kept, now) = (kept(KeptLimits::default()), Instant::now());
    let ticket = first(kept.begin(key("1"), ABOUT, now));
    let waiters: Vec<_> = (0..3)
        .map(|_| match kept.begin(key("1"), ABOUT, now) {
            Begin::Running(waiter) => tokio::spawn(waiter.outcome()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kept.running(), 1);
    ticket.finish(42, now);
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), Outcome::Answer(42));
    }
    assert!(matches!(kept.begin(key("1"), ABOUT, now), Begin::Done(42)));
    assert_eq!(kept.running(), 0);
    let other_agent = CallKey { agent: "other", req_id: "1" };
    assert!(matches!(kept.begin(other_agent, ABOUT, now), Begin::First(_)), "keys are each Agent's own");
}

#[tokio::test]
async fn a_call_that_dies_is_unknown_and_does_not_run_again() {
    let (kept, now) = (kept(KeptLimits::default()), Instant::now());
    let ticket = first(kept.begin(key("1"), ABOUT, now));
    let Begin::Running(waiter) = kept.begin(key("1"), ABOUT, now) else { panic!("it runs") };
    let died = tokio::spawn(async move {
        let _ticket = ticket;
        panic!("as tools do");
    });
    assert!(died.await.unwrap_err().is_panic());
    assert_eq!(waiter.outcome().await, Outcome::Unknown);
    assert!(matches!(kept.begin(key("1"), ABOUT, now), Begin::Unknown));
    assert_eq!(kept.running(), 0);
}

#[test]
fn a_call_that_ran_for_long_and_died_is_remembered_from_its_end() {
    let age = Duration::from_secs(3600);
    let (kept, begun) = (kept(KeptLimits { age, ..KeptLimits::default() }), Instant::now());
    let ticket = first(kept.begin(key("1"), ABOUT, begun));
    while Instant::now() == begun {}
    drop(ticket);
    assert!(matches!(kept.begin(key("1"), ABOUT, begun + age), Begin::Unknown));
}

#[test]
fn another_call_under_the_same_key_is_noticed() {
    let (kept, now) = (kept(KeptLimits::default()), Instant::now());
    let print = |tool: &str, params: Value| kept.fingerprint(tool, params.as_object().unwrap());
    let about = print("read", json!({"path": "a", "n": 1}));
    assert_eq!(about, print("read", json!({"n": 1, "path": "a"})));
    let ticket = first(kept.begin(key("1"), about, now));
    for other in [print("read", json!({"path": "b", "n": 1})), print("write", json!({"path": "a", "n": 1}))] {
        assert!(matches!(kept.begin(key("1"), other, now), Begin::Mismatch));
    }
    ticket.finish(1, now);
    assert!(matches!(kept.begin(key("1"), print("read", json!({})), now), Begin::Mismatch), "when it is over, too");
    assert!(matches!(kept.begin(key("1"), about, now), Begin::Done(1)));
}

#[test]
fn a_cancellation_reaches_the_running_call_alone() {
    let (kept, now) = (kept(KeptLimits::default()), Instant::now());
    assert!(!kept.cancel(key("1")), "nothing runs");
    let (one, two) = (first(kept.begin(key("1"), ABOUT, now)), first(kept.begin(key("2"), ABOUT, now)));
    assert!(kept.cancel(key("1")));
    assert!(one.cancelled().is_cancelled() && !two.cancelled().is_cancelled());
    one.finish(0, now);
    assert!(!kept.cancel(key("1")), "it is over");
}

#[test]
fn a_large_answer_is_forgotten_but_not_that_it_ran() {
    let (kept, now) = (kept(KeptLimits { answer_bytes: 10, ..KeptLimits::default() }), Instant::now());
    first(kept.begin(key("1"), ABOUT, now)).finish(11, now);
    assert!(matches!(kept.begin(key("1"), ABOUT, now), Begin::Forgotten));
}

#[tokio::test]
async fn a_large_answer_reaches_those_who_wait() {
    let kept = Kept::new(KeptLimits { answer_bytes: 0, ..KeptLimits::default() }, |answer: &Arc<str>| answer.len());
    let ticket = first(kept.begin(key("1"), ABOUT, Instant::now()));
    let Begin::Running(waiter) = kept.begin(key("1"), ABOUT, Instant::now()) else { panic!("it runs") };
    ticket.finish("large".into(), Instant::now());
    assert_eq!(waiter.outcome().await, Outcome::Answer("large".into()));
}

#[test]
fn too_many_at_a_time_are_turned_away_and_may_come_again() {
    let (kept, now) = (kept(KeptLimits { running: 1, ..KeptLimits::default() }), Instant::now());
    let ticket = first(kept.begin(key("1"), ABOUT, now));
    assert!(matches!(kept.begin(key("2"), ABOUT, now), Begin::Full));
    assert!(matches!(kept.begin(key("1"), ABOUT, now), Begin::Running(_)), "a repeat takes no place");
    ticket.finish(1, now);
    assert!(matches!(kept.begin(key("2"), ABOUT, now), Begin::First(_)));
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
    running: HashMap<u8, (u64, Ticket<usize>)>,
    over: Vec<Over>,
}

struct Over {
    key: u8,
    about: u64,
    answer: Option<usize>,
    at: Instant,
}

const LIMITS: KeptLimits =
    KeptLimits { running: 3, answers: 2, bytes: 9, answer_bytes: 6, calls: 4, age: Duration::from_secs(10) };

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
        let (kept, mut model, mut now) = (kept(LIMITS), Model::default(), Instant::now());
        for step in steps {
            match step {
                Step::Pass(seconds) => now += Duration::from_secs(seconds),
                Step::Finish { key, answer } => {
                    let Some((about, ticket)) = model.running.remove(&key) else { continue };
                    ticket.finish(answer, now);
                    let answer = (answer <= LIMITS.answer_bytes).then_some(answer);
                    model.over.push(Over { key, about, answer, at: now });
                    model.forget(now);
                }
                Step::Arrive { key: number, about } => {
                    let expected = model.expected(number, about, now);
                    let begin = kept.begin(key(&number.to_string()), Fingerprint(about), now);
                    let got = match &begin {
                        Begin::First(_) => "first".into(),
                        Begin::Running(_) => "running".into(),
                        Begin::Done(answer) => format!("done {answer}"),
                        Begin::Forgotten => "forgotten".into(),
                        Begin::Unknown => "unknown".into(),
                        Begin::Mismatch => "mismatch".into(),
                        Begin::Full => "full".into(),
                    };
                    prop_assert_eq!(got, expected);
                    if let Begin::First(ticket) = begin {
                        model.running.insert(number, (about, ticket));
                    }
                }
            }
            let calls = kept.shared.calls();
            prop_assert_eq!(calls.running, model.running.len());
            prop_assert!(calls.bytes <= LIMITS.bytes && calls.answered.len() <= LIMITS.answers);
            prop_assert_eq!(calls.all.len(), calls.running + calls.finished.len());
        }
    }
}
