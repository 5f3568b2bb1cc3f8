//! A worker that fails twice before it works, and the supervisor that keeps starting it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use a2c_supervise::{Exit, RestartDelay, RestartPolicy, Run, Supervisor, Target, Worker};

#[derive(Default)]
struct Flaky {
    runs: AtomicU32,
}

impl Worker for Flaky {
    type Failure = String;

    async fn run(&self, run: &Run<Self>) -> Exit<String> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        if number < 3 {
            return Exit::Failed(format!("run {number} did not work"));
        }
        run.ready();
        run.stopped().cancelled().await;
        Exit::Stopped
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let delay = RestartDelay::backoff(Duration::from_millis(20), Duration::from_secs(1));
    let policy = RestartPolicy::always(delay, Duration::from_secs(60));
    let supervisor = Supervisor::start(Arc::new(Flaky::default()), policy, Target::On);
    let mut status = supervisor.watch();
    while !status.borrow_and_update().state.is_running() {
        eprintln!("{}", status.borrow().state);
        status.changed().await.expect("the supervisor lives");
    }
    eprintln!("{} after {} restarts", supervisor.state(), supervisor.status().restarts);
    supervisor.set_target(Target::Gone);
    supervisor.gone().await;
}
