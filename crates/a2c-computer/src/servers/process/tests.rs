//! Real processes that do not want to end.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_protocol::config::StdioParameters;
use a2c_secrets::Redactor;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::family::Family;
use super::kin::marked;
use super::{Launch, Started, start};
use crate::servers::log::{LogSource, ServerLog};

const PATIENCE: Duration = Duration::from_secs(60);
const ALL: [&str; 6] = ["stubborn", "group", "session", "daemon", "bare", "bare-daemon"];

/// The families of one test and where their pids are told.
struct Stage {
    family: Family,
    log: Arc<ServerLog>,
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { family: Family::new(), log: Arc::new(ServerLog::new()), dir: tempfile::tempdir().unwrap() }
    }

    async fn run(&self, command: &str, args: &[&str]) -> Result<Started, String> {
        let stdio = json!({"command": command, "args": args});
        let stdio: StdioParameters = serde_json::from_value(stdio).unwrap();
        let (secrets, log) = (&Redactor::default(), &self.log);
        start(Launch { name: "s", stdio: &stdio, secrets, log, family: &self.family, guardian: None }).await
    }

    fn file(&self) -> std::path::PathBuf {
        self.dir.path().join("pids")
    }

    /// A family with these traits, all of whom run.
    async fn family(&self, traits: &[&str]) -> Started {
        let script = a2c_testbed::workspace_root().join("tests/hostile/family.py");
        let file = self.file();
        let args = [&[script.to_str().unwrap(), file.to_str().unwrap()], traits].concat();
        let started = self.run(a2c_testbed::python().to_str().unwrap(), &args).await.unwrap();
        until("the family", || told(&file).iter().any(|(name, _)| name == "ready")).await;
        started
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
async fn nobody_of_a_stubborn_family_survives_its_end() {
    let stage = Stage::new();
    let Started { process, transport, .. } = stage.family(&ALL).await;
    assert_eq!(stage.living().len(), ALL.len() + 1, "{:?}", stage.living());
    drop(transport);
    let status = process.end().await;
    assert_eq!(stage.living(), []);
    assert!(
        status.is_some_and(|status| status.success()),
        "the server itself ends when its input is closed: {status:?}"
    );
    assert_eq!(marked::count(&stage.family.marker()), 0);
}

#[tokio::test]
async fn a_server_that_hears_nothing_is_killed_in_the_end() {
    let stage = Stage::new();
    let Started { process, transport, .. } = stage.family(&["deaf", "session", "bare-daemon"]).await;
    drop(transport);
    assert_eq!(process.end().await, None);
    assert_eq!(stage.living(), []);
}

#[tokio::test]
async fn nobody_survives_the_crash_of_their_parent() {
    let stage = Stage::new();
    let Started { mut process, transport, .. } = stage.family(&ALL).await;
    let leader = told(&stage.file())[0].1;
    let pid = rustix::process::Pid::from_raw(leader.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    process.exited().await.unwrap();
    assert_eq!(stage.living().len(), ALL.len(), "{:?}", stage.living());
    drop(transport);
    process.end().await;
    assert_eq!(stage.living(), []);
}

#[tokio::test]
async fn a_process_that_is_dropped_leaves_nobody() {
    let stage = Stage::new();
    drop(stage.family(&ALL).await);
    until("the end of everybody", || stage.living().is_empty()).await;
}

#[tokio::test]
async fn those_who_are_always_about_to_fork_are_caught() {
    let stage = Stage::new();
    let Started { process, transport, .. } = stage.family(&["fork", "fork"]).await;
    assert!(marked::count(&stage.family.marker()) > 0);
    drop(transport);
    process.end().await;
    assert_eq!(marked::count(&stage.family.marker()), 0);
}

#[tokio::test]
async fn shells_in_between_end_too() {
    let stage = Stage::new();
    let script = a2c_testbed::workspace_root().join("tests/hostile/family.py");
    let line = format!(
        "'{}' '{}' '{}' session daemon; sleep 1000",
        a2c_testbed::python().display(),
        script.display(),
        stage.file().display()
    );
    let Started { process, transport, .. } = stage.run("sh", &["-c", &line]).await.unwrap();
    until("the family", || told(&stage.file()).iter().any(|(name, _)| name == "ready")).await;
    drop(transport);
    process.end().await;
    assert_eq!(stage.living(), []);
    assert_eq!(marked::count(&stage.family.marker()), 0);
}

#[tokio::test]
async fn the_end_of_one_server_is_not_the_end_of_another() {
    let stage = Stage::new();
    let other = Stage::new();
    let bystander = other.family(&ALL).await;
    let sibling = stage.run("cat", &[]).await.unwrap();
    let mut stranger = tokio::process::Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
    let Started { process, transport, .. } = stage.family(&ALL).await;
    drop(transport);
    process.end().await;
    assert_eq!(other.living().len(), ALL.len() + 1);
    assert_eq!(marked::count(&stage.family.marker()), 1, "the sibling lives");
    assert!(stranger.try_wait().unwrap().is_none());
    drop((sibling.transport, bystander.transport));
    sibling.process.end().await;
    bystander.process.end().await;
    assert_eq!(other.living(), []);
}

#[tokio::test]
async fn what_a_server_says_last_explains_its_end() {
    let stage = Stage::new();
    for word in ["first", "second"] {
        let line = format!("echo {word} >&2; exit 3");
        let Started { mut process, transport, stderr } = stage.run("sh", &["-c", &line]).await.unwrap();
        process.exited().await.unwrap();
        drop(transport);
        assert_eq!(process.end().await.and_then(|status| status.code()), Some(3));
        assert_eq!(stderr.last_words().await, word);
    }
    let texts: Vec<_> = stage.log.tail(usize::MAX).into_iter().filter(|l| l.source == LogSource::Stderr).collect();
    assert_eq!(texts.len(), 2, "the log outlives a run");
}

#[tokio::test]
async fn a_flood_on_standard_error_is_bounded_and_starves_nobody() {
    let stage = Stage::new();
    let Started { process, transport, .. } = stage.run("sh", &["-c", "yes flood >&2"]).await.unwrap();
    let (_, mut news) = stage.log.follow(0);
    // On the only thread there is, beside the reader.
    let mut told = false;
    while !told {
        match news.recv().await {
            Ok(line) => told = line.text.contains("lines on standard error were left out"),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => panic!("the log is gone"),
        }
    }
    drop(transport);
    process.end().await;
    assert!(stage.log.tail(usize::MAX).len() <= 500);
}

#[tokio::test]
async fn what_stands_on_standard_output_by_mistake_does_no_harm() {
    let stage = Stage::new();
    let script = a2c_testbed::workspace_root().join("tests/hostile/noisy.py");
    let python = a2c_testbed::python();
    let Started { process, transport, .. } =
        stage.run(python.to_str().unwrap(), &[script.to_str().unwrap()]).await.unwrap();
    let client = ().serve(transport).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let call = async |name: &str| {
        let outcome = client.call_tool(CallToolRequestParams::new(name.to_owned()));
        match tokio::time::timeout(PATIENCE, outcome).await.expect("an answer") {
            Ok(result) => format!("{:?}", result.content),
            Err(error) => error.to_string(),
        }
    };
    for tool in tools {
        let (name, expected) = (&*tool.name, tool.description.as_deref().unwrap());
        let answer = call(name).await;
        assert!(answer.contains(expected), "{name}: {answer}");
    }
    let log = stage.log.tail(usize::MAX);
    let noise = log.iter().filter(|line| line.source == LogSource::Stdout).map(|line| &*line.text);
    assert!(noise.clone().any(|text| text == "Noisy server, ready"), "{:?}", Vec::from_iter(noise));
    client.cancel().await.unwrap();
    assert!(process.end().await.is_some_and(|status| status.success()));
}

#[tokio::test]
async fn a_server_that_asks_and_does_not_read_is_hung_up_on() {
    let script = a2c_testbed::workspace_root().join("tests/hostile/noisy.py");
    let python = a2c_testbed::python();
    for kind in ["ping", "nonsense"] {
        let stage = Stage::new();
        let args = [script.to_str().unwrap(), kind];
        let Started { process, transport, .. } = stage.run(python.to_str().unwrap(), &args).await.unwrap();
        let client = ().serve(transport).await.unwrap();
        let call = client.call_tool(CallToolRequestParams::new("fine"));
        let outcome = tokio::time::timeout(PATIENCE, call).await.expect("an end");
        assert!(outcome.is_err(), "{kind}: {outcome:?}");
        let remarks = stage.log.tail(usize::MAX);
        let remark = "it asks and does not read its standard input";
        assert!(remarks.iter().any(|line| &*line.text == remark), "{kind}: {remarks:?}");
        client.waiting().await.unwrap();
        process.end().await;
        assert_eq!(marked::count(&stage.family.marker()), 0);
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_explained_and_leaves_nobody() {
    let stage = Stage::new();
    let Err(problem) = stage.run("no-such-program-at-all", &[]).await else { panic!("it started") };
    assert!(problem.contains("not on the PATH"), "{problem}");
    assert_eq!(marked::count(&stage.family.marker()), 0);
}
