//! Parses the query of an HTTP request, and answers invalid requests.

use bytes::Bytes;
use http::{Method, Response, StatusCode, Uri, header};
use uuid::Uuid;

use crate::response_body::ResponseBody;

/// The transport of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionTransport {
    Polling,
    Websocket,
}

/// A valid request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineRequest {
    pub(crate) transport: SessionTransport,
    pub(crate) sid: Option<Uuid>,
}

/// Why a request is refused; Engine.IO defines the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRequest {
    #[error("Transport unknown")]
    Transport,
    #[error("Session ID unknown")]
    UnknownSid,
    #[error("Bad handshake method")]
    Method,
    #[error("Bad request")]
    Request,
    #[error("Unsupported protocol version")]
    Version,
}

impl BadRequest {
    pub(crate) fn response(self) -> Response<ResponseBody> {
        let code = match self {
            Self::Transport => 0,
            Self::UnknownSid => 1,
            Self::Method => 2,
            Self::Request => 3,
            Self::Version => 5,
        };
        let body = serde_json::json!({ "code": code, "message": self.to_string() }).to_string();
        respond(StatusCode::BAD_REQUEST, "application/json", body)
    }
}

pub(crate) fn respond(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}

impl EngineRequest {
    pub(crate) fn parse(method: &Method, uri: &Uri) -> Result<Self, BadRequest> {
        let query = uri.query().unwrap_or_default();
        let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        if value("EIO") != Some("4") {
            return Err(BadRequest::Version);
        }
        let transport = match value("transport") {
            Some("polling") => SessionTransport::Polling,
            Some("websocket") => SessionTransport::Websocket,
            _ => return Err(BadRequest::Transport),
        };
        // A malformed id is an unknown id.
        let sid = value("sid").map(|sid| Uuid::try_parse(sid).map_err(|_| BadRequest::UnknownSid)).transpose()?;
        if sid.is_none() && method != Method::GET {
            return Err(BadRequest::Method);
        }
        Ok(Self { transport, sid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parsed_or_refused() {
        let check = |method: Method, query: &str, expected: Result<EngineRequest, BadRequest>| {
            let uri = format!("/socket.io/?{query}").parse().unwrap();
            assert_eq!(EngineRequest::parse(&method, &uri), expected, "{method} {query}");
        };
        let id = Uuid::from_u128(7);
        let sid = id.simple();
        let (polling, websocket) = (SessionTransport::Polling, SessionTransport::Websocket);
        check(Method::GET, "EIO=4&transport=polling", Ok(EngineRequest { transport: polling, sid: None }));
        check(Method::GET, "transport=websocket&x=1&EIO=4", Ok(EngineRequest { transport: websocket, sid: None }));
        check(
            Method::POST,
            &format!("EIO=4&transport=polling&sid={sid}"),
            Ok(EngineRequest { transport: polling, sid: Some(id) }),
        );
        check(Method::POST, "EIO=4&transport=polling", Err(BadRequest::Method));
        check(Method::GET, "EIO=4&transport=polling&sid=malformed", Err(BadRequest::UnknownSid));
        check(Method::GET, "EIO=4&transport=carrier-pigeon", Err(BadRequest::Transport));
        check(Method::GET, "EIO=4", Err(BadRequest::Transport));
        check(Method::GET, "EIO=3&transport=polling", Err(BadRequest::Version));
        check(Method::GET, "", Err(BadRequest::Version));
    }
}
