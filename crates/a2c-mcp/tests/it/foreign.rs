//! Servers of the Python `mcp` package, in each of their ways to answer.

use rmcp::model::{CallToolRequest, ClientRequest, CustomResult, ServerJsonRpcMessage, ServerResult};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::json;
use tokio::sync::mpsc;

use super::*;

const MODES: [&str; 4] = ["stateful", "stateless", "json", "sse"];

/// Calls the tool whose result is so large that it goes through the library as a text.
async fn call_large(client: &Client, arguments: Value) -> CallToolResult {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    let call = CallToolRequest::new(CallToolRequestParams::new("long").with_arguments(arguments));
    let sent = client.peer().send_request(ClientRequest::CallToolRequest(call));
    match tokio::time::timeout(PATIENCE, sent).await.expect("an answer in time").unwrap() {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_answer_works() {
    for mode in MODES {
        let peer = script("mcp_http.py", &[mode]);
        let client = connect_to(&peer, mode).await;
        let names: Vec<_> = client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["echo", "long", "grow"], "{mode}");
        echoes(&client).await;
        assert_eq!(text(&call_large(&client, json!({"megabytes": 3})).await).len(), 3 << 20, "{mode}");
        let many = (0..50).map(|n| call(client.peer(), "echo", json!({"text": n.to_string()})));
        for (n, result) in futures_util::future::join_all(many).await.into_iter().enumerate() {
            assert_eq!(text(&result.unwrap()), n.to_string(), "{mode}");
        }
        client.cancel().await.unwrap();
    }
}

/// Tells of changed tools.
struct ToolChangeListener(mpsc::UnboundedSender<()>);

impl ClientHandler for ToolChangeListener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_by_itself_is_heard() {
    for mode in ["stateful", "sse"] {
        let peer = script("mcp_http.py", &[mode]);
        let (heard, mut ear) = mpsc::unbounded_channel();
        let client = match mode {
            "sse" => {
                let transport = sse::open(&sse_at(format!("{}/sse", peer.address()))).unwrap();
                ToolChangeListener(heard).serve(transport).await.unwrap()
            }
            _ => {
                let parameters = streamable_at(format!("{}/mcp", peer.address()));
                ToolChangeListener(heard).serve(streamable::open("demo", &parameters, None).unwrap()).await.unwrap()
            }
        };
        // The notification comes on the stream that the session listens on, which must be there first.
        if mode == "stateful" {
            peer.line_where(PATIENCE, |line| line.starts_with("request GET"));
        }
        call(client.peer(), "grow", json!({})).await.unwrap();
        tokio::time::timeout(PATIENCE, ear.recv()).await.expect("a notification").expect("a notification");
        assert!(client.list_all_tools().await.unwrap().iter().any(|tool| tool.name == "grown"), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_go_with_every_request() {
    for mode in ["stateful", "sse"] {
        let peer = script("mcp_http.py", &[mode]);
        let given = headers(&[("Authorization", "Bearer s3cret"), ("x-key", "k3y")]);
        let client = match mode {
            "sse" => {
                let parameters = SseParameters { headers: given, ..sse_at(format!("{}/sse", peer.address())) };
                connect(sse::open(&parameters).unwrap()).await.unwrap()
            }
            _ => {
                let url = format!("{}/mcp", peer.address());
                let parameters = StreamableParameters { headers: given, ..streamable_at(url) };
                connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap()
            }
        };
        echoes(&client).await;
        client.cancel().await.unwrap();
        let last = if mode == "sse" { "request POST" } else { "request DELETE" };
        let wanted = r#""authorization": "Bearer s3cret", "x-key": "k3y""#;
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|line: &String| line.starts_with(last)) {
            seen.push(peer.line_where(PATIENCE, |line| line.starts_with("request")));
        }
        assert!(seen.iter().all(|line| line.contains(wanted)), "{mode}: {seen:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_ended_only_if_the_owner_wants_that() {
    let peer = script("mcp_http.py", &["stateful"]);
    for terminate_on_close in [false, true] {
        let url = format!("{}/mcp", peer.address());
        let parameters = StreamableParameters { terminate_on_close, ..streamable_at(url) };
        let client = connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap();
        client.cancel().await.unwrap();
    }
    // The first session would have been ended before the second one began.
    let mut posts = Vec::new();
    loop {
        let line = peer.line_where(PATIENCE, |line| !line.starts_with("request GET"));
        match line.starts_with("request DELETE") {
            true => break,
            false => posts.push(line),
        }
    }
    assert_eq!(posts.len(), 4, "two handshakes before the first end of a session: {posts:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_too_many_is_followed_within_the_origin() {
    let peer = script("mcp_http.py", &["stateful"]);
    let parameters = streamable_at(format!("{}/mcp/", peer.address()));
    let client = connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap();
    echoes(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_event_stream_is_the_end_of_the_connection() {
    let mut peer = script("mcp_http.py", &["sse"]);
    let mut transport = sse::open(&sse_at(format!("{}/sse", peer.address()))).unwrap();
    peer.line_where(PATIENCE, |line| line.starts_with("request GET"));
    peer.kill();
    let last: Option<ServerJsonRpcMessage> =
        tokio::time::timeout(PATIENCE, transport.receive()).await.expect("an end in time");
    assert!(last.is_none(), "{last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_a_restarted_server_has_forgotten_is_begun_again() {
    let mut peer = script("mcp_http.py", &["stateful"]);
    let client = connect_to(&peer, "stateful").await;
    let port = peer.address().rsplit(':').next().unwrap().to_owned();
    peer.kill();
    let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    let _peer = script("mcp_http.py", &["stateful", &port]);
    echoes(&client).await;
}
