use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::*;
use crate::restart::{RapidCrashes, RestartDelay};

const SECOND: Duration = Duration::from_secs(1);

/// What one run does.
#[derive(Clone, Copy)]
enum Script {
    /// Works until it is stopped.
    Works,
    /// Works for so long, then fails.
    FailsAfter(Duration),
    /// Fails before it is ready.
    FailsToStart,
    /// Cannot be started.
    Blocked,
    /// Works, then is not used.
    Idle,
    /// Works with a defect until it is stopped.
    Degraded,
    Panics,
}

#[derive(Default)]
struct Scripted {
    script: Mutex<VecDeque<Script>>,
    /// Every state that was visible, and every failed run.
    log: Mutex<Vec<String>>,
    /// The first run, kept beyond its end.
    kept: Mutex<Option<Run<Scripted>>>,
}

impl Scripted {
    fn note(&self, what: String) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}

impl Worker for Scripted {
    type Failure = String;

    async fn run(&self, run: &Run<Self>) -> Exit<String> {
        let script = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(Script::Works);
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| run.clone());
        match script {
            Script::FailsToStart => return Exit::Failed("no start".into()),
            Script::Blocked => return Exit::Blocked("no value".into()),
            Script::Panics => panic!("a defect"),
            _ => run.ready(),
        }
        match script {
            Script::FailsAfter(time) => tokio::select! {
                () = tokio::time::sleep(time) => return Exit::Failed("crashed".into()),
                () = run.stopped().cancelled() => {}
            },
            Script::Idle => return Exit::Idle,
            Script::Degraded => run.degraded("slow".into()),
            _ => {}
        }
        run.stopped().cancelled().await;
        Exit::Stopped
    }

    fn state_changed(&self, _: &WorkerState<String>, now: &WorkerState<String>) {
        self.note(now.to_string());
    }

    fn run_failed(&self, failure: &String, next: &NextStart) {
        self.note(match next {
            NextStart::After(delay) => format!("{failure}, again in {} s", delay.as_secs_f64()),
            NextStart::Never(reason) => format!("{failure}, never again: {reason}"),
        });
    }
}

fn policy() -> RestartPolicy {
    let delay = RestartDelay { first: SECOND, longest: 4 * SECOND, spread: 0.0 };
    RestartPolicy::always(delay, 60 * SECOND)
}

fn start(script: &[Script], policy: RestartPolicy) -> Supervisor<Scripted> {
    let worker = Scripted { script: Mutex::new(script.iter().copied().collect()), ..Scripted::default() };
    Supervisor::start(Arc::new(worker), policy, Target::On)
}

/// Waits until the worker is in a state.
async fn reach(supervisor: &Supervisor<Scripted>, word: &str) {
    supervisor.watch().wait_for(|status| status.state.word() == word).await.unwrap();
}

