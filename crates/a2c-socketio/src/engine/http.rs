//! HTTP requests of both transports. The websocket upgrade goes the same way as polling, so that
//! TLS, headers, query and refusals are alike for both.

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_TYPE, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderValue, StatusCode};
use reqwest::{Response, Upgraded, redirect};
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};

use super::endpoint::Endpoint;
use crate::error::{DisconnectReason, HttpRefusal, SocketConnectError};
use crate::options::Options;
use crate::tls;

/// What is kept of the body of a refusal.
const REFUSAL_BODY: usize = 64 << 10;

/// The HTTP side of one client; it outlives single links.
pub(crate) struct Http {
    client: reqwest::Client,
    endpoint: Endpoint,
    /// Bytes a polling body may have: several messages travel in one.
    max_body: usize,
}

impl Http {
    pub(crate) fn new(options: &Options) -> Result<Self, SocketConnectError> {
        let endpoint = Endpoint::new(options)?;
        let mut tls = if endpoint.is_https() { options.tls.settings()? } else { tls::unused()? };
        // A websocket upgrade exists in HTTP/1.1 only.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let client = a2c_net::http_client(tls)
            .default_headers(options.headers.clone())
            // A redirect would carry the caller's headers and query to another place.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| SocketConnectError::Transport(error.into()))?;
        Ok(Http { client, endpoint, max_body: options.limits.message.saturating_mul(2) })
    }

    /// One poll.
    pub(crate) async fn get(&self, sid: Option<&str>) -> Result<Vec<u8>, DisconnectReason> {
        let request = self.client.get(self.endpoint.polling(sid));
        let response = accepted(request.send().await, StatusCode::OK).await?;
        bounded_body(response, self.max_body).await
    }

    /// Sends a polling body.
    pub(crate) async fn post(&self, sid: &str, body: Bytes) -> Result<(), DisconnectReason> {
        let request = self
            .client
            .post(self.endpoint.polling(Some(sid)))
            .header(CONTENT_TYPE, "text/plain;charset=UTF-8")
            .body(body);
        let response = accepted(request.send().await, StatusCode::OK).await?;
        // Read to its end, so that the connection can carry the next request.
        bounded_body(response, REFUSAL_BODY).await.map(drop)
    }

    /// Asks for a websocket.
    pub(crate) async fn upgrade(&self, sid: Option<&str>) -> Result<Upgraded, DisconnectReason> {
        let key = generate_key();
        let request = self
            .client
            .get(self.endpoint.websocket(sid))
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        let response = accepted(request.send().await, StatusCode::SWITCHING_PROTOCOLS).await?;
        let accept = response.headers().get(SEC_WEBSOCKET_ACCEPT);
        if accept.map(HeaderValue::as_bytes) != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
            return Err(DisconnectReason::Protocol("the websocket upgrade was answered with a wrong key".into()));
        }
        response.upgrade().await.map_err(transport)
    }
}

/// The answer, if it has the expected status; otherwise what it said.
async fn accepted(
    answer: Result<Response, reqwest::Error>,
    expected: StatusCode,
) -> Result<Response, DisconnectReason> {
    let mut response = answer.map_err(transport)?;
    if response.status() == expected {
        return Ok(response);
    }
    let mut body = BytesMut::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = REFUSAL_BODY - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == REFUSAL_BODY {
            break;
        }
    }
    Err(DisconnectReason::Http(Box::new(HttpRefusal {
        status: response.status(),
        headers: response.headers().clone(),
        body: body.freeze(),
    })))
}

async fn bounded_body(mut response: Response, limit: usize) -> Result<Vec<u8>, DisconnectReason> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(transport)? {
        if chunk.len() > limit - body.len() {
            return Err(DisconnectReason::Limit { what: "a polling body with a size", limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Without the address: its query may hold secrets.
fn transport(error: reqwest::Error) -> DisconnectReason {
    DisconnectReason::Transport(error.without_url().into())
}
