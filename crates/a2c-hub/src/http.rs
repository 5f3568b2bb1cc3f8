//! The HTTP side: the version is judged before Socket.IO sees a handshake.

use std::sync::Arc;

use a2c_protocol::version::{self, ERROR_CODE_HEADER, VERSION_QUERY, VersionRefusal};
use a2c_protocol::{ErrorBody, ErrorCode, PROTOCOL_VERSION};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use engineioxide::config::EngineIoConfig;
use engineioxide::service::EngineIoService;
use serde::Serialize;
use tower::Service as _;

use crate::limits::Limits;
use crate::origin;
use crate::switchboard::to_json;
use crate::wire::Wire;

/// Clients in the field use either path.
const PATHS: [&str; 4] = ["/smcp", "/smcp/", "/socket.io", "/socket.io/"];

/// More than an Engine.IO open packet ever is.
const OPEN_PACKET_LIMIT: usize = 4096;

type Engine = EngineIoService<Wire>;

/// What a handshake is judged by.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) on_loopback: bool,
    pub(crate) allowed_hosts: Arc<[String]>,
    pub(crate) limits: Limits,
}

/// All routes of the hub.
pub(crate) fn router(wire: Arc<Wire>, mut config: EngineIoConfig, door: Door) -> Router {
    // The engine takes every path: which ones reach it is decided here.
    config.req_path = "/".into();
    let engine = Engine::with_config(wire, config);
    let router = Router::new().route("/healthz", get(async || "ok\n"));
    PATHS.iter().fold(router, |router, path| router.route(path, any(handshake))).with_state((engine, door))
}

async fn handshake(State((mut engine, door)): State<(Engine, Door)>, request: Request) -> Response {
    let opens_polling = match door.admit(&request) {
        Ok(opens_polling) => opens_polling,
        Err(refusal) => return *refusal,
    };
    let response = match engine.call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    if opens_polling { announce(response, &door.limits).await } else { response }
}

impl Door {
    /// Judges a request before the engine sees it; tells whether it opens a session by polling.
    fn admit(&self, request: &Request) -> Result<bool, Box<Response>> {
        let text = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (host, origin) = (text(header::HOST), text(header::ORIGIN));
        if let Err(stranger) = origin::judge(self.on_loopback, &self.allowed_hosts, host, origin) {
            tracing::warn!(?host, ?origin, "{stranger}");
            let body = ErrorBody::new(ErrorCode::Forbidden, stranger.to_string());
            return Err(json(StatusCode::FORBIDDEN, &body).into());
        }
        let query = request.uri().query().unwrap_or_default();
        // Later requests of an open session are known by their sid and need not repeat the version.
        let opens = query_value(query, "sid").is_none();
        if opens && let Err(refusal) = version::check(PROTOCOL_VERSION, query_value(query, VERSION_QUERY).as_deref()) {
            return Err(refuse(&refusal).into());
        }
        Ok(opens && query_value(query, "transport").as_deref() == Some("polling"))
    }
}

/// Announces what is passed on, not what is read: a message over the limit has to be read to be answered, and the
/// engine has one number for both.
async fn announce(response: Response, limits: &Limits) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = axum::body::to_bytes(body, OPEN_PACKET_LIMIT).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let read = format!("\"maxPayload\":{}", limits.hard_max());
    let passed_on = format!("\"maxPayload\":{}", limits.max_payload);
    let body = String::from_utf8_lossy(&body).replace(&read, &passed_on);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body))
}

fn refuse(refusal: &VersionRefusal) -> Response {
    tracing::debug!(%refusal, "handshake refused");
    let mut response = json(StatusCode::BAD_REQUEST, refusal);
    if matches!(refusal, VersionRefusal::Mismatch { .. }) {
        response.headers_mut().insert(HeaderName::from_static(ERROR_CODE_HEADER), refusal.code().into());
    }
    response
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let json = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, json)], to_json(body)).into_response()
}

/// The first value of a query parameter, decoded.
pub(crate) fn query_value(query: &str, key: &str) -> Option<String> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(k, _)| *k == key).map(|(_, value)| {
        let spaces = value.replace('+', " ");
        percent_encoding::percent_decode_str(&spaces).decode_utf8_lossy().into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_found_and_decoded() {
        let check = |query, expected: Option<&str>| assert_eq!(query_value(query, "v").as_deref(), expected, "{query}");
        check("v=0.2.0", Some("0.2.0"));
        check("EIO=4&v=0%2E2.0&v=9", Some("0.2.0"));
        check("v=", Some(""));
        check("v", None);
        check("xv=1", None);
        check("", None);
    }
}
