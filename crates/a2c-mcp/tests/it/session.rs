//! Sessions with servers that are scripts of ours: what each failure is, and what the owner learns.

use std::error::Error;
use std::sync::{Arc, Mutex};

use a2c_mcp::http::{AccessReason, HttpError};
use a2c_mcp::model::Tool;
use a2c_mcp::{
    CallFailure, CallLimits, Degradation, Handshake, HeartbeatPolicy, Session, SessionError, SessionErrorKind,
    SessionEvents, SessionOptions, ToolCall,
};
use a2c_secrets::Redactor;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::hostile::{ReceivedRequest, hello, listen};
use super::*;

/// Keeps what a session tells.
#[derive(Default)]
pub(super) struct RecordedEvents {
    told: Mutex<Vec<String>>,
    more: Notify,
}

impl RecordedEvents {
    fn add(&self, what: impl Into<String>) {
        self.told.lock().unwrap().push(what.into());
        self.more.notify_one();
    }

    pub(super) async fn until(&self, wanted: &str) {
        let found = async {
            while !self.told.lock().unwrap().iter().any(|told| told.contains(wanted)) {
                self.more.notified().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, found).await;
        assert!(waited.is_ok(), "{wanted} is not in {:?}", self.told.lock().unwrap());
    }
}

impl RecordedEvents {
    /// How many of what was told begin so.
    pub(super) fn count(&self, beginning: &str) -> usize {
        self.told.lock().unwrap().iter().filter(|told| told.starts_with(beginning)).count()
    }
}

impl SessionEvents for RecordedEvents {
    fn tools_changed(&self, tools: Vec<Tool>) {
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        self.add(format!("tools {}", names.join(" ")));
    }

    fn resource_list_changed(&self) {
        self.add("resource list");
    }

    fn resource_updated(&self, uri: &str) {
        self.add(format!("updated {uri}"));
    }

    fn progress(&self) {
        self.add("progress");
    }

    fn degraded(&self, problem: &Degradation) {
        self.add(problem.to_string());
    }

    fn recovered(&self) {
        self.add("recovered");
    }
}

pub(super) fn options(seconds: f64) -> SessionOptions {
    SessionOptions {
        name: "demo".into(),
        handshake: Handshake::Initialize,
        start: Duration::from_secs_f64(seconds),
        health: HeartbeatPolicy { every: Duration::from_millis(50), limit: Duration::from_millis(50), misses: 2 },
        secrets: Redactor::new(["s3cret"]),
        credentials: Redactor::default(),
    }
}

async fn open(url: &str, seconds: f64) -> Result<(Session, Vec<Tool>, Arc<RecordedEvents>), SessionError> {
    let told = Arc::new(RecordedEvents::default());
    let transport = streamable::open("demo", &streamable_at(url.to_owned()), None)?;
    let (session, tools) = Session::open(transport, options(seconds), told.clone()).await?;
    Ok((session, tools, told))
}

/// A streamable server that shakes hands and answers everything else by `answer`; gives its address.
async fn server<F>(answer: impl Fn(String, ReceivedRequest) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            let id = asked.body["id"].clone();
            match asked.body["method"].as_str().map(str::to_owned) {
                Some(method) if method == "initialize" => asked.json(&hello(&id)).await,
                Some(_) if id.is_null() => asked.answer("202 Accepted", "", "").await,
                Some(method) => drop(tokio::spawn(answer(method, asked))),
                None => asked.answer("405 Method Not Allowed", "", "").await,
            }
        }
    });
    address
}

async fn no_tools(asked: ReceivedRequest) {
    let answer = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {"tools": []}});
    asked.json(&answer).await;
}

async fn fails(url: &str, seconds: f64) -> SessionError {
    match open(url, seconds).await {
        Ok(_) => panic!("{url} has a session"),
        Err(error) => error,
    }
}

