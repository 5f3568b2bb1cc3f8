//! Keeps one worker running: starts it, waits for its end, and starts it again as the policy says.
//!
//! One task starts and ends the worker. What is wanted of it comes in as a [`Target`], how it is goes out as a [`Status`].
//! Every change of the target is a new generation: a run that began in an earlier one is ended.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::{Notify, watch};
use tokio::task::JoinError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::restart::{GaveUp, NextStart, RestartCounter, RestartPolicy};
use crate::state::{StateEvent, WorkerState};

/// What can be kept running.
pub trait Worker: Send + Sync + Sized + 'static {
    /// What is wrong with a worker that failed or is degraded.
    type Failure: fmt::Display + fmt::Debug + Clone + PartialEq + Send + Sync;

    /// One run, from its start to its end. It tells through `run` when it is ready, and ends in order when
    /// [`Run::stopped`] says so. Nothing of the run is left when the future ends.
    fn run(&self, run: &Run<Self>) -> impl Future<Output = Exit<Self::Failure>> + Send;

    /// The state is about to become `next`; it is not visible yet.
    fn state_changes(&self, _next: &WorkerState<Self::Failure>) {}

    /// The state changed, and is visible.
    fn state_changed(&self, _before: &WorkerState<Self::Failure>, _now: &WorkerState<Self::Failure>) {}

    /// A run failed.
    fn run_failed(&self, _failure: &Self::Failure, _next: &NextStart) {}

    /// The supervising task panicked, which is a defect of this program. The worker counts as stopped.
    fn supervisor_failed(&self, error: &JoinError) {
        tracing::error!(%error, "a supervisor panicked");
    }
}

/// Why a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit<F> {
    /// It was told to end.
    Stopped,
    /// It failed; another start may help.
    Failed(F),
    /// It failed, and another start does not help until something is changed.
    Blocked(F),
    /// It ended because it was not used.
    Idle,
}

/// What is wanted of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// It runs.
    On,
    /// It does not run.
    Off,
    /// It never runs again.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    target: Target,
    generation: u64,
}

/// How a worker is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Status<F> {
    /// Its state.
    pub state: WorkerState<F>,
    /// The generation of the target that led to it.
    generation: u64,
    /// The number of the run that may report its state.
    run: u64,
    /// Since when it is in this state.
    pub since: SystemTime,
    /// How often it was started again.
    pub restarts: u64,
    /// When it is started again, where it failed and that is planned.
    pub retry_at: Option<SystemTime>,
    /// Why it is not started again, where it failed and that is not planned.
    pub gave_up: Option<GaveUp>,
}

/// Keeps a worker running. Dropping it ends the worker.
pub struct Supervisor<W: Worker> {
    shared: Arc<Shared<W>>,
}

struct Shared<W: Worker> {
    worker: Arc<W>,
    wanted: watch::Sender<Wanted>,
    status: watch::Sender<Status<W::Failure>>,
    woken: Notify,
}

/// One run of a worker, as the worker sees it. Cheap to clone; what a clone reports after the run changes nothing.
pub struct Run<W: Worker> {
    shared: Arc<Shared<W>>,
    number: u64,
    stop: CancellationToken,
}

impl<W: Worker> Clone for Run<W> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), number: self.number, stop: self.stop.clone() }
    }
}

impl<W: Worker> Run<W> {
    /// The worker works as it should.
    pub fn ready(&self) {
        self.shared.reported(self.number, StateEvent::Ready);
    }

    /// The worker works, with a defect.
    pub fn degraded(&self, reason: W::Failure) {
        self.shared.reported(self.number, StateEvent::Degraded(reason));
    }

    /// Cancelled when the run has to end.
    pub fn stopped(&self) -> &CancellationToken {
        &self.stop
    }
}

impl<W: Worker> Supervisor<W> {
    /// Begins to supervise a worker; where the target is [`Target::On`], it starts.
    pub fn start(worker: Arc<W>, policy: RestartPolicy, target: Target) -> Self {
        let state = match target {
            Target::On => WorkerState::Starting,
            Target::Off | Target::Gone => WorkerState::Disabled,
        };
        let (since, generation) = (SystemTime::now(), 0);
        let status = Status { state, generation, run: 1, since, restarts: 0, retry_at: None, gave_up: None };
        let shared = Arc::new(Shared {
            worker,
            wanted: watch::Sender::new(Wanted { target, generation }),
            status: watch::Sender::new(status),
            woken: Notify::new(),
        });
        let (supervising, watched) = (tokio::spawn(supervise(shared.clone(), policy)), shared.clone());
        tokio::spawn(async move {
            if let Err(error) = supervising.await {
                // A caller that waits for the end of the worker must not wait for ever.
                watched.worker.supervisor_failed(&error);
                watched.happened(StateEvent::Stopped);
            }
        });
        Self { shared }
    }

