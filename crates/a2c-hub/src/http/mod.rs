//! The HTTP side of the hub: it accepts connections, checks handshakes, and serves clients and operators.

mod handshake;
pub(crate) mod listener;
mod operator;
mod origin;
mod proxy_protocol;

use std::sync::Arc;

use a2c_engineio::Engine;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Serialize;

use crate::switchboard::to_json;
use crate::wire::SocketIoHandler;
pub(crate) use handshake::HandshakePolicy;
use operator::OperatorState;

/// The paths that clients in the field use.
const PATHS: [&str; 4] = ["/smcp", "/smcp/", "/socket.io", "/socket.io/"];

/// Whether a path is one for clients.
fn is_client_path(path: &str) -> bool {
    PATHS.contains(&path)
}

#[derive(Clone)]
struct ClientRoutes {
    engine: Arc<Engine<SocketIoHandler>>,
    handshake: Arc<HandshakePolicy>,
}

/// All routes of the hub.
pub(crate) fn router(engine: &Arc<Engine<SocketIoHandler>>, handshake: HandshakePolicy) -> Router {
    let (handshake, switchboard) = (Arc::new(handshake), engine.handler().switchboard.clone());
    let access = engine.handler().access.clone();
    let state = OperatorState { engine: engine.clone(), switchboard, handshake: handshake.clone(), access };
    let client_routes = ClientRoutes { engine: engine.clone(), handshake };
    let clients = PATHS.iter().fold(Router::new(), |router, path| router.route(path, any(enter)));
    clients.with_state(client_routes).merge(operator::routes(state))
}

async fn enter(State(ClientRoutes { engine, handshake }): State<ClientRoutes>, mut request: Request) -> Response {
    if let Err(refusal) = handshake.judge_origin(&request) {
        return *refusal;
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = origin.is_some() && request.method() == Method::OPTIONS;
    let mut response = match handshake.admit(&mut request) {
        _ if is_preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => engine.handle(request).await.map(Body::new),
        Err(refusal) => *refusal,
    };
    if let Some(origin) = origin {
        share(response.headers_mut(), origin);
    }
    response
}

/// Adds the CORS headers that a browser needs to let an allowed web page read the answer to a poll.
fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    const MAY_SEND: HeaderValue = HeaderValue::from_static("authorization, content-type, x-api-key, access_token");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, MAY_SEND);
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let json = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, json)], to_json(body)).into_response()
}
