//! A client that follows the rules: joins, asks, and waits for what comes.

use std::time::Duration;

use a2c_hub::Hub;
use a2c_socketio::{Client, Event, Inbox, Incoming, Options, Payload, SocketConnectError, Transport};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{PATIENCE, within};

/// One connection to the hub.
pub(crate) struct Member {
    pub(crate) client: Client,
    inbox: Inbox,
}

impl Member {
    /// Options that the hub accepts: websocket, our version, no role.
    pub(crate) fn options(hub: &Hub) -> Options {
        Self::options_for(hub.url())
    }

    /// The same, for a hub that is asked for under another name.
    pub(crate) fn options_for(url: String) -> Options {
        Options::new(url)
            .path("/smcp")
            .namespace("/smcp")
            .query("a2c_version", "0.2.0")
            .transport(Transport::Websocket)
            .reconnect(None)
    }

    pub(crate) async fn connect_with(options: Options) -> Result<Self, SocketConnectError> {
        let (client, mut inbox) = within("a connection", Client::connect(options)).await?;
        match within("the news of the connection", inbox.recv()).await {
            Some(Incoming::Connected { .. }) => Ok(Self { client, inbox }),
            other => panic!("{other:?}"),
        }
    }

    /// Connected, of no role yet.
    pub(crate) async fn connect(hub: &Hub) -> Self {
        Self::connect_with(Self::options(hub)).await.unwrap()
    }

    /// An Agent in an office.
    pub(crate) async fn agent(hub: &Hub, name: &str, office: &str) -> Self {
        Self::joined(Self::options(hub), "agent", name, office).await
    }

    /// A Computer in an office.
    pub(crate) async fn computer(hub: &Hub, name: &str, office: &str) -> Self {
        Self::joined(Self::options(hub), "computer", name, office).await
    }

    /// A member that claims its role in CONNECT and has joined.
    pub(crate) async fn joined(options: Options, role: &str, name: &str, office: &str) -> Self {
        let member = Self::connect_with(options.auth(json!({"role": role}))).await.unwrap();
        assert_eq!(member.join(role, name, office).await, (true, None));
        member
    }

    pub(crate) async fn join(&self, role: &str, name: &str, office: &str) -> (bool, Option<String>) {
        self.office("server:join_office", &json!({"role": role, "name": name, "office_id": office})).await
    }

    /// Why a join is refused; fails where it is not.
    pub(crate) async fn refused_join(&self, role: &str, name: &str, office: &str) -> String {
        match self.join(role, name, office).await {
            (false, Some(reason)) => reason,
            other => panic!("{role} {name} was not refused in {office}: {other:?}"),
        }
    }

    pub(crate) async fn leave(&self, office: &str) -> (bool, Option<String>) {
        self.office("server:leave_office", &json!({"office_id": office})).await
    }

    /// The two arguments that answer a join or a leave.
    async fn office(&self, event: &str, request: &Value) -> (bool, Option<String>) {
        let answer = self.call(event, Payload::json(request).unwrap()).await;
        assert_eq!(answer.len(), 2, "{answer:?}");
        (answer.get(0).unwrap(), answer.get(1).unwrap())
    }

    /// Asks and takes the answer as it is.
    pub(crate) async fn call(&self, event: &str, payload: Payload) -> Payload {
        self.client.call(event, payload, PATIENCE).await.unwrap_or_else(|e| panic!("{event} was not answered: {e}"))
    }

    /// Asks and takes the one JSON value of the answer.
    pub(crate) async fn ask(&self, event: &str, request: impl Serialize) -> Value {
        let answer = self.call(event, Payload::json(&request).unwrap()).await;
        assert_eq!(answer.len(), 1, "{event}: {answer:?}");
        answer.get(0).unwrap()
    }

    /// The names in the caller's office, as `role name`, sorted.
    pub(crate) async fn roll(&self, office: &str) -> Vec<String> {
        let request = json!({"agent": "another name", "req_id": "roll", "office_id": office});
        let answer = self.ask("server:list_room", request).await;
        assert_eq!(answer["req_id"], "roll", "{answer}");
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let sessions = answer["sessions"].as_array().unwrap();
        let mut names: Vec<_> = sessions.iter().map(|s| word(&s["role"]) + " " + &word(&s["name"])).collect();
        names.sort();
        names
    }

    /// The next thing that arrives; nothing once it is all over.
    pub(crate) async fn next(&mut self) -> Option<Incoming> {
        within("anything", self.inbox.recv()).await
    }

    /// The next thing that arrives, which must be an event.
    pub(crate) async fn next_event(&mut self) -> Event {
        match within("an event", self.inbox.recv()).await {
            Some(Incoming::Event(event)) => event,
            other => panic!("expected an event, got {other:?}"),
        }
    }

    /// The next thing that arrives, which must be this event.
    pub(crate) async fn event(&mut self, name: &str) -> Event {
        let event = self.next_event().await;
        assert_eq!(event.name, name, "{event:?}");
        event
    }

    /// The next thing that arrives, which must be this notification.
    pub(crate) async fn told(&mut self, name: &str) -> Value {
        let event = self.event(name).await;
        assert!(event.ack.is_none() && event.payload.len() == 1, "{event:?}");
        event.payload.get(0).unwrap()
    }

    /// The next thing that arrives must be this request; answers it, and gives the request.
    pub(crate) async fn answer(&mut self, name: &str, answer: impl Serialize) -> Value {
        let event = self.event(name).await;
        let request = event.payload.get(0).unwrap();
        event.ack.expect("an answer is wanted").send(Payload::json(&answer).unwrap()).await.unwrap();
        request
    }

    /// Whatever the hub had sent to this member when it was asked has arrived: nothing.
    pub(crate) async fn heard_nothing(&mut self) {
        // The hub keeps the order: what was queued before this answer would be here before it.
        self.ask("a fence", json!({})).await;
        let heard = self.inbox.try_recv();
        assert!(heard.is_none(), "{heard:?}");
    }

    /// Waits for the end of the connection; anything that is still coming is dropped.
    pub(crate) async fn disconnected(&mut self) {
        let end = async { while !matches!(self.inbox.recv().await, Some(Incoming::Disconnected(_)) | None) {} };
        within("the disconnect", end).await;
    }

    /// Asks on the side; the test goes on.
    pub(crate) fn asking(&self, event: &'static str, request: Value) -> tokio::task::JoinHandle<Value> {
        let client = self.client.clone();
        tokio::spawn(async move {
            let answer = client.call(event, Payload::json(&request).unwrap(), PATIENCE).await.unwrap();
            answer.get(0).unwrap()
        })
    }

    pub(crate) async fn close(self) {
        self.client.close().await;
        tokio::time::timeout(Duration::from_secs(10), self.client.closed()).await.unwrap();
    }
}

/// A payload of exactly this JSON text.
pub(crate) fn json_text(text: &str) -> Payload {
    Payload::from_raw(vec![RawValue::from_string(text.to_owned()).unwrap()], Vec::new())
}
