//! Who takes part: processes of this program, and the public SDK behind a script.

use std::collections::VecDeque;
use std::process::Command;

use a2c_agent::{Agent, AgentEvent, AgentEvents};
use a2c_testbed::{PATIENCE, Peer, python, workspace_root};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The SDK these tests are about.
const SDK_VERSION: &str = "0.2.1";

/// Where a hub of either kind is reached.
pub(crate) struct HubAddress {
    pub(crate) url: String,
    pub(crate) path: &'static str,
    pub(crate) token: Option<&'static str>,
}

impl HubAddress {
    /// A command of this program that is told to go there.
    fn command(&self, role: &str, office: &str, transport: &str) -> Command {
        let mut command = a2c();
        command.args([role, "--url", &self.url, "--office", office, "--path", self.path, "--transport", transport]);
        if let Some(token) = self.token {
            command.env("A2C_TOKEN", token);
        }
        command
    }

    /// Runs `a2c computer` with the sample MCP server until the office has it.
    pub(crate) fn computer(&self, office: &str, name: &str, transport: &str) -> Computer {
        let folder = TempDir::new().unwrap();
        let config = folder.path().join("computer.json");
        let program = json!({"command": env!("CARGO_BIN_EXE_a2c"), "args": ["sample-server"]});
        let sample = json!({"servers": {"sample": {"type": "stdio", "server_parameters": program}}});
        std::fs::write(&config, sample.to_string()).unwrap();
        let mut command = self.command("computer", office, transport);
        command.args(["--name", name, "--yes", "--config"]).arg(config);
        Computer { peer: Peer::ready(command), _folder: folder }
    }

    /// Runs `a2c agent --json` to its end: whether it succeeded, and what it printed.
    pub(crate) fn ask(&self, office: &str, transport: &str, question: &[&str]) -> (bool, Value) {
        let mut command = self.command("agent", office, transport);
        let output = command.args(["--name", "teller", "--json"]).args(question).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        let said = serde_json::from_str(&said).unwrap_or_else(|_| json!({"stdout": said, "stderr": complaint}));
        (output.status.success(), said)
    }
}

fn a2c() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2c"));
    // Tests run at the same time, as one user: neither sockets nor what is remembered may meet.
    command.env("A2C_CONTROL", "none").env("A2C_STATE", "none");
    for variable in ["A2C_LOG", "A2C_TOKEN", "A2C_URL", "A2C_OFFICE", "A2C_LISTEN"] {
        command.env_remove(variable);
    }
    command
}

/// `a2c server`, until it is dropped.
pub(crate) struct Hub {
    pub(crate) address: HubAddress,
    _peer: Peer,
}

impl Hub {
    pub(crate) fn start() -> Self {
        let mut command = a2c();
        command.args(["server", "--listen", "127.0.0.1:0", "--auth", "none"]);
        let peer = Peer::ready(command);
        Self { address: HubAddress { url: peer.address().to_owned(), path: "/smcp", token: None }, _peer: peer }
    }

    pub(crate) fn url(&self) -> &str {
        &self.address.url
    }
}

/// `a2c computer`, until it is stopped or dropped.
pub(crate) struct Computer {
    peer: Peer,
    _folder: TempDir,
}

impl Computer {
    /// Lets it leave its office in order.
    pub(crate) fn stop(mut self) {
        let status = self.peer.terminate();
        assert!(status.success(), "{status}\n{}", self.peer.stderr_tail());
    }
}

/// A role of the public SDK. See `sdk_steps.py` for the lines that are exchanged.
pub(crate) struct Sdk {
    peer: Peer,
    /// What happened while an outcome was awaited.
    events: VecDeque<Value>,
    greeting: Value,
    /// Its home: the SDK keeps skills and large results there.
    _home: TempDir,
}

impl Sdk {
    pub(crate) fn start(script: &str, options: &Value) -> Self {
        let home = TempDir::new().unwrap();
        let mut command = Command::new(python());
        command.arg(workspace_root().join("tests/interop/python").join(script)).arg(options.to_string());
        command.env("HOME", home.path()).env("PYTHONDONTWRITEBYTECODE", "1");
        for variable in ["XDG_DATA_HOME", "A2C_SKILL_HOME", "A2C_SKILL_INLINE_BUDGET", "A2C_BLOB_CHUNK_BYTES"] {
            command.env_remove(variable);
        }
        let peer = Peer::spawn(command, PATIENCE, |line| line.starts_with('{'));
        let greeting: Value = serde_json::from_str(peer.ready_line()).unwrap();
        println!("{script} runs the public SDK a2c-smcp {}", greeting["sdk"]);
        assert_eq!(greeting["sdk"], SDK_VERSION);
        Self { peer, events: VecDeque::new(), greeting, _home: home }
    }

    pub(crate) fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// Takes a step that has to succeed, and gives its outcome.
    pub(crate) fn ask(&mut self, step: &str, arguments: Value) -> Value {
        let outcome = self.outcome(step, arguments);
        assert!(outcome.get("raised").is_none(), "{step} failed: {outcome}");
        outcome
    }

    /// Takes a step that has to fail, and gives what it raised.
    pub(crate) fn fail(&mut self, step: &str, arguments: Value) -> Value {
        let outcome = self.outcome(step, arguments);
        assert!(outcome.get("raised").is_some(), "{step} should have failed: {outcome}");
        outcome
    }

    fn outcome(&mut self, step: &str, mut arguments: Value) -> Value {
        arguments["step"] = step.into();
        self.peer.write_line(&arguments.to_string());
        loop {
            let line = self.next();
            if line["step"] == step {
                return line;
            }
            self.events.push_back(line);
        }
    }

    /// The next thing of that kind that happens, or has happened since the last one.
    pub(crate) fn event(&mut self, name: &str) -> Value {
        let is_wanted = |line: &Value| line["event"] == name;
        if let Some(kept) = self.events.iter().position(is_wanted) {
            return self.events.remove(kept).unwrap();
        }
        loop {
            let line = self.next();
            if is_wanted(&line) {
                return line;
            }
            self.events.push_back(line);
        }
    }

    /// The next line of the script; other output of Python is passed over.
    fn next(&self) -> Value {
        let line = self.peer.line_where(PATIENCE, |line| line.starts_with('{'));
        serde_json::from_str(&line).unwrap()
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(mut self) {
        self.peer.kill();
    }
}

/// The news that `wanted` makes something of; other news is passed over.
pub(crate) async fn news<T>(told: &mut AgentEvents, wanted: impl Fn(AgentEvent) -> Option<T>) -> T {
    let search = async {
        loop {
            let news = told.recv().await.unwrap();
            if let Some(found) = wanted(news) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, search).await.unwrap()
}

/// The names of a Computer's tools, sorted.
pub(crate) async fn tool_names(agent: &Agent, computer: &str) -> Vec<String> {
    let mut names: Vec<_> = agent.tools(computer).await.unwrap().into_iter().map(|tool| tool.name).collect();
    names.sort();
    names
}

/// The values of one field.
pub(crate) fn field(list: &Value, name: &str) -> Vec<String> {
    let mut values: Vec<_> = list.as_array().unwrap().iter().map(|v| v[name].as_str().unwrap().to_owned()).collect();
    values.sort();
    values
}