fn log(supervisor: &Supervisor<Scripted>) -> Vec<String> {
    supervisor.worker().log.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_fails_is_started_again_after_growing_delays() {
    let began = Instant::now();
    let supervisor = start(&[Script::FailsToStart, Script::FailsAfter(SECOND), Script::FailsToStart], policy());
    supervisor.settled().await;
    assert!(supervisor.status().retry_at.is_some() && supervisor.status().gave_up.is_none());
    supervisor.watch().wait_for(|status| status.restarts == 3 && status.state.is_running()).await.unwrap();
    assert_eq!(began.elapsed(), SECOND + SECOND + 2 * SECOND + 4 * SECOND);
    let expected = [
        "no start, again in 1 s",
        "failed: no start",
        "starting",
        "ready",
        "crashed, again in 2 s",
        "failed: crashed",
        "starting",
        "no start, again in 4 s",
        "failed: no start",
        "starting",
        "ready",
    ];
    assert_eq!(log(&supervisor), expected);
}

#[tokio::test(start_paused = true)]
async fn a_blocked_worker_waits_for_a_restart() {
    let supervisor = start(&[Script::Blocked], policy());
    supervisor.settled().await;
    tokio::time::sleep(600 * SECOND).await;
    let status = supervisor.status();
    assert_eq!((status.state.to_string().as_str(), status.gave_up), ("failed: no value", Some(GaveUp::Blocked)));
    supervisor.restart();
    supervisor.settled().await;
    assert_eq!(supervisor.state(), WorkerState::Ready);
}

#[tokio::test(start_paused = true)]
async fn rapid_crashes_end_the_restarts_until_one_is_asked_for() {
    let rapid = Some(RapidCrashes { times: 2, within: SECOND });
    let supervisor = start(&[Script::FailsToStart; 2], RestartPolicy { rapid_crashes: rapid, ..policy() });
    supervisor.watch().wait_for(|status| status.gave_up.is_some()).await.unwrap();
    assert_eq!(supervisor.status().gave_up, Some(GaveUp::RapidCrashes { times: 2, within: SECOND }));
    supervisor.restart();
    reach(&supervisor, "ready").await;
}

#[tokio::test(start_paused = true)]
async fn the_target_is_followed_and_gone_is_final() {
    let supervisor = start(&[Script::Degraded], policy());
    reach(&supervisor, "degraded").await;
    supervisor.set_target(Target::Off);
    assert!(supervisor.is_changing());
    supervisor.previous_run_ended().await;
    assert_eq!(supervisor.state(), WorkerState::Disabled);
    supervisor.restart();
    assert!(!supervisor.is_changing(), "one that is switched off stays so");
    supervisor.set_target(Target::On);
    supervisor.settled().await;
    assert_eq!(supervisor.state(), WorkerState::Ready);
    supervisor.set_target(Target::Gone);
    supervisor.gone().await;
    supervisor.set_target(Target::On);
    supervisor.settled().await;
    assert_eq!(supervisor.state(), WorkerState::Stopped);
    assert_eq!(log(&supervisor), ["ready", "degraded: slow", "disabled", "starting", "ready", "stopped"]);
}

#[tokio::test(start_paused = true)]
async fn a_restart_ends_the_pause_after_a_failure() {
    let supervisor = start(&[Script::FailsToStart], policy());
    supervisor.settled().await;
    let now = Instant::now();
    supervisor.restart();
    supervisor.settled().await;
    assert_eq!((supervisor.state(), now.elapsed()), (WorkerState::Ready, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn an_unused_worker_starts_when_it_is_woken() {
    let supervisor = start(&[Script::Idle], policy());
    supervisor.wake();
    reach(&supervisor, "unloaded").await;
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!(supervisor.state(), WorkerState::Unloaded);
    supervisor.wake();
    reach(&supervisor, "ready").await;
}

#[tokio::test(start_paused = true)]
async fn waking_twice_starts_once() {
    let supervisor = start(&[Script::Idle, Script::Idle], policy());
    reach(&supervisor, "unloaded").await;
    supervisor.wake();
    supervisor.wake();
    supervisor.watch().wait_for(|status| status.restarts == 1).await.unwrap();
    reach(&supervisor, "unloaded").await;
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!((supervisor.state(), supervisor.status().restarts), (WorkerState::Unloaded, 1));
}

#[tokio::test(start_paused = true)]
async fn a_start_is_told_while_it_lasts_or_is_to_come() {
    let supervisor = start(&[], policy());
    assert!(supervisor.is_starting());
    reach(&supervisor, "ready").await;
    assert!(!supervisor.is_starting());
    supervisor.restart();
    assert!(supervisor.is_starting(), "the restart is to come");
    supervisor.set_target(Target::Gone);
    supervisor.gone().await;
    assert!(!supervisor.is_starting());
}

/// A worker that asks for its status in every callback, while others look and change the target.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_at_the_status_stops_nothing() {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Default)]
    struct Curious(OnceLock<watch::Receiver<Status<String>>>);

    impl Worker for Curious {
        type Failure = String;

        async fn run(&self, run: &Run<Self>) -> Exit<String> {
            run.ready();
            run.stopped().cancelled().await;
            Exit::Stopped
        }

        fn state_changes(&self, _: &WorkerState<String>) {
            let _ = self.0.get().map(|status| status.borrow().state.clone());
        }
    }

    let supervisor = Arc::new(Supervisor::start(Arc::<Curious>::default(), policy(), Target::On));
    let _ = supervisor.worker().0.set(supervisor.watch());
    let done = Arc::new(AtomicBool::new(false));
    let looking: Vec<_> = (0..2)
        .map(|_| {
            let (supervisor, done) = (supervisor.clone(), done.clone());
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    supervisor.is_starting();
                    supervisor.is_changing();
                }
            })
        })
        .collect();
    for _ in 0..500 {
        supervisor.set_target(Target::Off);
        supervisor.set_target(Target::On);
        tokio::time::timeout(60 * SECOND, supervisor.settled()).await.expect("the state changes");
    }
    done.store(true, Ordering::Relaxed);
    looking.into_iter().for_each(|thread| thread.join().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_panic_stops_the_worker_for_good() {
    let supervisor = start(&[Script::Panics], policy());
    supervisor.gone().await;
    assert_eq!(supervisor.state(), WorkerState::Stopped);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_supervisor_ends_the_worker() {
    let supervisor = start(&[], policy());
    reach(&supervisor, "ready").await;
    let mut status = supervisor.watch();
    drop(supervisor);
    status.wait_for(|status| status.state == WorkerState::Stopped).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_over_reports_nothing() {
    let supervisor = start(&[Script::FailsToStart], policy());
    supervisor.watch().wait_for(|status| status.restarts == 1 && status.state.is_running()).await.unwrap();
    let first = supervisor.worker().kept.lock().unwrap().take().unwrap();
    first.degraded("late".into());
    assert_eq!(supervisor.state(), WorkerState::Ready);
}
