//! The HTTP side of the hub: connections are accepted, requests judged, sessions begun.

mod door;
pub(crate) mod listener;
mod operator;
mod origin;

use std::sync::Arc;

use a2c_engineio::Engine;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Serialize;

use crate::auth::ApiKey;
use crate::switchboard::to_json;
use crate::wire::Wire;
pub(crate) use door::Door;
use operator::Desk;

/// Clients in the field use either path.
const PATHS: [&str; 4] = ["/smcp", "/smcp/", "/socket.io", "/socket.io/"];

#[derive(Clone)]
struct Entrance {
    engine: Arc<Engine<Wire>>,
    door: Arc<Door>,
}

/// All routes of the hub. `keys` are what operators show.
pub(crate) fn router(engine: &Arc<Engine<Wire>>, door: Door, keys: Option<ApiKey>) -> Router {
    let (door, switchboard) = (Arc::new(door), engine.handler().switchboard.clone());
    let is_open = engine.handler().auth.is_open();
    let desk = Desk { engine: engine.clone(), switchboard, door: door.clone(), keys, is_open };
    let entrance = Entrance { engine: engine.clone(), door };
    let clients = PATHS.iter().fold(Router::new(), |router, path| router.route(path, any(enter)));
    clients.with_state(entrance).merge(operator::routes(desk))
}

async fn enter(State(Entrance { engine, door }): State<Entrance>, mut request: Request) -> Response {
    if let Err(refusal) = door.judge_origin(&request) {
        return *refusal;
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = origin.is_some() && request.method() == Method::OPTIONS;
    let mut response = match door.admit(&mut request) {
        _ if is_preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => engine.handle(request).await.map(Body::new),
        Err(refusal) => *refusal,
    };
    if let Some(origin) = origin {
        share(response.headers_mut(), origin);
    }
    response
}

/// Lets a web page that may use the hub read the answer: browsers ask for that where a page polls.
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