    /// The worker.
    pub fn worker(&self) -> &Arc<W> {
        &self.shared.worker
    }

    /// How the worker is now.
    pub fn status(&self) -> Status<W::Failure> {
        self.shared.status.borrow().clone()
    }

    /// The state of the worker now.
    pub fn state(&self) -> WorkerState<W::Failure> {
        self.shared.status.borrow().state.clone()
    }

    /// Every status from now on.
    pub fn watch(&self) -> watch::Receiver<Status<W::Failure>> {
        self.shared.status.subscribe()
    }

    /// Changes what is wanted. What runs is ended, also where the target is what it was. [`Target::Gone`] is final.
    pub fn set_target(&self, target: Target) {
        self.change(|_| Some(target));
    }

    /// Ends the worker and starts it again, also where it waits for a later start. One that is switched off stays so.
    pub fn restart(&self) {
        self.change(|target| (target == Target::On).then_some(Target::On));
    }

    /// Starts a worker that ended because it was not used.
    pub fn wake(&self) {
        if self.shared.status.borrow().state == WorkerState::Unloaded {
            self.shared.woken.notify_waiters();
        }
    }

    /// Whether another target is set than the one that led to the state.
    pub fn is_changing(&self) -> bool {
        let wanted = self.shared.wanted.borrow().generation;
        wanted != self.shared.status.borrow().generation
    }

    /// Whether a start is under way, or follows on a target that was set. The caller must hold no borrowed status: a second
    /// look at it waits for a change that waits for the first.
    pub fn is_starting(&self) -> bool {
        let wanted = self.shared.wanted.borrow().generation;
        let status = self.shared.status.borrow();
        match status.state {
            WorkerState::Starting => true,
            // Whatever the target is, nothing follows on this.
            WorkerState::Stopped => false,
            _ => wanted != status.generation,
        }
    }

    /// Waits until a start under the present target has succeeded or failed, or none is made.
    pub async fn settled(&self) {
        let wanted = self.shared.wanted.borrow().generation;
        self.reaches(|status| status.generation >= wanted && status.state.is_settled()).await;
    }

    /// Waits until what ran before the present target was set has ended.
    pub async fn previous_run_ended(&self) {
        let wanted = self.shared.wanted.borrow().generation;
        self.reaches(|status| status.generation >= wanted).await;
    }

    /// Waits until nothing is left of a worker whose target is [`Target::Gone`].
    pub async fn gone(&self) {
        self.reaches(|_| false).await;
    }

    async fn reaches(&self, mut reached: impl FnMut(&Status<W::Failure>) -> bool) {
        let mut status = self.shared.status.subscribe();
        // An error means that the supervisor is gone, and with it the reason to wait.
        let _ = status.wait_for(|status| status.state == WorkerState::Stopped || reached(status)).await;
    }

    fn change(&self, next: impl FnOnce(Target) -> Option<Target>) {
        self.shared.wanted.send_if_modified(|wanted| match next(wanted.target) {
            Some(target) if wanted.target != Target::Gone => {
                *wanted = Wanted { target, generation: wanted.generation + 1 };
                true
            }
            _ => false,
        });
    }
}

impl<W: Worker> Drop for Supervisor<W> {
    fn drop(&mut self) {
        self.set_target(Target::Gone);
    }
}

impl<W: Worker> Shared<W> {
    /// Changes the state within the generation that it is in.
    fn happened(&self, event: StateEvent<W::Failure>) {
        self.advance(None, event, |_| {});
    }

    /// Changes the state as a run says, unless another run has begun.
    fn reported(&self, run: u64, event: StateEvent<W::Failure>) {
        self.advance(Some(run), event, |_| {});
    }

    /// Changes the state into another generation.
    fn begin(&self, generation: u64, event: StateEvent<W::Failure>) {
        self.advance(None, event, |status| status.generation = generation);
    }

