//! The routes for operators: health, readiness, metrics, and the admin views of offices, members and calls.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use a2c_engineio::Engine;
use a2c_protocol::{ErrorBody, ErrorCode};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};

use super::handshake::HandshakePolicy;
use super::json;
use crate::audit::Decision;
use crate::auth::{Authenticate as _, Claim, CurrentAccess};
use crate::limits::address_limits::RefusalNote;
use crate::metrics::{self, LimitKind};
use crate::query::query_value;
use crate::wire::connection::RemotePeer;
use crate::wire::{HubSwitchboard, SocketIoHandler};

/// Headers that a proxy adds. A client behind a proxy is not on this machine, although its connection comes from here.
const FORWARDED: [&str; 5] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/// The part of a refused request's path and method that is recorded.
const MAX_PATH: usize = 128;
const MAX_METHOD: usize = 16;

/// The state of the operators' routes.
#[derive(Clone)]
pub(crate) struct OperatorState {
    pub(crate) engine: Arc<Engine<SocketIoHandler>>,
    pub(crate) switchboard: Arc<HubSwitchboard>,
    pub(crate) handshake: Arc<HandshakePolicy>,
    /// The keys of operators. Without keys, every program on this machine is an operator, as long as the hub serves only
    /// this machine and clients need no credential.
    pub(crate) access: Arc<CurrentAccess>,
}

/// The identity of an operator, for the audit log.
#[derive(Clone)]
struct Operator {
    subject: String,
    peer: Option<RemotePeer>,
}

/// Why a request to an operator's route is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum OperatorRefusal {
    #[error("too many wrong credentials from this address: wait a while")]
    LockedOut,
    #[error("only operators may use this: start the hub with an admin token and send it as a bearer token")]
    NoKeys,
    #[error("send the admin token as a bearer token")]
    Credential,
}

/// The routes for operators.
pub(crate) fn routes(state: OperatorState) -> Router {
    let guarded = Router::new()
        .route("/metrics", get(numbers))
        .route("/admin/offices", get(offices))
        .route("/admin/members", get(members))
        .route("/admin/members/{sid}", delete(dismiss))
        .route("/admin/calls", get(calls))
        .layer(from_fn_with_state(state.clone(), require_operator));
    let open = Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(ready));
    guarded.merge(open).with_state(state)
}

async fn require_operator(State(state): State<OperatorState>, mut request: Request, next: Next) -> Response {
    if let Err(refusal) = state.handshake.judge_origin(&request) {
        return *refusal;
    }
    match state.recognise(&request) {
        Ok(operator) => {
            request.extensions_mut().insert(operator);
            next.run(request).await
        }
        Err(refusal) => {
            if let Some(peer) = request.extensions().get::<RemotePeer>() {
                if state.access.operators().0.is_some() {
                    state.handshake.address_limits.credential_failed(peer.address.ip(), Instant::now());
                }
                // Strangers must not fill the disk: a record a minute for an address and a reason, of a bounded length.
                let (why, now) = (refusal.to_string(), Instant::now());
                if state.handshake.address_limits.note_refusal(peer.address.ip(), &why, now) != RefusalNote::Counted {
                    let path = request.uri().path();
                    let path = &path[..path.floor_char_boundary(MAX_PATH)];
                    tracing::warn!(address = %peer.address, path, why, "a request to an operator's route was refused");
                    let method = request.method().as_str();
                    let action = format!("{} {path}", &method[..method.floor_char_boundary(MAX_METHOD)]);
                    state.switchboard.telemetry.admin("", peer.address, &action, Decision::Refused);
                }
            }
            let mut response =
                json(StatusCode::UNAUTHORIZED, &ErrorBody::new(ErrorCode::Unauthorized, refusal.to_string()));
            response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            response
        }
    }
}

impl OperatorState {
    fn recognise(&self, request: &Request) -> Result<Operator, OperatorRefusal> {
        let peer = request.extensions().get::<RemotePeer>().cloned();
        let (keys, is_open) = self.access.operators();
        if let (Some(_), Some(peer)) = (&keys, &peer)
            && self.handshake.address_limits.locked_out(peer.address.ip(), Instant::now()).is_some()
        {
            self.switchboard.telemetry.count_limit(LimitKind::FailedConnects);
            return Err(OperatorRefusal::LockedOut);
        }
        let is_local = peer.as_ref().is_some_and(|peer| peer.address.ip().is_loopback() && !peer.is_proxied);
        let Some(keys) = keys else {
            return if is_open && is_local && self.handshake.on_loopback && !is_forwarded(request.headers()) {
                Ok(Operator { subject: "local".into(), peer })
            } else {
                Err(OperatorRefusal::NoKeys)
            };
        };
        let claim = Claim {
            headers: request.headers(),
            payload: "",
            certificate: None,
            address: peer.as_ref().map_or(std::net::Ipv4Addr::UNSPECIFIED.into(), |peer| peer.address.ip()),
            now: SystemTime::now(),
        };
        let grant = keys.authenticate(&claim).map_err(|_| OperatorRefusal::Credential)?;
        Ok(Operator { subject: grant.subject().to_owned(), peer })
    }
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDED.iter().any(|name| headers.contains_key(*name))
}

async fn ready(State(state): State<OperatorState>) -> Response {
    if state.switchboard.is_shutting_down() {
        return (StatusCode::SERVICE_UNAVAILABLE, "going away\n").into_response();
    }
    "ready\n".into_response()
}

async fn numbers(State(state): State<OperatorState>) -> Response {
    let text = state.switchboard.telemetry.metrics.text(state.switchboard.snapshot(state.engine.sessions()));
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

async fn offices(State(state): State<OperatorState>) -> Response {
    json(StatusCode::OK, &state.switchboard.office_views())
}

async fn members(State(state): State<OperatorState>, request: Request) -> Response {
    let office = query_value(request.uri().query().unwrap_or_default(), "office_id");
    json(StatusCode::OK, &state.switchboard.member_views(office.as_deref()))
}

async fn calls(State(state): State<OperatorState>) -> Response {
    json(StatusCode::OK, &state.switchboard.call_views(Instant::now()))
}

async fn dismiss(State(state): State<OperatorState>, Path(sid): Path<String>, request: Request) -> Response {
    let found = state.switchboard.dismiss(&sid);
    if let Some(Operator { subject, peer: Some(peer) }) = request.extensions().get() {
        let decision = if found { Decision::Allowed } else { Decision::Failed };
        tracing::info!(subject, sid, found, "an operator disconnects a member");
        state.switchboard.telemetry.admin(subject, peer.address, &format!("disconnect {sid}"), decision);
    }
    if found {
        return StatusCode::NO_CONTENT.into_response();
    }
    let error = ErrorBody::new(ErrorCode::NotFound, "no member has this sid: see /admin/members");
    json(StatusCode::NOT_FOUND, &error)
}
