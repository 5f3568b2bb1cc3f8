//! The Agent itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2c_link::{ConnectError, Event, Inbox, Incoming, JoinError, Link, LinkOptions, RequestError, Seat};
use a2c_protocol::config::{GetConfigReq, GetConfigRet};
use a2c_protocol::notification::Notification;
use a2c_protocol::office::{ListRoomReq, ListRoomRet, SessionInfo};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::tool::{CallToolResult, GetToolsReq, GetToolsRet, SmcpTool, ToolCallReq};
use a2c_protocol::trace::{self, TraceContext};
use a2c_protocol::{ErrorCode, Role, event};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::cancel::CancelOnDrop;
use crate::events::{AgentEvent, AgentEvents, Publisher};
use crate::fetch::Web;
use crate::traced::Traced;

/// How much longer than the hub an Agent waits, so that the hub's own "timed out" still arrives.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// An Agent, connected to a hub. Cheap to clone; the connection ends with the last clone.
#[derive(Clone)]
pub struct Agent {
    shared: Arc<Shared>,
    /// What the requests of this handle are part of.
    trace: Option<TraceContext>,
}

struct Shared {
    link: Link,
    name: String,
    seat: Arc<Mutex<Option<Seat>>>,
    events: Publisher,
    /// Fetches documents; made when the first one is fetched.
    web: Web,
    /// Ends the task that reads the inbox.
    _reader: DropGuard,
}

impl Agent {
    /// Connects under a name; no office is joined yet.
    pub async fn connect(options: &LinkOptions, name: impl Into<String>) -> Result<Self, ConnectError> {
        let (link, inbox) = Link::connect(options, Role::Agent).await?;
        let events = Publisher::new();
        let stop = CancellationToken::new();
        let seat = Arc::new(Mutex::new(None));
        let reader = Reader { link: link.clone(), seat: seat.clone(), events: events.clone() };
        tokio::spawn(stop.clone().run_until_cancelled_owned(reader.run(inbox)));
        let shared =
            Shared { link, name: name.into(), seat, events, web: Web::new(&options.url), _reader: stop.drop_guard() };
        Ok(Self { shared: Arc::new(shared), trace: None })
    }

    /// The Agent's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub(crate) fn web(&self) -> &Web {
        &self.shared.web
    }

    /// The same Agent, whose requests to Computers are part of a trace: children of the span that `trace` names.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, TraceContext};
    /// # async fn example(agent: Agent, traceparent: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let here = TraceContext::parse(traceparent).ok_or("not a traceparent")?;
    /// let tools = agent.traced(here).tools("desk").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn traced(&self, trace: TraceContext) -> Self {
        Self { trace: Some(trace), ..self.clone() }
    }

    /// Takes the Agent's seat in an office. After a lost connection it is taken again by itself.
    ///
    /// Subscribe before joining: the events of the office begin here.
    pub async fn join(&self, office: &str) -> Result<(), JoinError> {
        let seat = Seat { office: office.to_owned(), name: self.shared.name.clone() };
        self.shared.link.join(&seat).await?;
        *lock(&self.shared.seat) = Some(seat);
        Ok(())
    }

    /// Gives the seat up.
    pub async fn leave(&self) -> Result<(), JoinError> {
        let Some(seat) = lock(&self.shared.seat).clone() else { return Ok(()) };
        self.shared.link.leave(&seat.office).await?;
        *lock(&self.shared.seat) = None;
        Ok(())
    }

    /// Everything that happens from now on. A subscriber that lags far behind misses events and is told how many.
    pub fn subscribe(&self) -> AgentEvents {
        self.shared.events.subscribe()
    }

    /// Who is in the Agent's office, the Agent included.
    pub async fn members(&self) -> Result<Vec<SessionInfo>, RequestError> {
        let office_id = lock(&self.shared.seat).as_ref().map(|s| s.office.clone()).unwrap_or_default();
        let request = ListRoomReq { agent: self.shared.name.clone(), req_id: new_id(), office_id };
        let answer: ListRoomRet = self.shared.link.request(event::LIST_ROOM, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer.sessions)
    }

    /// The tools of a Computer.
    pub async fn tools(&self, computer: &str) -> Result<Vec<SmcpTool>, RequestError> {
        let (agent, req_id) = (self.shared.name.clone(), new_id());
        let request = GetToolsReq { agent, req_id, computer: computer.to_owned() };
        let answer: GetToolsRet = self.ask(event::GET_TOOLS, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer.tools)
    }

    /// The configuration of a Computer; secrets are hidden at its source.
    pub async fn config(&self, computer: &str) -> Result<GetConfigRet, RequestError> {
        let (agent, req_id) = (self.shared.name.clone(), new_id());
        let request = GetConfigReq { agent, req_id, computer: computer.to_owned() };
        self.ask(event::GET_CONFIG, &request, hub_limit()).await
    }

    /// Runs a tool on a Computer. A failure of the tool is a result with `is_error`, not an error.
    ///
    /// `params` is anything that serialises to a JSON object, `json!({…})` for one. The tool may run for `timeout`,
    /// which travels as whole seconds: it is rounded up, and an hour is the most.
    ///
    /// When this gives up waiting, or its future is dropped, the call is cancelled on the Computer.
    pub async fn call_tool(
        &self,
        computer: &str,
        tool: &str,
        params: impl Serialize,
        timeout: Duration,
    ) -> Result<CallToolResult, RequestError> {
        let shared = &self.shared;
        let timeout = Seconds::covering(timeout);
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            Ok(_) => return Err(RequestError::Arguments("they are not a JSON object".into())),
            Err(error) => return Err(RequestError::Arguments(error.to_string())),
        };
        let request = ToolCallReq {
            agent: shared.name.clone(),
            req_id: new_id(),
            computer: computer.to_owned(),
            tool_name: tool.to_owned(),
            params,
            timeout,
        };
        let mut cancel = CancelOnDrop::new(shared.link.clone(), request.agent.clone(), request.req_id.clone());
        let answer = self.ask(event::TOOL_CALL, &request, timeout.duration() + PATIENCE).await;
        if !gave_up(&answer) {
            cancel.disarm();
        }
        answer
    }

    /// Asks anything, also what this version has no method for; `agent`, `req_id`, the trace and, for
    /// `server:list_room`, `office_id` are filled in where absent. The answer comes as it was received; the hub is waited for a little
    /// longer than `limit`.
    pub async fn request(
        &self,
        event: &str,
        mut payload: Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, RequestError> {
        payload.entry("agent").or_insert_with(|| self.shared.name.clone().into());
        payload.entry("req_id").or_insert_with(|| new_id().into());
        if event == event::LIST_ROOM {
            let office = lock(&self.shared.seat).as_ref().map(|s| s.office.clone()).unwrap_or_default();
            payload.entry("office_id").or_insert_with(|| office.into());
        }
        if let (Some(trace), true) = (self.trace, event.starts_with("client:")) {
            payload.entry(trace::FIELD).or_insert_with(|| trace.to_string().into());
        }
        self.shared.link.request(event, &payload, limit + PATIENCE).await
    }

    /// Asks a Computer, on behalf of the trace.
    pub(crate) async fn ask<T: DeserializeOwned + Send + 'static>(
        &self,
        event: &str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<T, RequestError> {
        self.shared.link.request(event, &Traced::new(request, self.trace), limit).await
    }

    /// Leaves and ends the connection.
    pub async fn close(&self) {
        if let Err(error) = self.leave().await {
            tracing::debug!(%error, "the seat was not given up in order");
        }
        self.shared.link.close().await;
    }
}