    /// Begins a run of this number.
    fn begin_run(&self, generation: u64, run: u64) {
        self.advance(None, StateEvent::Started, |status| (status.generation, status.run) = (generation, run));
    }

    fn advance(&self, run: Option<u64>, event: StateEvent<W::Failure>, amend: impl FnOnce(&mut Status<W::Failure>)) {
        let is_over = |status: &Status<W::Failure>| run.is_some_and(|run| run != status.run);
        let next = {
            let status = self.status.borrow();
            if is_over(&status) {
                return;
            }
            status.state.after(event.clone())
        };
        // Without the status borrowed: the worker may look at it.
        self.worker.state_changes(&next);
        let mut states = None;
        self.status.send_if_modified(|status| {
            if is_over(status) {
                return false;
            }
            let next = status.state.after(event);
            let mut changed = Status { retry_at: None, gave_up: None, ..status.clone() };
            amend(&mut changed);
            if (&status.state, status.generation, status.run) == (&next, changed.generation, changed.run) {
                return false;
            }
            states = Some((status.state.clone(), next.clone()));
            (changed.state, changed.since) = (next, SystemTime::now());
            *status = changed;
            true
        });
        if let Some((before, now)) = states {
            self.worker.state_changed(&before, &now);
        }
    }

    fn failed(&self, failure: W::Failure, next: NextStart) {
        self.worker.run_failed(&failure, &next);
        self.advance(None, StateEvent::Failed(failure), |status| match next {
            NextStart::After(delay) => status.retry_at = Some(SystemTime::now() + delay),
            NextStart::Never(reason) => status.gave_up = Some(reason),
        });
    }
}

/// Follows the target until the worker is to be gone. When this ends, nothing of the worker is left.
async fn supervise<W: Worker>(shared: Arc<Shared<W>>, policy: RestartPolicy) {
    let mut wanted = shared.wanted.subscribe();
    let mut counter = RestartCounter::default();
    let mut number = 0;
    loop {
        let Wanted { target, generation } = *wanted.borrow_and_update();
        match target {
            Target::Gone => break,
            Target::Off => {
                shared.begin(generation, StateEvent::Disabled);
                counter.reset();
                // The sender lives in `shared`: this cannot fail.
                let _ = wanted.changed().await;
                continue;
            }
            Target::On => {}
        }
        number += 1;
        shared.begin_run(generation, number);
        if number > 1 {
            shared.status.send_modify(|status| status.restarts += 1);
        }
        let started = Instant::now();
        match run(&shared, number, &mut wanted).await {
            Exit::Stopped => counter.reset(),
            Exit::Idle => {
                counter.reset();
                // Waits before the state can be seen, and for nothing that came earlier.
                let mut woken = std::pin::pin!(shared.woken.notified());
                woken.as_mut().enable();
                shared.happened(StateEvent::Unloaded);
                tokio::select! {
                    () = woken => {}
                    _ = wanted.changed() => {}
                }
            }
            Exit::Blocked(failure) => {
                shared.failed(failure, NextStart::Never(GaveUp::Blocked));
                let _ = wanted.changed().await;
                counter.reset();
            }
            Exit::Failed(failure) => {
                let next = counter.failed(&policy, started.elapsed(), fastrand::f64());
                shared.failed(failure, next.clone());
                let delay = async {
                    match next {
                        NextStart::After(delay) => tokio::time::sleep(delay).await,
                        NextStart::Never(_) => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = delay => {}
                    _ = wanted.changed() => counter.reset(),
                }
            }
        }
    }
    shared.happened(StateEvent::Stopped);
}

/// One run. A change of the target ends it in order.
async fn run<W: Worker>(
    shared: &Arc<Shared<W>>,
    number: u64,
    wanted: &mut watch::Receiver<Wanted>,
) -> Exit<W::Failure> {
    let run = Run { shared: shared.clone(), number, stop: CancellationToken::new() };
    let mut running = std::pin::pin!(shared.worker.run(&run));
    tokio::select! {
        exit = &mut running => exit,
        _ = wanted.changed() => {
            // The loop has to see this change, too.
            wanted.mark_changed();
            run.stop.cancel();
            running.await;
            Exit::Stopped
        }
    }
}

#[cfg(test)]
mod tests;
