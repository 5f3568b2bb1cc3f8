//! The HTTP side: the version is judged before Socket.IO sees a handshake.

use std::sync::Arc;

use a2c_protocol::PROTOCOL_VERSION;
use a2c_protocol::version::{self, ERROR_CODE_HEADER, VERSION_QUERY, VersionRefusal};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use engineioxide::config::EngineIoConfig;
use engineioxide::service::EngineIoService;
use tower::Service as _;

use crate::limits::Limits;
use crate::wire::Wire;

/// Clients in the field use either path.
const PATHS: [&str; 4] = ["/smcp", "/smcp/", "/socket.io", "/socket.io/"];

/// More than an Engine.IO open packet ever is.
const OPEN_PACKET_LIMIT: usize = 4096;

type Engine = EngineIoService<Wire>;

/// All routes of the hub.
pub(crate) fn router(wire: Arc<Wire>, mut config: EngineIoConfig) -> Router {
    // The engine takes every path: which ones reach it is decided here.
    config.req_path = "/".into();
    let limits = wire.limits;
    let engine = Engine::with_config(wire, config);
    let router = Router::new().route("/healthz", get(async || "ok\n"));
    PATHS.iter().fold(router, |router, path| router.route(path, any(handshake))).with_state((engine, limits))
}

async fn handshake(State((mut engine, limits)): State<(Engine, Limits)>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    // Later requests of an open session are known by their sid and need not repeat the version.
    let opens = query_value(query, "sid").is_none();
    if opens && let Err(refusal) = version::check(PROTOCOL_VERSION, query_value(query, VERSION_QUERY).as_deref()) {
        return refuse(&refusal);
    }
    let opens_polling = opens && query_value(query, "transport").as_deref() == Some("polling");
    let response = match engine.call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    if opens_polling { announce(response, &limits).await } else { response }
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
    let body = serde_json::to_string(refusal).unwrap_or_default();
    let json = HeaderValue::from_static("application/json");
    let mut response = (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, json)], body).into_response();
    if matches!(refusal, VersionRefusal::Mismatch { .. }) {
        response.headers_mut().insert(HeaderName::from_static(ERROR_CODE_HEADER), refusal.code().into());
    }
    response
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
