//! Real processes that do not speak MCP as they should.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use a2c_mcp::log::{LogSource, ServerLog};
use a2c_mcp::stdio::{StartedServer, StdioLaunch, StdioStartError, start};
use a2c_process::Processes;
use a2c_protocol::config::StdioParameters;
use a2c_secrets::Redactor;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

const PATIENCE: Duration = Duration::from_secs(60);

/// The processes of one test, and the log of its server.
struct Fixture {
    processes: Processes,
    log: Arc<ServerLog>,
}

impl Fixture {
    fn new() -> Self {
        Self { processes: Processes::unguarded(), log: Arc::new(ServerLog::new()) }
    }

    async fn run(&self, command: &str, args: &[&str]) -> Result<StartedServer, StdioStartError> {
        let stdio = json!({"command": command, "args": args});
        let stdio: StdioParameters = serde_json::from_value(stdio).unwrap();
        let (secrets, log) = (&Redactor::default(), &self.log);
        start(StdioLaunch { name: "s", stdio: &stdio, secrets, log, processes: &self.processes }).await
    }
}

#[tokio::test]
async fn what_a_server_says_last_explains_its_end() {
    let fixture = Fixture::new();
    for word in ["first", "second"] {
        let line = format!("echo {word} >&2; exit 3");
        let StartedServer { mut process, transport, mut stderr } = fixture.run("sh", &["-c", &line]).await.unwrap();
        process.exited().await.unwrap();
        drop(transport);
        assert_eq!(process.end().await.and_then(|status| status.code()), Some(3));
        assert_eq!(stderr.last_lines(20).await, word);
    }
    let texts: Vec<_> = fixture.log.tail(usize::MAX).into_iter().filter(|l| l.source == LogSource::Stderr).collect();
    assert_eq!(texts.len(), 2, "the log outlives a run");
}

#[tokio::test]
async fn a_flood_on_standard_error_is_bounded_and_starves_no_other_task() {
    let fixture = Fixture::new();
    let StartedServer { process, transport, .. } = fixture.run("sh", &["-c", "yes flood >&2"]).await.unwrap();
    let (_, mut news) = fixture.log.follow(0);
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
    assert!(fixture.log.tail(usize::MAX).len() <= 500);
}

#[tokio::test]
async fn what_stands_on_standard_output_by_mistake_does_no_harm() {
    let fixture = Fixture::new();
    let script = a2c_testbed::workspace_root().join("tests/hostile/noisy.py");
    let python = a2c_testbed::python();
    let StartedServer { process, transport, .. } =
        fixture.run(python.to_str().unwrap(), &[script.to_str().unwrap()]).await.unwrap();
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
    let log = fixture.log.tail(usize::MAX);
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
        let fixture = Fixture::new();
        let args = [script.to_str().unwrap(), kind];
        let StartedServer { process, transport, .. } = fixture.run(python.to_str().unwrap(), &args).await.unwrap();
        let client = ().serve(transport).await.unwrap();
        let call = client.call_tool(CallToolRequestParams::new("fine"));
        let outcome = tokio::time::timeout(PATIENCE, call).await.expect("an end");
        assert!(outcome.is_err(), "{kind}: {outcome:?}");
        let remarks = fixture.log.tail(usize::MAX);
        let remark = "it asks and does not read its standard input";
        assert!(remarks.iter().any(|line| &*line.text == remark), "{kind}: {remarks:?}");
        client.waiting().await.unwrap();
        process.end().await;
        assert_eq!(fixture.processes.count(), 0);
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_explained_and_leaves_no_process() {
    let fixture = Fixture::new();
    let Err(problem) = fixture.run("no-such-program-at-all", &[]).await else { panic!("it started") };
    let expected = "cannot start 'no-such-program-at-all': No such file or directory (os error 2) \
                    (it is not on the PATH: install it, or write its full path)";
    assert_eq!(problem.to_string(), expected);
    assert_eq!(fixture.processes.count(), 0);
}
