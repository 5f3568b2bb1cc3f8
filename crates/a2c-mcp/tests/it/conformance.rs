//! The client scenarios of the public MCP conformance suite. The suite runs this test program as its client: once for each
//! scenario, with the address of a server of its own.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use a2c_mcp::model::Tool;
use a2c_mcp::oauth::{FileStore, TokenStore, login};
use a2c_mcp::{
    CallFailure, CallLimits, Degradation, Handshake, Session, SessionError, SessionErrorKind, SessionEvents,
};
use a2c_mcp::{HeartbeatPolicy, SessionOptions, ToolCall};
use a2c_protocol::config::OAuthParameters;
use a2c_secrets::Redactor;
use a2c_testbed::node;
use futures_util::StreamExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::oauth::browse;
use super::*;

/// The scenarios for clients that this one is meant to pass.
const PASSED: [&str; 21] = [
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/basic-cimd",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/offline-access-not-supported",
    "auth/offline-access-scope",
    "auth/pre-registration",
    "auth/resource-mismatch",
    "auth/scope-from-scopes-supported",
    "auth/scope-from-www-authenticate",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/scope-step-up",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-none",
    "auth/token-endpoint-auth-post",
    "initialize",
    "tools_call",
];

/// One more, which measures time.
const TIMED: &str = "sse-retry";

/// Scenarios that are left out, with the reason.
const LEFT_OUT: [(&str, &str); 4] = [
    ("auth/client-credentials-basic", "an extension: a Computer acts for its owner, who signs in with a browser"),
    ("auth/client-credentials-jwt", "an extension: a Computer acts for its owner, who signs in with a browser"),
    ("auth/cross-app-access-complete-flow", "an extension: there is no identity provider that would vouch for it"),
    (
        "elicitation-sep1034-client-defaults",
        "elicitation is not offered: A2C has no way to ask a person through an Agent",
    ),
];

/// The test that is the client.
const CLIENT: &str = "conformance::client_of_the_suite";

/// How often the owner signs in again before giving up.
const SIGN_INS: usize = 2;

fn suite(arguments: &[&str], folder: &Path) -> Output {
    let modules = node().dir.join("node_modules");
    let mut command = Command::new(modules.join("node/bin/node"));
    command.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js")).args(arguments);
    command.current_dir(folder).env("A2C_CONFORMANCE", "client").stdin(Stdio::null()).output().unwrap()
}

#[test]
fn every_scenario_for_clients_is_passed_or_left_out_for_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let listed = String::from_utf8(suite(&["list"], folder.path()).stdout).unwrap();
    let (_, clients) = listed.split_once("Client scenarios").expect("a list of scenarios for clients");
    let lines = clients.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let found: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    let known: BTreeSet<&str> = PASSED.into_iter().chain([TIMED]).chain(LEFT_OUT.map(|(name, _)| name)).collect();
    assert_eq!(found, known);
}

/// What the suite says of the scenarios that fail.
async fn failures(scenarios: &'static [&'static str]) -> String {
    let program = env::current_exe().unwrap();
    let command = format!("{} {CLIENT} --exact --ignored --nocapture", program.display());
    let run = |scenario: &'static str| {
        let command = command.clone();
        tokio::task::spawn_blocking(move || {
            let folder = tempfile::tempdir().unwrap();
            let timeout = PATIENCE.as_millis().to_string();
            let arguments = ["client", "--command", &command, "--scenario", scenario, "--timeout", &timeout];
            let output = suite(&arguments, folder.path());
            let [told, wrong] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            (!output.status.success()).then(|| format!("{scenario}:\n{told}{wrong}\n"))
        })
    };
    let outcomes = futures_util::stream::iter(scenarios.iter().copied()).map(run).buffer_unordered(2);
    outcomes.filter_map(|outcome| async { outcome.unwrap() }).collect().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scenarios_for_clients_are_passed() {
    assert_eq!(failures(&PASSED).await, "");
}

/// A client that does not do as it is told never passes; one on a busy machine may come too late now and then.
#[tokio::test(flavor = "multi_thread")]
async fn the_timed_scenario_is_passed() {
    for _ in 0..4 {
        if failures(&[TIMED]).await.is_empty() {
            return;
        }
    }
    assert_eq!(failures(&[TIMED]).await, "");
}

/// Opens a session, calls every tool, and signs in where that is asked for.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the suite runs it"]
async fn client_of_the_suite() {
    if env::var_os("A2C_CONFORMANCE").is_none() {
        return;
    }
    let url = env::args().next_back().unwrap();
    let context: Value =
        env::var("MCP_CONFORMANCE_CONTEXT").map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    let given = |key: &str| context[key].as_str().map(ToOwned::to_owned);
    let oauth = OAuthParameters {
        client_id: given("client_id"),
        client_secret: given("client_secret"),
        client_metadata_url: Some("https://conformance-test.local/client-metadata.json".into()),
        ..OAuthParameters::default()
    };
    let parameters = StreamableParameters { oauth: Some(oauth), ..streamable_at(url) };
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn TokenStore> = Arc::new(FileStore::new(folder.path()));
    for _ in 0..SIGN_INS {
        if use_every_tool(&parameters, store.clone()).await {
            return;
        }
        login("demo", &parameters, store.clone(), browse).await.unwrap();
    }
    assert!(use_every_tool(&parameters, store.clone()).await, "signing in {SIGN_INS} times is not enough");
}

/// Whether the server allows it.
async fn use_every_tool(parameters: &StreamableParameters, store: Arc<dyn TokenStore>) -> bool {
    let transport = streamable::open("demo", parameters, Some(store)).unwrap();
    let options = SessionOptions {
        name: "demo".into(),
        handshake: Handshake::Initialize,
        start: PATIENCE,
        health: HeartbeatPolicy { every: PATIENCE, limit: PATIENCE, misses: 2 },
        secrets: Redactor::default(),
        credentials: Redactor::default(),
    };
    let (session, tools) = match Session::open(transport, options, Arc::new(NoEvents)).await {
        Ok(opened) => opened,
        Err(error) if is_access(&error) => return false,
        Err(error) => panic!("{error}"),
    };
    for tool in tools {
        let arguments = serde_json::from_value(json!({"a": 5, "b": 3})).unwrap();
        let call = ToolCall { tool: &tool.name, arguments, trace: None };
        let limits = CallLimits { deadline: Instant::now() + PATIENCE, idle: None };
        match session.connection().call_tool(call, limits, &CancellationToken::new()).await {
            Ok(_) => {}
            Err(CallFailure::Access(_)) => return false,
            Err(failure) => panic!("{failure}"),
        }
    }
    session.close().await;
    true
}

fn is_access(error: &SessionError) -> bool {
    matches!(error.kind(), SessionErrorKind::Access(_))
}

struct NoEvents;

impl SessionEvents for NoEvents {
    fn tools_changed(&self, _: Vec<Tool>) {}
    fn resource_list_changed(&self) {}
    fn resource_updated(&self, _: &str) {}
    fn progress(&self) {}
    fn degraded(&self, _: &Degradation) {}
    fn recovered(&self) {}
}
