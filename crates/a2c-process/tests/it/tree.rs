//! Processes that do not want to end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use a2c_process::{Launch, NoSecrets, Processes, SpawnError, SpawnErrorKind, Spawned};

const PATIENCE: Duration = Duration::from_secs(60);
const ALL: &[&str] = &["stubborn", "group", "session", "daemon", "bare", "bare-daemon"];

/// The processes of one test, and the file that holds their pids.
struct Fixture {
    processes: Processes,
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { processes: Processes::unguarded(), dir: tempfile::tempdir().unwrap() }
    }

    async fn run(&self, command: &str, args: &[&str]) -> Result<Spawned, SpawnError> {
        self.processes.spawn(&Launch::new(command).args(args), &NoSecrets).await
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("pids")
    }

    /// A process with relatives of these traits, all of which run.
    async fn family(&self, traits: &[&str]) -> Spawned {
        let script = a2c_testbed::workspace_root().join("tests/hostile/family.py");
        let file = self.file();
        let args = [&[script.to_str().unwrap(), file.to_str().unwrap()], traits].concat();
        let spawned = self.run(a2c_testbed::python().to_str().unwrap(), &args).await.unwrap();
        until("the family", || told(&file).iter().any(|(name, _)| name == "ready")).await;
        spawned
    }

    fn living(&self) -> Vec<(String, u32)> {
        told(&self.file()).into_iter().filter(|(_, pid)| runs(*pid)).collect()
    }
}

fn told(file: &Path) -> Vec<(String, u32)> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, pid)| (name.into(), pid.parse().unwrap()))
        .collect()
}

fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn no_stubborn_process_survives_the_end_of_its_tree() {
    let fixture = Fixture::new();
    let Spawned { process, stdin, .. } = fixture.family(ALL).await;
    assert_eq!(fixture.living().len(), ALL.len() + 1, "{:?}", fixture.living());
    drop(stdin);
    let status = process.end().await;
    assert_eq!(fixture.living(), []);
    assert!(
        status.is_some_and(|status| status.success()),
        "the process itself ends when its input is closed: {status:?}"
    );
    assert_eq!(fixture.processes.count(), 0);
}

#[tokio::test]
async fn a_process_that_ignores_everything_is_killed_in_the_end() {
    let fixture = Fixture::new();
    let Spawned { process, stdin, .. } = fixture.family(&["deaf", "session", "bare-daemon"]).await;
    drop(stdin);
    assert_eq!(process.end().await, None);
    assert_eq!(fixture.living(), []);
}

#[tokio::test]
async fn no_process_survives_the_crash_of_its_parent() {
    let fixture = Fixture::new();
    let Spawned { mut process, stdin, .. } = fixture.family(ALL).await;
    let leader = told(&fixture.file())[0].1;
    let pid = rustix::process::Pid::from_raw(leader.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    process.exited().await.unwrap();
    assert_eq!(fixture.living().len(), ALL.len(), "{:?}", fixture.living());
    drop(stdin);
    process.end().await;
    assert_eq!(fixture.living(), []);
}

#[tokio::test]
async fn a_process_that_is_dropped_leaves_no_other() {
    let fixture = Fixture::new();
    drop(fixture.family(ALL).await);
    until("the end of every process", || fixture.living().is_empty()).await;
}

/// Runs as a process of its own: the limit is one of the whole process.
#[tokio::test]
#[ignore = "runs in a process that another test starts"]
async fn inside_a_process_without_room_for_a_thread() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let fixture = Fixture::new();
    let spawned = fixture.run("sleep", &["1000"]).await.unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")).unwrap();
    let size = size.parse::<u64>().unwrap() << 10;
    let before = getrlimit(Resource::As);
    // The stack of a thread is larger than what is left.
    setrlimit(Resource::As, Rlimit { current: Some(size + (1 << 20)), ..before }).unwrap();
    assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "there is room for a thread");
    drop(spawned);
    setrlimit(Resource::As, before).unwrap();
    until("the end of the group", || fixture.processes.count() == 0).await;
}

#[test]
fn a_process_that_is_dropped_without_room_for_a_thread_ends_with_its_group() {
    let inside = ["--exact", "tree::inside_a_process_without_room_for_a_thread", "--ignored", "--nocapture"];
    let output = std::process::Command::new(std::env::current_exe().unwrap()).args(inside).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn processes_that_fork_all_the_time_are_caught() {
    let fixture = Fixture::new();
    let Spawned { process, stdin, .. } = fixture.family(&["fork", "fork"]).await;
    assert!(fixture.processes.count() > 0);
    drop(stdin);
    process.end().await;
    assert_eq!(fixture.processes.count(), 0);
}

#[tokio::test]
async fn shells_in_between_end_too() {
    let fixture = Fixture::new();
    let script = a2c_testbed::workspace_root().join("tests/hostile/family.py");
    let line = format!(
        "'{}' '{}' '{}' session daemon; sleep 1000",
        a2c_testbed::python().display(),
        script.display(),
        fixture.file().display()
    );
    let Spawned { process, stdin, .. } = fixture.run("sh", &["-c", &line]).await.unwrap();
    until("the family", || told(&fixture.file()).iter().any(|(name, _)| name == "ready")).await;
    drop(stdin);
    process.end().await;
    assert_eq!(fixture.living(), []);
    assert_eq!(fixture.processes.count(), 0);
}

#[tokio::test]
async fn the_end_of_one_process_is_not_the_end_of_another() {
    let fixture = Fixture::new();
    let other = Fixture::new();
    let bystander = other.family(ALL).await;
    let sibling = fixture.run("cat", &[]).await.unwrap();
    let mut stranger = tokio::process::Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
    let Spawned { process, stdin, .. } = fixture.family(ALL).await;
    drop(stdin);
    process.end().await;
    assert_eq!(other.living().len(), ALL.len() + 1);
    assert_eq!(fixture.processes.count(), 1, "the sibling lives");
    assert!(stranger.try_wait().unwrap().is_none());
    drop((sibling.stdin, bystander.stdin));
    sibling.process.end().await;
    bystander.process.end().await;
    assert_eq!(other.living(), []);
}

#[tokio::test]
async fn what_cannot_be_started_leaves_no_process() {
    let fixture = Fixture::new();
    let Err(error) = fixture.run("no-such-program-at-all", &[]).await else { panic!("it started") };
    assert_eq!(error.kind(), SpawnErrorKind::ProgramNotFound);
    assert!(error.to_string().starts_with("cannot start 'no-such-program-at-all': "), "{error}");
    assert_eq!(fixture.processes.count(), 0);
}
