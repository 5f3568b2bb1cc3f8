//! A real hub, a real Agent, and a Computer that says what the test tells it to.

pub(crate) mod proxy;
pub(crate) mod recorder;
pub(crate) mod web;

use std::time::Duration;

use a2c_agent::{Agent, AgentEvent, AgentEvents, LinkOptions};
use a2c_hub::{Hub, HubConfig};
use a2c_link::{AckReply, Incoming, Link, Payload, Seat};
use a2c_protocol::{ErrorBody, ErrorCode, Role};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub(crate) async fn hub() -> Hub {
    Hub::start(HubConfig::on("127.0.0.1:0".parse().unwrap())).await.expect("the hub starts")
}

/// Waits, but not for ever: a machine may be busy with other tests.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("nothing came within a minute")
}

pub(crate) async fn agent(hub: &Hub) -> Agent {
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.expect("connected");
    agent.join("o").await.expect("joined");
    agent
}

/// A hub, an Agent, and the Computer `desk`.
pub(crate) async fn office() -> (Hub, Agent, Computer) {
    let hub = hub().await;
    let computer = Computer::join(&hub, "desk").await;
    let agent = agent(&hub).await;
    (hub, agent, computer)
}

pub(crate) async fn next(events: &mut AgentEvents) -> AgentEvent {
    within(events.recv()).await.expect("the agent lives")
}

/// A scripted Computer: everything it is asked waits until the test answers.
pub(crate) struct Computer {
    pub(crate) link: Link,
    name: String,
    asked: mpsc::UnboundedReceiver<Asked>,
}

/// A request that waits for its answer.
pub(crate) struct Asked {
    pub(crate) event: String,
    pub(crate) payload: Value,
    ack: AckReply,
}

impl Computer {
    pub(crate) async fn join(hub: &Hub, name: &str) -> Self {
        let (link, mut inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Computer).await.expect("connected");
        let (sender, asked) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(incoming) = inbox.recv().await {
                let Incoming::Event(event) = incoming else { continue };
                let Some(ack) = event.ack else { continue };
                let asked = Asked { event: event.name, payload: event.payload.get(0).expect("a payload"), ack };
                if sender.send(asked).is_err() {
                    return;
                }
            }
        });
        link.join(&Seat { office: "o".into(), name: name.into() }).await.expect("joined");
        Self { link, name: name.into(), asked }
    }

    pub(crate) async fn leave(&self) {
        self.link.leave("o").await.expect("left");
    }

    pub(crate) async fn enter(&self) {
        self.link.join(&Seat { office: "o".into(), name: self.name.clone() }).await.expect("joined");
    }

    /// Says that something changed.
    pub(crate) async fn tell(&self, event: &str) {
        self.link.emit(event, &json!({"computer": self.name})).await.expect("told");
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Asked {
        within(self.asked.recv()).await.expect("the Computer is connected")
    }

    /// The next request, which is of this kind.
    pub(crate) async fn asked(&mut self, event: &str) -> Asked {
        let asked = self.next().await;
        assert_eq!(asked.event, event, "{}", asked.payload);
        asked
    }

    /// Nothing was asked that was not taken: what the Agent asks next is what comes next, as nothing on the way changes
    /// the order.
    pub(crate) async fn was_asked_nothing(&mut self, agent: &Agent) {
        let fence = json!({"computer": self.name}).as_object().cloned().unwrap_or_default();
        let answer = async { self.asked("client:fence").await.answer(json!({})).await };
        let (outcome, ()) = tokio::join!(agent.request("client:fence", fence, Duration::from_secs(30)), answer);
        outcome.expect("the fence is answered");
    }

    /// Answers everything in the same way until it is dropped; gives what it was asked, in order.
    pub(crate) fn answering(
        mut self,
        mut answer: impl FnMut(&str, &Value) -> Value + Send + 'static,
    ) -> mpsc::UnboundedReceiver<(String, Value)> {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(asked) = self.asked.recv().await {
                let reply = answer(&asked.event, &asked.payload);
                if sender.send((asked.event.clone(), asked.payload.clone())).is_err() {
                    return;
                }
                asked.answer(reply).await;
            }
        });
        receiver
    }
}

impl Asked {
    /// Answers; `req_id` is filled in where it is absent.
    pub(crate) async fn answer(self, mut answer: Value) {
        if let Value::Object(fields) = &mut answer
            && !fields.contains_key("code")
        {
            fields.entry("req_id").or_insert_with(|| self.payload["req_id"].clone());
        }
        self.ack.send(Payload::json(&answer).unwrap()).await.expect("answered");
    }

    /// Answers with an error.
    pub(crate) async fn refuse(self, error: &ErrorBody) {
        self.answer(serde_json::to_value(error).unwrap()).await;
    }
}

/// An error with one field of its own.
pub(crate) fn error(code: i64, field: &str, value: impl Into<Value>) -> ErrorBody {
    ErrorBody::new(ErrorCode::from_number(code), "no").with(field, value)
}

/// The contents of a read: one text.
pub(crate) fn text(mime: &str, text: &str) -> Value {
    json!({"contents": [{"uri": "dpe://h/d", "mimeType": mime, "text": text}]})
}

/// The contents of a read: the document model.
pub(crate) fn model(value: &Value) -> Value {
    text("application/json", &value.to_string())
}
