//! An HTTP server with an engine whose handler does as it is told: echoes, counts, streams and passes on.
//!
//! `echo X` comes back as `X`; `count N` is answered with `0` … `N-1`; `stream N` the same from another task, over time;
//! `seq N` has to come in order and is acknowledged with `ack N`; `name X` gives a name to which `to X Y` is sent as
//! `from <name> Y`; `big N` is answered with so many bytes; `bye` ends the session; `panic` panics. A binary message comes back behind the text `blob`.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use a2c_engineio::{CloseReason, Config, Engine, Handler, OutgoingMessage, Socket, Stream, Text};
use bytes::Bytes;
use http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::within;

/// Room for everything the tests send.
pub(crate) const MAX_MESSAGE: usize = 4 << 20;

/// What is kept with each session.
#[derive(Default)]
pub(crate) struct SessionData {
    name: OnceLock<String>,
    /// The next number of `seq` that is due.
    due: AtomicUsize,
    closed: AtomicUsize,
}

/// Does as it is told.
pub(crate) struct Relay {
    /// Sends everything back as it came.
    is_echo: bool,
    names: Mutex<HashMap<String, Arc<Socket<SessionData>>>>,
    opened: AtomicUsize,
    closed: watch::Sender<Vec<CloseReason>>,
}

impl Handler for Relay {
    type Data = SessionData;

    fn opened(&self, _: &Parts) -> SessionData {
        self.opened.fetch_add(1, Ordering::Relaxed);
        SessionData::default()
    }

    fn text(&self, socket: &Arc<Socket<SessionData>>, text: Text) {
        if self.is_echo {
            return socket.send(OutgoingMessage::text(text));
        }
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        if word != "unadmitted" {
            socket.admit(MAX_MESSAGE);
        }
        let number = || rest.parse::<usize>().unwrap();
        match word {
            "echo" => socket.send(OutgoingMessage::text(rest.to_owned())),
            "count" => (0..number()).for_each(|n| socket.send(OutgoingMessage::text(n.to_string()))),
            "stream" => drop(tokio::spawn(stream(socket.clone(), number()))),
            "seq" => {
                let due = socket.data.due.fetch_add(1, Ordering::Relaxed);
                assert_eq!(number(), due, "out of order");
                socket.send(OutgoingMessage { head: "ack ".into(), body: due.to_string().into(), attachments: vec![] });
            }
            "name" => {
                socket.data.name.set(rest.to_owned()).unwrap();
                self.names.lock().unwrap().insert(rest.to_owned(), socket.clone());
                socket.send(OutgoingMessage::text("named"));
            }
            "to" => {
                let (whom, what) = rest.split_once(' ').unwrap();
                let found = self.names.lock().unwrap().get(whom).cloned();
                let from = socket.data.name.get().map_or("unnamed", String::as_str);
                if let Some(found) = found {
                    found.send_and_wait(OutgoingMessage::text(format!("from {from} {what}")));
                }
            }
            "big" => socket.send(OutgoingMessage::text(vec![b'x'; number()])),
            "blobs" => {
                let attachments = (0..number()).map(|n| vec![n as u8; n].into()).collect();
                socket.send(OutgoingMessage { head: "blobs".into(), attachments, ..OutgoingMessage::default() });
            }
            "bye" => socket.close(CloseReason::Dismissed),
            "panic" => panic!("told to"),
            _ => {}
        }
    }

    fn binary(&self, socket: &Arc<Socket<SessionData>>, data: Bytes) {
        if self.is_echo {
            return socket.send_binary(data);
        }
        socket.send(OutgoingMessage { head: "blob".into(), attachments: vec![data], ..OutgoingMessage::default() });
    }

    fn closed(&self, socket: &Arc<Socket<SessionData>>, reason: CloseReason) {
        assert_eq!(socket.data.closed.fetch_add(1, Ordering::Relaxed), 0, "closed twice");
        if let Some(name) = socket.data.name.get() {
            self.names.lock().unwrap().remove(name);
        }
        self.closed.send_modify(|closed| closed.push(reason));
    }
}

/// Numbers from a task that has nothing to do with what is being read.
async fn stream(socket: Arc<Socket<SessionData>>, count: usize) {
    for n in 0..count {
        socket.send(OutgoingMessage::text(format!("push {n}")));
        if n % 8 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// The engine and where it listens.
pub(crate) struct Server {
    pub(crate) engine: Arc<Engine<Relay>>,
    pub(crate) address: SocketAddr,
    closed: watch::Receiver<Vec<CloseReason>>,
}

/// Patient enough for every test that is not about patience.
pub(crate) fn config() -> Config {
    Config {
        ping_interval: Duration::from_secs(5),
        ping_timeout: Duration::from_secs(30),
        max_payload: 1 << 20,
        unadmitted_max_message: 1000,
        unadmitted_timeout: Duration::from_secs(30),
        max_backlog: 1 << 20,
        fair_time: Duration::from_secs(20),
        memory: a2c_engineio::MemoryPool::new(512 << 20),
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::run(config, false).await
    }

    /// An engine that sends everything back as it came.
    pub(crate) async fn echoing(config: Config) -> Self {
        Self::run(config, true).await
    }

    async fn run(config: Config, is_echo: bool) -> Self {
        let (sender, closed) = watch::channel(Vec::new());
        let relay = Relay { is_echo, names: Mutex::default(), opened: AtomicUsize::new(0), closed: sender };
        let engine = Engine::new(relay, config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = engine.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(serving.clone(), Stream::Tcp(stream)));
            }
        });
        Self { engine, address, closed }
    }

    /// Serves a connection that does not come from the listener.
    pub(crate) fn serve(&self, stream: Stream) {
        tokio::spawn(serve(self.engine.clone(), stream));
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Waits until so many sessions have been closed, and gives the reasons in their order.
    pub(crate) async fn closed(&self, count: usize) -> Vec<CloseReason> {
        let mut closed = self.closed.clone();
        let reasons = within("the end of a session", closed.wait_for(|reasons| reasons.len() >= count)).await.unwrap();
        assert_eq!(reasons.len(), count, "{reasons:?}");
        reasons.clone()
    }

    /// Waits until no session is left: every session that was opened is closed, once.
    pub(crate) async fn until_empty(&self) -> Vec<CloseReason> {
        let reasons = self.closed(self.engine.handler().opened.load(Ordering::Relaxed)).await;
        assert_eq!(self.engine.sessions(), 0);
        reasons
    }
}

async fn serve(engine: Arc<Engine<Relay>>, stream: Stream) {
    let service = service_fn(|request| {
        let engine = engine.clone();
        async move { Ok::<_, Infallible>(engine.handle(request).await) }
    });
    // A client that breaks off in the middle is part of the tests.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}
