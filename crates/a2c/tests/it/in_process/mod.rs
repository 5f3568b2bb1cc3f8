//! A hub, a Computer with the MCP servers of a test, and an Agent, in one process.

pub(crate) mod log;

use std::path::Path;
use std::time::Duration;

use a2c_agent::{Agent, AgentEvent, AgentEvents};
use a2c_computer::config::ComputerConfig;
use a2c_computer::{
    Computer, ComputerHandle, ComputerOptions, Confirmation, LinkOptions, Seat, ServerState, ServerStatus,
};
use a2c_hub::{Hub, HubConfig};
use a2c_protocol::notification::Notification;
use a2c_protocol::tool::{CallToolResult, SmcpTool};
use a2c_testbed::PATIENCE;
use a2c_testbed::processes::Mark;
use serde_json::{Value, json};

/// An office with everything a call goes through: hub, Computer and Agent.
pub(crate) struct TestOffice {
    pub(crate) hub: Hub,
    pub(crate) computer: Computer,
    pub(crate) agent: Agent,
}

impl TestOffice {
    /// `servers` is what a configuration has under that key.
    pub(crate) async fn new(servers: &Value) -> Self {
        Self::with(servers, |_| {}).await
    }

    /// The same, with other options.
    pub(crate) async fn with(servers: &Value, adjust: impl FnOnce(&mut ComputerOptions)) -> Self {
        Self::configured(&json!({ "servers": servers }), adjust).await
    }

    /// With a whole configuration.
    pub(crate) async fn configured(config: &Value, adjust: impl FnOnce(&mut ComputerOptions)) -> Self {
        let hub = start_hub().await;
        let mut options = computer_options(&hub, config);
        options.join_patience = PATIENCE;
        adjust(&mut options);
        let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.expect("connected");
        agent.join("o").await.expect("joined");
        let computer = Computer::start(options).await.expect("the computer starts");
        Self { hub, computer, agent }
    }

    pub(crate) fn handle(&self) -> ComputerHandle {
        self.computer.handle()
    }

    pub(crate) fn state(&self, server: &str) -> ServerState {
        self.status(server).state
    }

    pub(crate) fn status(&self, server: &str) -> ServerStatus {
        self.handle().server(server).expect("the server is configured")
    }

    /// Calls a tool with a minute to answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        self.agent.call_tool("desk", tool, arguments, PATIENCE).await.expect("the hub answers")
    }

    /// Calls a tool that succeeds, and gives its text.
    #[track_caller]
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let place = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await;
            assert!(!result.is_error, "{place}: {}", json!(result));
            result.text()
        }
    }

    /// Calls a tool in a task of its own.
    pub(crate) fn start_call(
        &self,
        tool: &str,
        arguments: Value,
        limit: Duration,
    ) -> tokio::task::JoinHandle<CallToolResult> {
        let (agent, tool) = (self.agent.clone(), tool.to_owned());
        tokio::spawn(async move { agent.call_tool("desk", &tool, arguments, limit).await.expect("the hub answers") })
    }

    /// The tools, as the Agent sees them.
    pub(crate) async fn tools(&self) -> Vec<SmcpTool> {
        self.agent.tools("desk").await.expect("the computer answers")
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.tools().await.into_iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        names
    }

    /// The sample beside it works, whatever the others do.
    pub(crate) async fn others_are_well(&self) {
        assert_eq!(self.text("echo", json!({"text": "fine"})).await, "fine");
    }

    /// Waits until the state of a server is as wanted.
    pub(crate) async fn until_state(&self, server: &str, wanted: impl Fn(&ServerStatus) -> bool) -> ServerStatus {
        until(&format!("the state of '{server}'"), || wanted(&self.status(server))).await;
        self.status(server)
    }

    pub(crate) async fn end(self) {
        self.agent.close().await;
        self.computer.stop().await;
        self.hub.shutdown().await;
    }
}

/// A hub on a free port that lets everybody in.
pub(crate) async fn start_hub() -> Hub {
    Hub::start(HubConfig::on("127.0.0.1:0".parse().unwrap())).await.expect("the hub starts")
}

/// The options of a Computer named `desk` that runs every tool without asking.
pub(crate) fn computer_options(hub: &Hub, config: &Value) -> ComputerOptions {
    let config = ComputerConfig::parse(&config.to_string()).expect("the configuration is valid");
    ComputerOptions::new(LinkOptions::new(hub.url()), seat("desk"), config).confirmation(Confirmation::Allow)
}

/// A seat in office `o`.
pub(crate) fn seat(name: &str) -> Seat {
    Seat { office: "o".into(), name: name.into() }
}

/// Waits for something that only a look shows.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "{what} did not come to be as expected");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for something that only a request shows.
pub(crate) async fn until_async<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "{what} did not come to be as expected");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("nothing came within a minute")
}

/// Waits until the Agent hears that the tools changed.
pub(crate) async fn told_of_tools(news: &mut AgentEvents) {
    loop {
        let heard = within(news.recv()).await.expect("the agent lives");
        if matches!(heard, AgentEvent::Notification(Notification::UpdateToolList(_))) {
            return;
        }
    }
}

/// An MCP server on standard streams.
pub(crate) fn stdio(command: &Path, args: &[&str]) -> Value {
    json!({"type": "stdio", "server_parameters": {"command": command, "args": args}})
}

/// The same, with an environment.
pub(crate) fn stdio_with(command: &Path, args: &[&str], env: &Value) -> Value {
    json!({"type": "stdio", "server_parameters": {"command": command, "args": args, "env": env}})
}

/// The environment that marks the processes of a test.
pub(crate) fn marked(mark: &Mark) -> Value {
    let (variable, value) = mark.variable();
    json!({ variable: value })
}

/// The sample server.
pub(crate) fn sample() -> Value {
    stdio(Path::new(env!("CARGO_BIN_EXE_a2c")), &["sample-server"])
}
