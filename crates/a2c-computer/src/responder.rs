//! The Computer's side of the office: what comes from the hub is answered.

use std::sync::Arc;
use std::time::Instant;

use a2c_link::{EmitError, Event, Payload};
use a2c_protocol::config::{GetConfigReq, GetConfigRet};
use a2c_protocol::context::{GetDesktopReq, GetDesktopRet, GetDpeRet, GetFinderRet, GetResourcesRet, ReadResourceRet};
use a2c_protocol::notification::{Notification, ToolCallCancel};
use a2c_protocol::request;
use a2c_protocol::tool::{CallToolResult, GetToolsReq, ToolCallReq};
use a2c_protocol::trace::TraceContext;
use a2c_protocol::{ErrorBody, ErrorCode, event};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tracing::{Instrument as _, Span};

use crate::core::Core;
use crate::hub_reply::{HubReply, req_id_of};
use crate::tools::call::{CallRequest, Caller};
use crate::tools::idempotency::{
    Arrival, CallKey, CallOutcome, IdempotencyLimits, IdempotentCalls, RepeatWaiter, RunPermit,
};
use crate::tools::large_answer::CallOutput;
use crate::tools::result_limit;

/// An answer as it goes out. It is kept for those who ask again.
type Answer = Arc<Box<RawValue>>;

/// Answers for the Computer.
pub(crate) struct Responder {
    pub(crate) core: Arc<Core>,
    calls: IdempotentCalls<Answer>,
}

/// A call from its arrival to its answer.
enum Arrived {
    /// It is to run.
    First {
        request: ToolCallReq,
        trace: Option<TraceContext>,
        permit: RunPermit<Answer>,
    },
    /// It runs already.
    Again(RepeatWaiter<Answer>),
    /// There is nothing to run.
    Answered(Answer),
    Refused(ErrorBody),
}

/// The answer to `client:get_tools`, around what is written already.
#[derive(Serialize)]
struct ToolsAnswer<'a> {
    tools: &'a RawValue,
    req_id: &'a str,
}

