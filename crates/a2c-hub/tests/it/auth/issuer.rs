//! An issuer's HTTP server: it publishes what a test tells it to, and counts how often it is asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// How the server answers.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A set of these keys.
    Keys(Vec<Value>),
    /// The same, for so many seconds.
    KeysFor(Vec<Value>, u64),
    /// Some text instead of keys.
    Text(String),
    Status(u16),
    /// Another URL.
    Redirect(String),
    /// No answer at all.
    Hang,
    /// The beginning of an answer.
    HangInBody,
    /// White space, on and on.
    Endless,
}

/// A server on this machine.
pub(crate) struct Issuer {
    address: SocketAddr,
    state: IssuerState,
    task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
struct IssuerState {
    reply: Arc<Mutex<Reply>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    pub(crate) async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = IssuerState { reply: Arc::new(Mutex::new(reply)), asked: Arc::default() };
        let router = Router::new().fallback(answer).with_state(state.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state, task: AbortOnDropHandle::new(task) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/jwks?client=s3cret", self.address)
    }

    pub(crate) fn replies(&self, reply: Reply) {
        *self.state.reply.lock().unwrap() = reply;
    }

    /// How often keys were asked for.
    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// The server ends; nobody answers at its address any more.
    pub(crate) async fn go_away(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn answer(State(state): State<IssuerState>, uri: Uri) -> Response<Body> {
    let reply = state.reply.lock().unwrap().clone();
    let response = Response::builder();
    let set = |keys: &[Value]| Body::from(json!({"keys": keys}).to_string());
    // Where a redirect leads to within this server.
    if uri.path() == "/elsewhere" {
        return response.body(Body::from("{}")).unwrap();
    }
    state.asked.fetch_add(1, Ordering::SeqCst);
    match reply {
        Reply::Keys(keys) => response.body(set(&keys)).unwrap(),
        Reply::KeysFor(keys, age) => {
            response.header("cache-control", format!("public, max-age={age}")).body(set(&keys)).unwrap()
        }
        Reply::Text(text) => response.body(Body::from(text)).unwrap(),
        Reply::Status(status) => response.status(status).body(Body::empty()).unwrap(),
        Reply::Redirect(to) => response.status(302).header("location", to).body(Body::empty()).unwrap(),
        Reply::Hang => std::future::pending().await,
        Reply::HangInBody => response
            .body(Body::from_stream(futures_util::stream::unfold(0, async |n| match n {
                0 => Some((Ok::<_, std::convert::Infallible>("{\"keys\": ["), 1)),
                _ => std::future::pending().await,
            })))
            .unwrap(),
        Reply::Endless => {
            let chunk = bytes::Bytes::from(vec![b' '; 64 << 10]);
            let stream = futures_util::stream::repeat_with(move || Ok::<_, std::convert::Infallible>(chunk.clone()));
            response.body(Body::from_stream(stream)).unwrap()
        }
    }
}

/// Some time that no test reaches.
pub(crate) const LONG: Duration = Duration::from_secs(3600);
