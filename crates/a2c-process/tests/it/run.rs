//! Programs that run to their end.

use std::time::{Duration, Instant};

use a2c_process::{Launch, Processes, RunError, RunLimits, RunOutput};

const LIMITS: RunLimits = RunLimits { time: Duration::from_secs(60), output: 1000 };

fn shell(line: &str) -> Launch {
    Launch::new("sh").args(["-c", line])
}

async fn run(launch: &Launch, input: Option<&[u8]>) -> Result<RunOutput, RunError> {
    Processes::unguarded().run(launch, input, LIMITS).await
}

async fn until_count_is(expected: usize, processes: &Processes) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes.count() != expected {
        assert!(Instant::now() < deadline, "{} processes are left", processes.count());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_a_program_prints_is_its_output() {
    let output = run(&shell("tr a-z A-Z; echo trouble >&2; exit 3"), Some(b"text")).await.unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"TEXT"[..], &b"trouble\n"[..]));
    let output = run(&Launch::new("cat"), None).await.unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "without input, the input is empty");
}

#[tokio::test]
async fn a_program_beyond_its_limits_is_an_error() {
    assert!(matches!(run(&Launch::new("/no/such/program"), None).await, Err(RunError::Start(_))));
    assert!(matches!(run(&Launch::new("yes"), None).await, Err(RunError::TooMuch(1000))));
    let output = run(&shell("yes >&2 & sleep 1; kill $!"), None).await.unwrap();
    assert_eq!(output.stderr.len(), 1000, "of standard error the beginning is kept");
}

#[tokio::test]
async fn a_program_that_is_too_slow_ends_with_all_it_started() {
    let processes = Processes::unguarded();
    let limits = RunLimits { time: Duration::from_secs(1), ..LIMITS };
    let outcome = processes.run(&shell("setsid sleep 1000 & sleep 1000"), None, limits).await;
    assert!(matches!(outcome, Err(RunError::TooSlow(_))));
    until_count_is(0, &processes).await;
}

#[tokio::test]
async fn a_program_that_prints_too_much_is_ended_before_its_time_is_over() {
    let processes = Processes::unguarded();
    let begin = Instant::now();
    let outcome = processes.run(&shell("head -c 2000 /dev/zero; sleep 1000"), None, LIMITS).await;
    assert!(matches!(outcome, Err(RunError::TooMuch(1000))), "{:?}", outcome.err());
    assert!(begin.elapsed() < LIMITS.time, "{:?}", begin.elapsed());
    until_count_is(0, &processes).await;
}

#[tokio::test]
async fn a_daemon_ends_with_its_owner() {
    let processes = Processes::unguarded();
    // The inner shell ends once the daemon is in its session, so that the end of the group does not reach it.
    let daemon = "setsid sh -c 'sleep 1000 >/dev/null 2>&1 &'; exit 0";
    processes.run(&shell(daemon), None, LIMITS).await.unwrap();
    until_count_is(1, &processes).await;
    processes.end().await;
    assert_eq!(processes.count(), 0);
}

#[tokio::test]
async fn a_program_that_ends_may_leave_a_daemon() {
    let processes = Processes::unguarded();
    let daemon = "setsid sleep 1000 >/dev/null 2>&1 & echo $!; sleep 1000 & exit 0";
    let output = processes.run(&shell(daemon), None, LIMITS).await.unwrap();
    let pid: i32 = str::from_utf8(&output.stdout).unwrap().trim().parse().unwrap();
    until_count_is(1, &processes).await;
    let daemon = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
}
