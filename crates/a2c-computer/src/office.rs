//! The Computer's side of the office: what comes from the hub is answered, what changes here is announced.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use a2c_link::{AckReply, EmitError, Event, Payload};
use a2c_protocol::config::{GetConfigReq, GetConfigRet};
use a2c_protocol::notification::{Notification, ToolCallCancel};
use a2c_protocol::request;
use a2c_protocol::tool::{CallToolResult, GetToolsReq, GetToolsRet, ToolCallReq};
use a2c_protocol::trace::TraceContext;
use a2c_protocol::{ErrorBody, ErrorCode, event};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::config::ComputerConfig;
use crate::servers::Servers;
use crate::tools::call::{self, Wanted};
use crate::tools::gate::Confirmation;

/// Answers for the Computer.
pub(crate) struct Desk {
    pub(crate) config: ComputerConfig,
    pub(crate) servers: Servers,
    pub(crate) confirmation: Confirmation,
    running: Mutex<HashMap<CallKey, CancellationToken>>,
}

/// How a cancellation names a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CallKey {
    agent: String,
    req_id: String,
}

/// A call from its arrival to its answer.
struct RunningCall {
    key: CallKey,
    request: ToolCallReq,
    trace: Option<TraceContext>,
    cancel: CancellationToken,
}

impl RunningCall {
    /// What is logged on behalf of a call that is part of a trace says of which one.
    fn span(&self) -> Span {
        match self.trace {
            Some(trace) => tracing::error_span!("call", trace_id = %trace.trace_id()),
            None => Span::none(),
        }
    }
}

impl Desk {
    pub(crate) fn new(config: ComputerConfig, servers: Servers, confirmation: Confirmation) -> Self {
        Self { config, servers, confirmation, running: Mutex::default() }
    }

    /// Handles an event of the hub. Requests are answered by tasks of their own, so that a slow one delays nobody; what
    /// has to happen in the order of arrival happens here.
    pub(crate) fn receive(self: &Arc<Self>, event: Event) {
        let Event { name, payload, ack } = event;
        let json = text_of(&payload);
        match (name.as_str(), ack) {
            (event::TOOL_CALL, Some(ack)) => {
                // Registered before the next event is looked at: that one may be its cancellation.
                let trace = TraceContext::of_payload(json);
                let call = request::decode::<ToolCallReq>(json).map(|request| self.register(request, trace));
                let desk = self.clone();
                tokio::spawn(async move {
                    match call {
                        Ok(call) => {
                            let span = call.span();
                            let answer = async { reply(event::TOOL_CALL, &desk.run(call).await, ack).await };
                            answer.instrument(span).await;
                        }
                        Err(error) => reply(event::TOOL_CALL, &error, ack).await,
                    }
                });
            }
            (_, Some(ack)) => {
                let desk = self.clone();
                tokio::spawn(async move { desk.answer(&name, text_of(&payload), ack).await });
            }
            (_, None) => {
                if let Some(Ok(Notification::ToolCallCancel(cancel))) = Notification::decode(&name, json) {
                    self.cancel(cancel);
                }
            }
        }
    }

    async fn answer(&self, event: &str, json: &str, ack: AckReply) {
        match event {
            event::GET_TOOLS => respond(event, self.get_tools(json), ack).await,
            event::GET_CONFIG => respond(event, self.get_config(json), ack).await,
            other => {
                let error = ErrorBody::bad_request(format!("this computer does not answer {other}"));
                reply(event, &error, ack).await;
            }
        }
    }

    fn register(&self, request: ToolCallReq, trace: Option<TraceContext>) -> RunningCall {
        let key = CallKey { agent: request.agent.clone(), req_id: request.req_id.clone() };
        let cancel = CancellationToken::new();
        self.running().insert(key.clone(), cancel.clone());
        RunningCall { key, request, trace, cancel }
    }

    async fn run(&self, call: RunningCall) -> CallToolResult {
        let RunningCall { key, request, trace, cancel } = call;
        let (limit, begin) = (request.timeout.duration(), std::time::Instant::now());
        let wanted = Wanted { tool: &request.tool_name, params: request.params, limit, trace };
        let result = call::run(&self.servers, wanted, self.confirmation, &cancel).await;
        self.running().remove(&key);
        let (tool, agent, ms) = (&request.tool_name, &key.agent, begin.elapsed().as_millis() as u64);
        match result.error_code() {
            None => tracing::info!(tool, agent, ms, "tool call"),
            // Nobody waits for it any more: the Agent said so, or is gone.
            Some(_) if cancel.is_cancelled() => tracing::info!(tool, agent, ms, "tool call cancelled"),
            Some(code) => tracing::info!(tool, agent, ms, code = code.number(), "tool call failed"),
        }
        result
    }

    fn get_tools(&self, json: &str) -> Result<GetToolsRet, ErrorBody> {
        let request: GetToolsReq = request::decode(json)?;
        let tools = call::listed(&self.servers).iter().map(crate::tools::listing::Listed::to_smcp).collect();
        Ok(GetToolsRet { tools, req_id: request.req_id })
    }

    fn get_config(&self, json: &str) -> Result<GetConfigRet, ErrorBody> {
        let request: GetConfigReq = request::decode(json)?;
        let inputs: Vec<_> = self.config.inputs.iter().map(a2c_protocol::config::Input::redacted).collect();
        let servers = self.config.servers.iter().map(|(name, server)| (name.clone(), server.redacted())).collect();
        Ok(GetConfigRet { inputs: (!inputs.is_empty()).then_some(inputs), servers, req_id: Some(request.req_id) })
    }

    /// A call that is not running any more, or never was, needs no cancelling.
    fn cancel(&self, cancel: ToolCallCancel) {
        if let Some(running) = self.running().get(&CallKey { agent: cancel.agent, req_id: cancel.req_id }) {
            running.cancel();
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<CallKey, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text_of(payload: &Payload) -> &str {
    payload.raw(0).map_or("null", |raw| raw.get())
}

async fn respond<T: Serialize>(event: &str, answer: Result<T, ErrorBody>, ack: AckReply) {
    match answer {
        Ok(answer) => reply(event, &answer, ack).await,
        Err(error) => reply(event, &error, ack).await,
    }
}

async fn reply(event: &str, answer: &impl Serialize, ack: AckReply) {
    let payload = match Payload::json(answer) {
        Ok(payload) => payload,
        Err(error) => return tracing::error!(event, %error, "an answer could not be written"),
    };
    let mut sent = ack.send(payload).await;
    if let Err(EmitError::TooLarge { size, limit }) = sent {
        // Silence would leave the Agent waiting for something that never comes.
        let message = format!("the answer of {size} bytes is over the hub's limit of {limit} bytes");
        let error = ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit);
        if let Ok(payload) = Payload::json(&error) {
            sent = ack.send(payload).await;
        }
    }
    if let Err(error) = sent {
        tracing::warn!(event, %error, "the answer did not reach the hub");
    }
}