impl Responder {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, calls: IdempotentCalls::new(IdempotencyLimits::default(), |answer| answer.get().len()) }
    }

    /// Handles an event of the hub. Requests are answered by tasks of their own, so that a slow one delays no other; what
    /// has to happen in the order of arrival happens here.
    pub(crate) fn receive(self: &Arc<Self>, event: Event) {
        let Event { name, payload, ack } = event;
        match (name.as_str(), ack) {
            (event::TOOL_CALL, Some(ack)) => {
                // Registered before the next event is looked at: that one may be its cancellation.
                let (req_id, call) = self.arrive(text_of(&payload));
                let responder = self.clone();
                tokio::spawn(async move { responder.answer_call(call, HubReply { event: name, req_id, ack }).await });
            }
            (_, Some(ack)) => {
                let responder = self.clone();
                tokio::spawn(async move {
                    let json = text_of(&payload);
                    responder.answer(json, HubReply { event: name, req_id: req_id_of(json), ack }).await;
                });
            }
            (_, None) => {
                if let Some(Ok(Notification::ToolCallCancel(cancel))) = Notification::decode(&name, text_of(&payload)) {
                    let ToolCallCancel { agent, req_id } = &cancel;
                    // A call that is not running any more, or never was, needs no cancelling.
                    self.calls.cancel(CallKey { agent, req_id });
                }
            }
        }
    }

    async fn answer(&self, json: &str, reply: HubReply) {
        match &*reply.event {
            event::GET_TOOLS => match request::decode::<GetToolsReq>(json) {
                Ok(request) => {
                    let toolbox = self.core.tools.toolbox();
                    reply.answer(&ToolsAnswer { tools: toolbox.shown(), req_id: &request.req_id }).await;
                }
                Err(error) => reply.refuse(error).await,
            },
            event::GET_CONFIG => reply.respond(self.get_config(json)).await,
            event::GET_DESKTOP => reply.respond(self.get_desktop(json).await).await,
            event::GET_FINDER => reply.respond(self.get_finder(json).await).await,
            event::GET_RESOURCES => reply.respond(self.get_resources(json).await).await,
            event::READ_RESOURCE => reply.respond(self.read_resource(json).await).await,
            event::GET_DPE => reply.respond(self.get_dpe(json).await).await,
            other => {
                let error = ErrorBody::bad_request(format!("this computer does not answer {other}"));
                reply.refuse(error).await;
            }
        }
    }

    /// Finds out whether a call is new; gives its `req_id`, too.
    fn arrive(&self, json: &str) -> (Option<String>, Arrived) {
        match request::decode::<ToolCallReq>(json) {
            Ok(request) => (Some(request.req_id.clone()), self.begin(request, json)),
            Err(error) => (req_id_of(json), Arrived::Refused(error)),
        }
    }

    fn begin(&self, request: ToolCallReq, json: &str) -> Arrived {
        let key = CallKey { agent: &request.agent, req_id: &request.req_id };
        let fingerprint = self.calls.fingerprint(&request.tool_name, &request.params);
        let unknown = |message: &str| match answer_of(&CallToolResult::failure(ErrorCode::ToolFailed, message)) {
            Ok(answer) => Arrived::Answered(answer),
            Err(error) => Arrived::Refused(error),
        };
        match self.calls.begin(key, fingerprint, Instant::now()) {
            Arrival::First(permit) => Arrived::First { trace: TraceContext::of_payload(json), request, permit },
            Arrival::Running(waiter) => Arrived::Again(waiter),
            Arrival::Done(answer) => Arrived::Answered(answer),
            Arrival::Forgotten => {
                unknown("this call has run already and is not run again; its result is no longer kept")
            }
            Arrival::Unknown => unknown("this call has run already and is not run again; what came of it is not known"),
            Arrival::Mismatch => Arrived::Refused(ErrorBody::bad_request(
                "field `req_id`: another call has this key: give every call one of its own",
            )),
            Arrival::Full => {
                let message = "this computer runs as many calls as it can: ask again later";
                Arrived::Refused(ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", 1))
            }
        }
    }

    async fn answer_call(&self, call: Arrived, reply: HubReply) {
        match call {
            Arrived::Refused(error) => reply.refuse(error).await,
            Arrived::Answered(answer) => self.send(&answer, reply).await,
            Arrived::Again(waiter) => match waiter.outcome().await {
                CallOutcome::Answer(answer) => self.send(&answer, reply).await,
                CallOutcome::Unknown => {
                    let message = "this call ended without an answer; what came of it is not known";
                    reply.answer(&CallToolResult::failure(ErrorCode::ToolFailed, message)).await;
                }
            },
            Arrived::First { request, trace, permit } => {
                // What is logged on behalf of a call that is part of a trace says of which one.
                let span = match trace {
                    Some(trace) => tracing::error_span!("call", trace_id = %trace.trace_id()),
                    None => Span::none(),
                };
                self.run(request, trace, permit, reply).instrument(span).await;
            }
        }
    }

    async fn run(&self, request: ToolCallReq, trace: Option<TraceContext>, permit: RunPermit<Answer>, reply: HubReply) {
        let (tool, agent, begin) = (request.tool_name.clone(), request.agent.clone(), Instant::now());
        let call = CallRequest {
            caller: Caller::Agent(request.agent),
            tool: request.tool_name,
            params: request.params,
            limit: request.timeout.duration(),
            trace,
        };
        let result = self.core.tool_runner().run(call, permit.cancelled()).await;
        let ms = begin.elapsed().as_millis() as u64;
        match result.error_code() {
            None => tracing::info!(tool, agent, ms, "tool call"),
            // The Agent cancelled the call, or is gone.
            Some(_) if permit.cancelled().is_cancelled() => tracing::info!(tool, agent, ms, "tool call cancelled"),
            Some(code) => tracing::info!(tool, agent, ms, code = code.number(), "tool call failed"),
        }
        match self.bounded(result) {
            Ok(answer) => {
                permit.finish(answer.clone(), Instant::now());
                self.send(&answer, reply).await;
            }
            Err(error) => reply.refuse(error).await,
        }
    }

    /// Sends the answer to a call. A hub may take less than this Computer would send: then it is shown in part.
    async fn send(&self, answer: &RawValue, reply: HubReply) {
        // A copy of the same size: writing it anew would take twice as much for a moment.
        let payload = Payload::from_raw(vec![answer.to_owned()], Vec::new());
        match reply.ack.send(payload).await {
            Ok(()) => {}
            Err(EmitError::TooLarge { limit, .. }) => match serde_json::from_str(answer.get()) {
                Ok(result) => {
                    // What stands around it on its way needs some room, too.
                    let limit = limit.saturating_sub(1024);
                    let bounded = result_limit::bound(result, limit, &self.core.results, Instant::now());
                    reply.answer(&bounded).await;
                }
                Err(error) => tracing::error!(%error, "an answer could not be read"),
            },
            Err(error) => tracing::warn!(event = event::TOOL_CALL, %error, "the answer did not reach the hub"),
        }
    }

    /// The result as it travels, or what is shown of one that is too large for that.
    fn bounded(&self, output: CallOutput) -> Result<Answer, ErrorBody> {
        let result = match output {
            CallOutput::Large(answer) => return Ok(Arc::new(answer.json)),
            CallOutput::Result(result) => result,
        };
        let answer = answer_of(&result)?;
        if answer.get().len() <= self.core.max_result {
            return Ok(answer);
        }
        drop(answer);
        answer_of(&result_limit::bound(result, self.core.max_result, &self.core.results, Instant::now()))
    }

    fn get_config(&self, json: &str) -> Result<GetConfigRet, ErrorBody> {
        let request: GetConfigReq = request::decode(json)?;
        let config = self.core.config();
        let inputs: Vec<_> = config.inputs.iter().map(a2c_protocol::config::Input::redacted).collect();
        let servers = config.servers.iter().map(|(name, server)| (name.clone(), server.redacted())).collect();
        Ok(GetConfigRet { inputs: (!inputs.is_empty()).then_some(inputs), servers, req_id: Some(request.req_id) })
    }

    async fn get_desktop(&self, json: &str) -> Result<GetDesktopRet, ErrorBody> {
        let request: GetDesktopReq = request::decode(json)?;
        let desktops = self.core.context().desktop(request.desktop_size, request.window.as_deref()).await;
        Ok(GetDesktopRet { desktops, req_id: request.req_id })
    }

    async fn get_finder(&self, json: &str) -> Result<GetFinderRet, ErrorBody> {
        self.core.context().finder(request::decode(json)?).await
    }

    async fn get_resources(&self, json: &str) -> Result<GetResourcesRet, ErrorBody> {
        self.core.context().resources(request::decode(json)?).await
    }

    async fn read_resource(&self, json: &str) -> Result<ReadResourceRet, ErrorBody> {
        self.core.context().read_resource(request::decode(json)?).await
    }

    async fn get_dpe(&self, json: &str) -> Result<GetDpeRet, ErrorBody> {
        self.core.context().document(request::decode(json)?).await
    }
}

fn answer_of(result: &CallToolResult) -> Result<Answer, ErrorBody> {
    let written = to_raw_value(result);
    written.map(Arc::new).map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("the result cannot be written: {e}")))
}

fn text_of(payload: &Payload) -> &str {
    payload.raw(0).map_or("null", |raw| raw.get())
}
