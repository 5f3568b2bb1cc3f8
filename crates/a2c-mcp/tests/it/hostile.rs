//! Servers that do not keep to the protocol: each connection is answered by a script of ours, byte by byte.

use std::future::Future;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;

/// A request that came in.
pub(super) struct ReceivedRequest {
    /// The method and the path.
    pub(super) line: String,
    pub(super) body: Value,
    stream: TcpStream,
}

impl ReceivedRequest {
    /// Answers with a whole response.
    pub(super) async fn answer(mut self, status: &str, head: &str, body: &str) {
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{head}\r\n{body}");
        let _ = self.stream.write_all(text.as_bytes()).await;
    }

    pub(super) async fn json(self, body: &Value) {
        self.answer("200 OK", "content-type: application/json\r\n", &body.to_string()).await;
    }

    /// Answers with the head of an event stream, which the caller goes on with.
    async fn events(mut self) -> TcpStream {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await.unwrap();
        self.stream
    }
}

/// Listens and hands out the requests; gives the address.
pub(super) async fn listen() -> (String, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                if let Some(asked) = read(stream).await {
                    let _ = sender.send(asked);
                }
            });
        }
    });
    (address, requests)
}

async fn read(mut stream: TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    while bytes.len() < head + length {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let line = String::from_utf8_lossy(&bytes[..head]).lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
    Some(ReceivedRequest { line, body: serde_json::from_slice(&bytes[head..]).unwrap_or_default(), stream })
}

pub(super) fn hello(id: &Value) -> Value {
    let result = json!({
        "protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "0"}
    });
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A streamable server that behaves until a tool is called; that is answered by `answer`.
async fn streamable_server<F>(answer: impl Fn(ReceivedRequest) -> F + Send + 'static) -> Client
where
    F: Future<Output = ()> + Send + 'static,
{
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            let id = asked.body["id"].clone();
            match asked.body["method"].as_str() {
                Some("initialize") => asked.json(&hello(&id)).await,
                Some("tools/call") => drop(tokio::spawn(answer(asked))),
                Some(_) => asked.answer("202 Accepted", "", "").await,
                None => asked.answer("405 Method Not Allowed", "", "").await,
            }
        }
    });
    connect(streamable::open("demo", &streamable_at(address), None).unwrap()).await.unwrap()
}

/// A legacy server that behaves until a tool is called; then it says `events`, with `ID` standing for the call's id.
async fn sse_server(events: &'static [&'static str]) -> Client {
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        let asked = requests.recv().await.unwrap();
        assert_eq!(asked.line, "GET /");
        let mut stream = asked.events().await;
        stream.write_all(b"event: endpoint\ndata: /post\n\n").await.unwrap();
        while let Some(asked) = requests.recv().await {
            let (id, method) = (asked.body["id"].clone(), asked.body["method"].as_str().map(str::to_owned));
            asked.answer("202 Accepted", "", "").await;
            match method.as_deref() {
                Some("initialize") => {
                    let event = format!("event: message\ndata: {}\n\n", hello(&id));
                    stream.write_all(event.as_bytes()).await.unwrap();
                }
                Some("tools/call") => {
                    for event in events {
                        stream.write_all(event.replace("ID", &id.to_string()).as_bytes()).await.unwrap();
                    }
                }
                _ => {}
            }
        }
    });
    connect(sse::open(&sse_at(address)).unwrap()).await.unwrap()
}

/// Calls and gives the error, which must come.
async fn fails(client: &Client) -> String {
    call(client.peer(), "any", json!({})).await.unwrap_err().to_string()
}