/// Reads what the hub sends, for as long as the Agent lives.
struct Reader {
    link: Link,
    seat: Arc<Mutex<Option<Seat>>>,
    events: Publisher,
}

impl Reader {
    async fn run(self, mut inbox: Inbox) {
        while let Some(incoming) = inbox.recv().await {
            match incoming {
                Incoming::Connected { reconnected: true, .. } => self.rejoin(),
                Incoming::Connected { .. } => {}
                Incoming::Event(event) => self.event(&event),
                Incoming::Disconnected(reason) => {
                    self.events.publish(AgentEvent::Disconnected { cause: Arc::new(reason) });
                }
                Incoming::Closed(closed) => self.events.publish(AgentEvent::Closed { cause: self.link.ended(closed) }),
            }
        }
    }

    fn event(&self, event: &Event) {
        let payload = event.payload.raw(0).map_or("null", |raw| raw.get());
        match Notification::decode(&event.name, payload) {
            Some(Ok(notification)) => self.events.publish(AgentEvent::Notification(notification)),
            Some(Err(error)) => tracing::warn!(event = event.name, %error, "a notification of the wrong shape"),
            None => {
                let payload = serde_json::from_str(payload).unwrap_or(Value::Null);
                self.events.publish(AgentEvent::Unknown { event: event.name.clone(), payload });
            }
        }
    }

    fn rejoin(&self) {
        let seat = lock(&self.seat).clone();
        let (link, events) = (self.link.clone(), self.events.clone());
        tokio::spawn(async move {
            let outcome = match &seat {
                Some(seat) => link.rejoin(seat).await,
                None => Ok(()),
            };
            if let Some(event) = after_rejoin(outcome) {
                events.publish(event);
            }
        });
    }
}

/// What came of taking the seat again, where that is known.
fn after_rejoin(outcome: Result<(), JoinError>) -> Option<AgentEvent> {
    match outcome {
        Ok(()) => Some(AgentEvent::Reconnected),
        // The connection is lost again; the next one brings the next attempt.
        Err(JoinError::Request(RequestError::NotConnected | RequestError::Lost)) => None,
        Err(cause) => Some(AgentEvent::SeatLost { cause }),
    }
}

fn lock(seat: &Mutex<Option<Seat>>) -> std::sync::MutexGuard<'_, Option<Seat>> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the tool may still run although its caller waits no longer: the Agent stopped waiting, or the hub did.
fn gave_up(answer: &Result<CallToolResult, RequestError>) -> bool {
    match answer {
        Err(RequestError::Timeout(_)) => true,
        Err(RequestError::Refused(error)) => error.code == ErrorCode::Timeout,
        _ => false,
    }
}

pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

pub(crate) fn hub_limit() -> Duration {
    Seconds::DEFAULT.duration() + PATIENCE
}

pub(crate) fn same_request(asked: &str, answered: &str) -> Result<(), RequestError> {
    if asked == answered {
        return Ok(());
    }
    Err(RequestError::WrongShape(format!("the answer is for request {answered:?}, not for {asked:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_not_lost_with_the_connection() {
        assert!(matches!(after_rejoin(Ok(())), Some(AgentEvent::Reconnected)));
        for lost in [RequestError::NotConnected, RequestError::Lost] {
            assert!(after_rejoin(Err(lost.into())).is_none());
        }
        let taken = after_rejoin(Err(JoinError::OfficeFull("taken".into())));
        assert!(matches!(taken, Some(AgentEvent::SeatLost { cause: JoinError::OfficeFull(_) })));
    }
}