/// A server that answers every request with this status; gives its address.
async fn answering(status: &'static str, body: &'static str) -> String {
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            asked.answer(status, "content-type: application/json\r\n", body).await;
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_to_open_has_its_kind() {
    use SessionErrorKind as Kind;
    let refused = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no s3cret here"}}"#;
    for (status, body, kind, text) in [
        ("401 Unauthorized", "", Kind::Access(AccessReason::Required), "asks for authorisation"),
        ("403 Forbidden", "", Kind::Access(AccessReason::Forbidden), "refuses access"),
        ("404 Not Found", "", Kind::Status(404), "answered HTTP 404"),
        ("500 Oops", "", Kind::Status(500), "answered HTTP 500"),
        ("302 Found", "", Kind::Redirected, "redirects to another place"),
        ("200 OK", "hello", Kind::NotMcp, "not a JSON-RPC message"),
        ("200 OK", refused, Kind::NotMcp, "no *** here"),
    ] {
        let error = fails(&answering(status, body).await, 60.0).await;
        assert_eq!(error.kind(), kind, "{status} {body}: {error}");
        assert!(error.to_string().contains(text), "{status} {body}: {error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
    let error = fails("file:///etc/passwd", 60.0).await;
    assert_eq!((error.kind(), error.to_string().contains("`url`")), (Kind::Parameters, true), "{error}");
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = fails(&format!("http://{free}/mcp"), 60.0).await;
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    assert!(error.source().is_some(), "{error:?}");
    // A server without TLS where TLS is expected.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let error = fails(&plain, 60.0).await;
    assert_eq!(error.kind(), Kind::Tls, "{error}");
    assert!(matches!(error, SessionError::Http(HttpError::Tls(_))), "{error:?}");
    let silent = server(|_, asked| async move {
        std::future::pending::<()>().await;
        drop(asked);
    })
    .await;
    let error = fails(&silent, 0.3).await;
    assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Slow, "it did not start within 0.3 s"));
    let toolless = server(|_, asked| async move {
        let error = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": -1, "message": "not today"}});
        asked.json(&error).await;
    })
    .await;
    let error = fails(&toolless, 60.0).await;
    assert_eq!(error.kind(), Kind::Listing);
    assert_eq!(error.to_string(), "cannot list its tools: the server answered: not today");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_answering_ends_the_session() {
    let address = server(|method, asked| async move {
        match method.as_str() {
            "tools/list" => no_tools(asked).await,
            _ => std::future::pending().await,
        }
    })
    .await;
    let (mut session, _, told) = open(&address, 60.0).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, session.watch()).await.unwrap();
    assert_eq!(ended, SessionError::Unanswered);
    told.until("it has not answered 2 pings in a row").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ping_that_cannot_be_sent_ends_the_session() {
    let address = server(|method, asked| async move {
        match method.as_str() {
            "tools/list" => no_tools(asked).await,
            _ => asked.answer("500 Oops", "", "").await,
        }
    })
    .await;
    let (mut session, _, told) = open(&address, 60.0).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, session.watch()).await.unwrap();
    assert_eq!(ended, SessionError::Unreachable(CallFailure::Http(HttpError::Status(500))));
    told.until("it cannot be reached: the server answered HTTP 500").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_tools_are_listed_again() {
    let peer = script("mcp_http.py", &["stateful"]);
    let told = Arc::new(RecordedEvents::default());
    let transport = streamable::open("demo", &streamable_at(format!("{}/mcp", peer.address())), None).unwrap();
    let quiet = HeartbeatPolicy { every: PATIENCE, limit: PATIENCE, misses: 2 };
    let options = SessionOptions { health: quiet, ..options(120.0) };
    let (mut session, tools) = Session::open(transport, options, told.clone()).await.unwrap();
    assert_eq!(tools.len(), 3);
    peer.line_where(PATIENCE, |line| line.starts_with("request GET"));
    let connection = session.connection().clone();
    let grow = async {
        let call = ToolCall { tool: "grow", arguments: JsonObject::new(), trace: None };
        let limits = CallLimits { deadline: Instant::now() + PATIENCE, idle: None };
        connection.call_tool(call, limits, &CancellationToken::new()).await.unwrap();
        told.until("grown").await;
    };
    tokio::select! {
        () = grow => {}
        ended = session.watch() => panic!("{ended}"),
    }
    session.close().await;
    let call = ToolCall { tool: "echo", arguments: JsonObject::new(), trace: None };
    let limits = CallLimits { deadline: Instant::now() + PATIENCE, idle: None };
    let failure = connection.call_tool(call, limits, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(failure, CallFailure::WentAway);
}