/// Answers that are none.
const UNREADABLE: [&str; 2] =
    [r#"{"jsonrpc":"2.0","id":ID,"error":"broken"}"#, r#"{"jsonrpc":"1.0","id":ID,"result":{"content":[]}}"#];

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_answer_is_an_error_of_its_call() {
    for text in UNREADABLE {
        let client = streamable_server(move |asked: ReceivedRequest| async move {
            let body = text.replace("ID", &asked.body["id"].to_string());
            asked.answer("200 OK", "content-type: application/json\r\n", &body).await;
        })
        .await;
        assert!(fails(&client).await.contains("not an MCP message"), "{text}");
        assert!(!client.is_closed(), "{text}");

        // In a stream that stays open, numbered so that it could be asked for again.
        let client = streamable_server(move |asked: ReceivedRequest| async move {
            let event = format!("id: 1\ndata: {}\n\n", text.replace("ID", &asked.body["id"].to_string()));
            let mut stream = asked.events().await;
            stream.write_all(event.as_bytes()).await.unwrap();
            std::future::pending().await
        })
        .await;
        assert!(fails(&client).await.contains("not an MCP message"), "{text}");
        assert!(!client.is_closed(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_between_events_is_passed_over() {
    let client = sse_server(&[
        "data: garbage\n\n",
        "event: unheard\ndata: {}\n\n",
        ": a comment\n\n",
        "data: [1, 2]\n\n",
        "event: endpoint\ndata: http://elsewhere/\n\n",
        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\r\ndata: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"well\"}]}}\r\n\r\n",
    ])
    .await;
    let result = call(client.peer(), "any", json!({})).await.unwrap();
    assert_eq!(text(&result), "well");
    let client = sse_server(&["data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":\"broken\"}\n\n"]).await;
    assert!(fails(&client).await.contains("not an MCP message"));
    assert!(!client.is_closed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_something_else_is_an_error() {
    let client = streamable_server(|asked: ReceivedRequest| async move {
        asked.json(&json!({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})).await;
    })
    .await;
    assert!(fails(&client).await.contains("was not asked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_without_our_id_still_answers_the_call() {
    let client = streamable_server(|asked: ReceivedRequest| async move {
        let error = json!({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "bad luck"}});
        asked.answer("400 Bad Request", "content-type: application/json\r\n", &error.to_string()).await;
    })
    .await;
    assert!(fails(&client).await.contains("bad luck"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_answer_is_refused_by_name() {
    let flood = |mut stream: TcpStream| async move {
        let megabyte = vec![b'x'; 1 << 20];
        while stream.write_all(&megabyte).await.is_ok() {}
    };
    let client = streamable_server(move |asked: ReceivedRequest| async move {
        let mut stream = asked.events().await;
        stream.write_all(b"id: 1\ndata: ").await.unwrap();
        flood(stream).await;
    })
    .await;
    assert!(fails(&client).await.contains("more than 32 MiB"));
    assert!(!client.is_closed());
    let client = streamable_server(move |mut asked: ReceivedRequest| async move {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        asked.stream.write_all(head.as_bytes()).await.unwrap();
        flood(asked.stream).await;
    })
    .await;
    assert!(fails(&client).await.contains("more than 32 MiB"));
    assert!(!client.is_closed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_stream_ends_early_is_answered() {
    let client = streamable_server(|asked: ReceivedRequest| async move {
        drop(asked.events().await);
    })
    .await;
    fails(&client).await;
    assert!(!client.is_closed());
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_do_not_follow_a_redirect_to_another_origin() {
    let (elsewhere, mut strangers) = listen().await;
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let (address, mut requests) = listen().await;
        let location = format!("location: {elsewhere}/mcp\r\n");
        tokio::spawn(async move {
            while let Some(asked) = requests.recv().await {
                asked.answer(status, &location, "").await;
            }
        });
        let given = headers(&[("authorization", "Bearer s3cret")]);
        let parameters = StreamableParameters { headers: given.clone(), ..streamable_at(address.clone()) };
        let error = connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap_err();
        assert!(error.to_string().contains("redirects to another place"), "{error}");
        let error =
            connect(sse::open(&SseParameters { headers: given, ..sse_at(address) }).unwrap()).await.unwrap_err();
        assert!(error.to_string().contains("redirects to another place"), "{error}");
    }
    assert!(strangers.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_not_posted_to_another_origin() {
    let (elsewhere, mut strangers) = listen().await;
    let (address, mut requests) = listen().await;
    let server = tokio::spawn(async move {
        let mut stream = requests.recv().await.unwrap().events().await;
        let event = format!("event: endpoint\ndata: {elsewhere}/post\n\n");
        stream.write_all(event.as_bytes()).await.unwrap();
        stream
    });
    let error = connect(sse::open(&sse_at(address)).unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("another origin"), "{error}");
    drop(server.await.unwrap());
    assert!(strangers.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_is_given_up() {
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Some(asked) = requests.recv().await {
            kept.push(asked);
        }
    });
    let parameters = StreamableParameters { timeout: seconds(0.2), ..streamable_at(address.clone()) };
    let error = connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("did not answer within 0.2 s"), "{error}");
    let error = connect(sse::open(&SseParameters { timeout: 0.2, ..sse_at(address) }).unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("did not answer within 0.2 s"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_event_stream_is_given_up() {
    let (address, mut requests) = listen().await;
    tokio::spawn(async move {
        let mut stream = requests.recv().await.unwrap().events().await;
        stream.write_all(b"event: endpoint\ndata: /post\n\n").await.unwrap();
        std::future::pending::<()>().await;
        drop(stream);
    });
    let mut transport = sse::open(&SseParameters { sse_read_timeout: 0.2, ..sse_at(address) }).unwrap();
    assert!(tokio::time::timeout(PATIENCE, transport.receive()).await.expect("an end in time").is_none());
}

#[test]
fn wrong_parameters_say_what_to_change() {
    let at = |url: &str| streamable_at(url.to_owned());
    let good = "http://h/mcp";
    for (parameters, problem) in [
        (at("nowhere"), "no address"),
        (at("file:///etc/passwd"), "http:// or https://"),
        (StreamableParameters { headers: headers(&[("a b", "s3cret")]), ..at(good) }, "no name of a header"),
        (StreamableParameters { headers: headers(&[("x", "s3cret\n")]), ..at(good) }, "line break"),
        (StreamableParameters { headers: headers(&[("Accept", "s3cret")]), ..at(good) }, "set by MCP itself"),
        (StreamableParameters { timeout: seconds(0.0), ..at(good) }, "`timeout`"),
        (StreamableParameters { sse_read_timeout: seconds(1e300), ..at(good) }, "`sse_read_timeout`"),
    ] {
        let Err(error) = streamable::open("demo", &parameters, None) else { panic!("{problem}") };
        let error = error.to_string();
        assert!(error.contains(problem) && !error.contains("s3cret"), "{error}");
    }
    for (timeout, sse_read_timeout) in [(-1.0, 1.0), (1.0, f64::NAN)] {
        assert!(sse::open(&SseParameters { timeout, sse_read_timeout, ..sse_at(good.into()) }).is_err());
    }
}
