//! The Computer's side of the office: what comes from the hub is answered, what changes here is announced.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use a2c_link::{AckReply, Event, Payload};
use a2c_protocol::config::{GetConfigReq, GetConfigRet};
use a2c_protocol::notification::{Notification, ToolCallCancel};
use a2c_protocol::request::{self, Request};
use a2c_protocol::tool::{CallToolResult, GetToolsReq, GetToolsRet, ToolCallReq};
use a2c_protocol::{ErrorBody, event};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::config::ComputerConfig;
use crate::servers::Servers;
use crate::tools::call;
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

impl Desk {
    pub(crate) fn new(config: ComputerConfig, servers: Servers, confirmation: Confirmation) -> Self {
        Self { config, servers, confirmation, running: Mutex::default() }
    }

    /// Handles an event of the hub. Requests are answered by tasks of their own, so that a slow one delays nobody.
    pub(crate) fn receive(self: &Arc<Self>, event: Event) {
        let Event { name, payload, ack } = event;
        if let Some(ack) = ack {
            let desk = self.clone();
            tokio::spawn(async move { desk.answer(&name, &payload, ack).await });
        } else if let Some(Ok(Notification::ToolCallCancel(cancel))) = Notification::decode(&name, text_of(&payload)) {
            self.cancel(cancel);
        }
    }

    async fn answer(&self, event: &str, payload: &Payload, ack: AckReply) {
        let json = text_of(payload);
        let answer = match event {
            event::TOOL_CALL => self.tool_call(json).await.and_then(|answer| encode(&answer)),
            event::GET_TOOLS => self.get_tools(json).and_then(|answer| encode(&answer)),
            event::GET_CONFIG => self.get_config(json).and_then(|answer| encode(&answer)),
            other => Err(ErrorBody::bad_request(format!("this computer does not answer {other}"))),
        };
        let answer = answer.or_else(|error| encode(&error));
        match answer {
            Ok(payload) => {
                if let Err(error) = ack.send(payload).await {
                    tracing::warn!(event, %error, "the answer did not reach the hub");
                }
            }
            Err(error) => tracing::error!(event, %error, "an answer could not be written"),
        }
    }

    async fn tool_call(&self, json: &str) -> Result<CallToolResult, ErrorBody> {
        let request: ToolCallReq = decode(json)?;
        let key = CallKey { agent: request.agent, req_id: request.req_id };
        let cancel = CancellationToken::new();
        self.running().insert(key.clone(), cancel.clone());
        let limit = request.timeout.duration();
        let result =
            call::run(&self.servers, &request.tool_name, request.params, limit, self.confirmation, &cancel).await;
        self.running().remove(&key);
        tracing::info!(tool = request.tool_name, agent = key.agent, is_error = result.is_error, "tool call");
        Ok(result)
    }

    fn get_tools(&self, json: &str) -> Result<GetToolsRet, ErrorBody> {
        let request: GetToolsReq = decode(json)?;
        let tools = call::listed(&self.servers).iter().map(crate::tools::listing::Listed::to_smcp).collect();
        Ok(GetToolsRet { tools, req_id: request.req_id })
    }

    fn get_config(&self, json: &str) -> Result<GetConfigRet, ErrorBody> {
        let request: GetConfigReq = decode(json)?;
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

fn decode<R: Request>(json: &str) -> Result<R, ErrorBody> {
    request::decode(json)
}

fn encode(answer: &impl Serialize) -> Result<Payload, ErrorBody> {
    Payload::json(answer).map_err(|e| ErrorBody::new(a2c_protocol::ErrorCode::Internal, e.to_string()))
}
