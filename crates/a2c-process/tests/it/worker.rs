//! Workers that use more than they may. The worker is this test binary, which runs one test that is ignored otherwise.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use a2c_process::{
    Launch, NoSecrets, Processes, SpawnedWorker, WorkerEnd, WorkerLimit, WorkerLimits, WorkerOutcome, WorkerProcess,
    apply_worker_limits,
};
use tokio::io::AsyncReadExt as _;

const ROLE: &str = "A2C_TEST_WORKER";
const MEMORY: u64 = 256 << 20;

/// The limits within which every worker does its work unless it is about them.
const WIDE: WorkerLimits = WorkerLimits {
    memory: Some(MEMORY),
    cpu_time: Some(Duration::from_secs(60)),
    wall_clock: Some(Duration::from_secs(120)),
};

const INSIDE: [&str; 4] = ["--exact", "worker::inside_the_worker", "--ignored", "--nocapture"];

fn role(role: &str) -> Launch {
    let mut launch = Launch::new(std::env::current_exe().unwrap()).args(INSIDE);
    launch.env.push((ROLE.into(), role.into()));
    launch
}

/// Runs a worker to its end; returns what it wrote to standard output as well.
async fn run(launch: &Launch, limits: WorkerLimits) -> (WorkerOutcome, String) {
    let processes = Processes::unguarded();
    let SpawnedWorker { worker, stdin, mut stdout } =
        processes.spawn_worker(launch, limits, NoSecrets, ()).await.unwrap();
    let mut text = String::new();
    let (outcome, _) = tokio::join!(worker.finish(), stdout.read_to_string(&mut text));
    drop(stdin);
    assert_eq!(processes.count(), 0);
    (outcome.unwrap(), text)
}

#[test]
#[ignore = "runs as a worker that another test starts"]
fn inside_the_worker() {
    apply_worker_limits().unwrap();
    let role = std::env::var(ROLE).unwrap();
    match role.as_str() {
        "show limits" => print!("{}", std::fs::read_to_string("/proc/self/limits").unwrap()),
        "eat memory" => {
            let mut held = Vec::new();
            loop {
                held.push(vec![1u8; 1 << 20]);
            }
        }
        "ask for too much" => assert_eq!(vec![0u8; MEMORY as usize].len(), 0, "it got that much"),
        "compute" => {
            let mut n = 1u64;
            loop {
                n = std::hint::black_box(n.wrapping_mul(3));
            }
        }
        "sleep" => std::thread::sleep(Duration::from_secs(1000)),
        "leave a process" => _ = Command::new("sh").args(["-c", "sleep 1000 &"]).status().unwrap(),
        "panic" => panic!("on purpose"),
        role => panic!("no role: {role}"),
    }
}

/// Runs a worker without the help of its parent.
fn run_alone(limits: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(INSIDE).env(ROLE, "show limits").envs(limits.map(|limits| ("A2C_WORKER_LIMITS", limits)));
    command.output().unwrap()
}

#[test]
fn a_worker_limits_itself_before_it_works() {
    let output = run_alone(Some(&format!("{MEMORY} 60")));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let limits = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(name)).unwrap_or_else(|| panic!("{text}"));
        line.1.split_whitespace().take(2).map(|limit| limit.parse().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(limits("Max address space"), [MEMORY, MEMORY]);
    assert_eq!(limits("Max cpu time"), [60, 61]);
    assert_eq!(limits("Max core file size"), [0, 0]);
}

#[tokio::test]
async fn the_outcome_says_which_limit_was_reached() {
    let short = Duration::from_secs(1);
    let check = async |name: &str, limits: WorkerLimits, expected: WorkerLimit| {
        let begin = Instant::now();
        let (outcome, _) = run(&role(name), limits).await;
        assert_eq!(outcome.end, WorkerEnd::LimitReached(expected), "{name}: {outcome:?}");
        assert!(begin.elapsed() < Duration::from_secs(60), "{name}: {:?}", begin.elapsed());
    };
    check("eat memory", WIDE, WorkerLimit::Memory).await;
    check("ask for too much", WIDE, WorkerLimit::Memory).await;
    check("compute", WorkerLimits { cpu_time: Some(short), ..WIDE }, WorkerLimit::CpuTime).await;
    check("sleep", WorkerLimits { wall_clock: Some(short), ..WIDE }, WorkerLimit::WallClock).await;
    check("compute", WorkerLimits { wall_clock: Some(short), ..WIDE }, WorkerLimit::WallClock).await;
}

/// Starts a program that leaves a process in another session, and returns once the wall clock has ended all of it.
async fn await_wall_clock(then: &str, limit: Duration) -> WorkerProcess {
    let line = format!("setsid sh -c 'sleep 1000 >/dev/null 2>&1 &'; {then}");
    let limits = WorkerLimits { wall_clock: Some(limit), ..WIDE };
    let processes = Processes::unguarded();
    let launch = Launch::new("sh").args(["-c", &line]);
    let SpawnedWorker { worker, mut stdout, .. } =
        processes.spawn_worker(&launch, limits, NoSecrets, ()).await.unwrap();
    // Until then its processes may be starting, and are not counted.
    stdout.read_to_end(&mut Vec::new()).await.unwrap();
    let ended = async {
        while processes.count() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended).await.expect("the end of all processes");
    worker
}

#[tokio::test]
async fn the_wall_clock_ends_a_worker_that_no_caller_waits_for() {
    let worker = await_wall_clock("exec sleep 1000 >/dev/null", Duration::from_secs(1)).await;
    let outcome = worker.finish().await.unwrap();
    assert_eq!(outcome.end, WorkerEnd::LimitReached(WorkerLimit::WallClock), "{outcome:?}");
}

#[tokio::test]
async fn a_worker_that_was_killed_in_time_is_not_late_because_its_caller_is() {
    let worker = await_wall_clock("kill -9 $$", Duration::from_secs(3)).await;
    let outcome = worker.finish().await.unwrap();
    assert!(matches!(outcome.end, WorkerEnd::Exited(status) if status.code().is_none()), "{outcome:?}");
}

#[tokio::test]
async fn a_worker_that_fails_by_itself_reached_no_limit() {
    let (outcome, _) = run(&role("panic"), WIDE).await;
    assert!(matches!(outcome.end, WorkerEnd::Exited(status) if status.code() == Some(101)), "{outcome:?}");
    assert!(outcome.stderr.contains("on purpose"), "{outcome:?}");
}

#[tokio::test]
async fn what_a_worker_starts_ends_with_it() {
    let (outcome, _) = run(&role("leave a process"), WIDE).await;
    assert!(matches!(outcome.end, WorkerEnd::Exited(status) if status.success()), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_does_not_limit_itself_is_limited_by_its_parent() {
    // The last one that is set.
    let wait = "while [ \"$(ulimit -t)\" = unlimited ]; do :; done; ulimit -v; ulimit -t";
    let (outcome, text) = run(&Launch::new("sh").args(["-c", wait]), WIDE).await;
    assert!(matches!(outcome.end, WorkerEnd::Exited(status) if status.success()), "{outcome:?}");
    assert_eq!(text, format!("{}\n60\n", MEMORY >> 10));
}

#[test]
fn a_worker_without_limits_refuses_to_work() {
    for limits in [None, Some("many few")] {
        let output = run_alone(limits);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("Variable"), "{limits:?}: {text}");
    }
}
