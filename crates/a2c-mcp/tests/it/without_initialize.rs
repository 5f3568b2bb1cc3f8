//! Sessions with a server of the TypeScript SDK that speaks revision 2026-07-28 only.

use std::sync::Arc;

use a2c_mcp::{CallLimits, Connection, Handshake, HeartbeatPolicy, Session, SessionError, SessionOptions, ToolCall};
use a2c_testbed::node;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::session::{RecordedEvents, options};
use super::*;

const WINDOW: &str = "window://demo/state";

fn server() -> Peer {
    server_that(&[])
}

fn server_that(is: &[&str]) -> Peer {
    let mut command = node().script("mcp_without_initialize.mjs");
    command.arg("http").args(is);
    Peer::ready(command)
}

async fn open(
    server: &Peer,
    handshake: Handshake,
) -> Result<(Session, Vec<String>, Arc<RecordedEvents>), SessionError> {
    let told = Arc::new(RecordedEvents::default());
    let transport = streamable::open("demo", &streamable_at(server.address().to_owned()), None)?;
    let health = HeartbeatPolicy { every: Duration::from_millis(100), limit: PATIENCE, misses: 2 };
    let options = SessionOptions { handshake, health, ..options(PATIENCE.as_secs_f64()) };
    let (session, tools) = Session::open(transport, options, told.clone()).await?;
    Ok((session, tools.iter().map(|tool| tool.name.to_string()).collect(), told))
}

async fn call(connection: &Connection, tool: &str) {
    let call = ToolCall { tool, arguments: JsonObject::new(), trace: None };
    let limits = CallLimits { deadline: Instant::now() + PATIENCE, idle: None };
    connection.call_tool(call, limits, &CancellationToken::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_is_refused_as_such() {
    let error = open(&server(), Handshake::Initialize).await.map(drop).unwrap_err();
    assert!(matches!(&error, SessionError::Refused(refusal) if refusal.code.0 == -32022), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_a_discovery() {
    let server = server();
    let (mut session, tools, told) = open(&server, Handshake::Discover).await.unwrap();
    assert_eq!(tools, ["echo", "touch", "grow"]);
    let support = session.connection().resource_support();
    assert!(support.resources && support.subscribe);
    let connection = session.connection().clone();
    let used = async {
        call(&connection, "echo").await;
        // The window is not watched yet.
        call(&connection, "touch").await;
        connection.subscribe(WINDOW, Instant::now() + PATIENCE).await.unwrap();
        call(&connection, "touch").await;
        told.until(&format!("updated {WINDOW}")).await;
        call(&connection, "grow").await;
        told.until("tools echo touch grow more_1").await;
        connection.unsubscribe(WINDOW, Instant::now() + PATIENCE).await.unwrap();
    };
    tokio::select! {
        ended = session.watch() => panic!("{ended}"),
        () = used => {}
    }
    assert_eq!(told.count("updated"), 1);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_the_server_does_not_tell_is_caught_up_with() {
    let mut server = server_that(&["moody"]);
    let (mut session, _, told) = open(&server, Handshake::Discover).await.unwrap();
    let connection = session.connection().clone();
    let used = async {
        // The first request to listen failed.
        call(&connection, "grow").await;
        told.until("tools echo touch grow more_1").await;
        // It ends, and the next one fails.
        order(&mut server, "cut");
        call(&connection, "grow").await;
        told.until("tools echo touch grow more_1 more_2").await;
    };
    tokio::select! {
        ended = session.watch() => panic!("{ended}"),
        () = used => {}
    }
    session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_ends_the_session() {
    let mut server = server();
    let (mut session, _, _) = open(&server, Handshake::Discover).await.unwrap();
    call(session.connection(), "echo").await;
    server.kill();
    let ended = tokio::time::timeout(PATIENCE, session.watch()).await.unwrap();
    assert!(
        matches!(ended, SessionError::Unreachable(_) | SessionError::Unanswered | SessionError::HungUp),
        "{ended:?}"
    );
}
