//! The two servers, and a connection to one of them over one transport.

use std::sync::OnceLock;

use a2c_socketio::{Client, Event, Inbox, Incoming, Options, Transport};
pub(crate) use a2c_testbed::PATIENCE;
use a2c_testbed::{Peer, node, python_script};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Node,
    Python,
}

impl Server {
    /// Starts a server of its own for a test that stops or configures it.
    pub(crate) fn start(self, options: &Value) -> Peer {
        let mut command = match self {
            Server::Node => node().script("socketio_server.mjs"),
            Server::Python => python_script("socketio_server.py"),
        };
        command.arg(options.to_string());
        Peer::ready(command)
    }

    /// The port of the instance that all other tests of this process share. It ends itself when
    /// this process does.
    pub(crate) fn shared_port(self) -> &'static str {
        static NODE: OnceLock<String> = OnceLock::new();
        static PYTHON: OnceLock<String> = OnceLock::new();
        let cell = match self {
            Server::Node => &NODE,
            Server::Python => &PYTHON,
        };
        cell.get_or_init(|| {
            let peer = self.start(&json!({}));
            let port = peer.address().to_owned();
            std::mem::forget(peer);
            port
        })
    }
}

/// One pair of server and transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) server: Server,
    pub(crate) transport: Transport,
}

impl Case {
    pub(crate) fn options(self) -> Options {
        self.options_at(self.server.shared_port())
    }

    pub(crate) fn options_at(self, port: &str) -> Options {
        Options::new(format!("http://127.0.0.1:{port}")).transport(self.transport)
    }

    /// Connects to the shared server and takes what it says first.
    pub(crate) async fn connect(self) -> (Client, Inbox) {
        connect(self.options()).await.0
    }
}

/// Connects, takes `Connected` and the greeting, and gives the greeting too.
pub(crate) async fn connect(options: Options) -> ((Client, Inbox), Value) {
    let (client, mut inbox) = Client::connect(options).await.unwrap();
    match next(&mut inbox).await {
        Incoming::Connected { sid, reconnected } => {
            assert!(!reconnected);
            assert_eq!(Some(sid), client.sid());
        }
        other => panic!("{other:?}"),
    }
    let hello = event(&mut inbox, "hello").await.payload.get(0).unwrap();
    ((client, inbox), hello)
}

pub(crate) async fn next(inbox: &mut Inbox) -> Incoming {
    let next = tokio::time::timeout(PATIENCE, inbox.recv()).await;
    next.expect("nothing arrived").expect("the inbox has ended")
}

/// The next thing that arrives, which must be this event.
pub(crate) async fn event(inbox: &mut Inbox, name: &str) -> Event {
    match next(inbox).await {
        Incoming::Event(event) if event.name == name => event,
        other => panic!("expected the event {name}, got {other:?}"),
    }
}

/// Turns scenarios into tests: one for every pair of server and transport.
macro_rules! everywhere {
    ($($scenario:ident),+ $(,)?) => {$(
        mod $scenario {
            use a2c_socketio::Transport::{Polling, PollingThenWebsocket, Websocket};
            use $crate::interop::peers::{Case, Server::{Node, Python}};

            $crate::interop::peers::everywhere!(@ $scenario:
                node_websocket = Node, Websocket;
                node_polling_then_websocket = Node, PollingThenWebsocket;
                node_polling = Node, Polling;
                python_websocket = Python, Websocket;
                python_polling_then_websocket = Python, PollingThenWebsocket;
                python_polling = Python, Polling;
            );
        }
    )+};
    (@ $scenario:ident: $($test:ident = $server:ident, $transport:ident;)+) => {$(
        #[tokio::test]
        async fn $test() {
            super::$scenario(Case { server: $server, transport: $transport }).await;
        }
    )+};
}
pub(crate) use everywhere;
