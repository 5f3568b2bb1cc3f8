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

/// Sessions that begin by polling and sessions that are websockets from the start are kept apart, because the engine has
/// one number for what it announces and what it reads over polling: only the latter has to be larger, so that a request
/// over the limit can be answered.
#[derive(Clone)]
struct Engines {
    polling: Engine,
    websocket: Engine,
    door: Door,
}

/// All routes of the hub.
pub(crate) fn router(wire: &Arc<Wire>, mut config: EngineIoConfig, door: Door) -> Router {
    // The engines take every path: which ones reach them is decided here.
    config.req_path = "/".into();
    config.max_payload = door.limits.max_payload as u64;
    let websocket = Engine::with_config(wire.clone(), config.clone());
    config.max_payload = door.limits.hard_max() as u64;
    let polling = Engine::with_config(wire.clone(), config);
    let router = Router::new().route("/healthz", get(async || "ok\n"));
    let engines = Engines { polling, websocket, door };
    PATHS.iter().fold(router, |router, path| router.route(path, any(handshake))).with_state(engines)
}

async fn handshake(State(mut engines): State<Engines>, request: Request) -> Response {
    let kind = match engines.door.admit(&request) {
        Ok(kind) => kind,
        Err(refusal) => return *refusal,
    };
    let engine = if kind == Kind::OpensWebsocket { &mut engines.websocket } else { &mut engines.polling };
    let response = match engine.call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    if kind == Kind::OpensPolling { announce(response, &engines.door.limits).await } else { response }
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    OpensPolling,
    OpensWebsocket,
    /// It belongs to a session that began by polling.
    Continues,
}

impl Door {
    /// Judges a request before an engine sees it.
    fn admit(&self, request: &Request) -> Result<Kind, Box<Response>> {
        let text = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (host, origin) = (text(header::HOST), text(header::ORIGIN));
        if let Err(stranger) = origin::judge(self.on_loopback, &self.allowed_hosts, host, origin) {
            tracing::warn!(?host, ?origin, "{stranger}");
            let body = ErrorBody::new(ErrorCode::Forbidden, stranger.to_string());
            return Err(json(StatusCode::FORBIDDEN, &body).into());
        }
        let query = request.uri().query().unwrap_or_default();
        // Later requests of an open session are known by their sid and need not repeat the version.
        if query_value(query, "sid").is_some() {
            return Ok(Kind::Continues);
        }
        version::check(PROTOCOL_VERSION, query_value(query, VERSION_QUERY).as_deref())
            .map_err(|refusal| refuse(&refusal))?;
        let is_websocket = query_value(query, "transport").as_deref() == Some("websocket");
        Ok(if is_websocket { Kind::OpensWebsocket } else { Kind::OpensPolling })
    }
}

/// Announces what is passed on, not what is read.
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
