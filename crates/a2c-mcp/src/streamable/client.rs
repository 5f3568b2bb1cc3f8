//! The HTTP client of the MCP library's streamable transport: it makes every request of a session.
//!
//! A request gets the session's headers and, where the owner signed in, the token; the head of the answer decides what
//! becomes of it. Refusals keep their reason, bodies and events are bounded, and a request is answered even where the
//! server's answer cannot be read.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use url::Url;

use super::large_answers::LargeAnswers;
use crate::http::events::{Events, events, stream_error};
use crate::http::request::{HttpRequest, SESSION, accepted, body, is_media};
use crate::http::{AccessReason, Credentials, HttpError, NotMcp, repair};
use crate::oauth::bearer::Bearer;
use crate::oauth::challenge::Challenge;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type Outcome<T> = Result<T, StreamableHttpError<HttpError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of one server; clones share it.
#[derive(Clone)]
pub(crate) struct StreamableClient(Arc<ClientSettings>);

/// How a server is reached.
pub(crate) struct ClientSettings {
    pub(crate) url: Url,
    pub(crate) client: reqwest::Client,
    /// Limit of connecting and of waiting for the head of an ordinary answer.
    pub(crate) timeout: Duration,
    /// Limit of silence on an event stream, and of waiting for the answer to a tool call.
    pub(crate) idle: Duration,
    /// Whether the session is ended with the connection.
    pub(crate) ends_session: bool,
    /// The owner's sign-in, where that is the way in.
    pub(crate) bearer: Option<Bearer>,
    pub(crate) credentials: Credentials,
    pub(super) large: LargeAnswers,
}

impl ClientSettings {
    /// How long the head of the answer may take. A server may run the whole call before it sends one.
    fn head_timeout(&self, message: &ClientJsonRpcMessage) -> Duration {
        match message {
            ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CallToolRequest(_)) => {
                self.timeout.max(self.idle)
            }
            _ => self.timeout,
        }
    }
}

impl StreamableClient {
    pub(crate) fn new(settings: ClientSettings) -> Self {
        Self(Arc::new(settings))
    }

    /// Sends a request, with a token where there is one; with a new one where the server does not take the old one.
    async fn send(&self, request: HttpRequest, timeout: Duration) -> Result<Response, HttpError> {
        let ClientSettings { client, bearer, credentials, .. } = &*self.0;
        let Some(bearer) = bearer else {
            return accepted(request.send(client, timeout).await?, credentials);
        };
        let token = bearer.token(credentials).await?;
        let response = authorised(request.clone(), token.as_ref()).send(client, timeout).await?;
        let Some(token) = token.filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
            return self.let_in(response, bearer).await;
        };
        let renewed = match bearer.renew(&token, credentials).await {
            Ok(renewed) => renewed,
            Err(error) => {
                self.keep_challenge(&response, bearer).await;
                return Err(error);
            }
        };
        drop(response);
        let response = authorised(request, Some(&renewed)).send(client, timeout).await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            self.keep_challenge(&response, bearer).await;
            // The server refuses the newest token: asking for one more would go on for ever.
            return Err(HttpError::Access(credentials.refused(AccessReason::Expired)));
        }
        self.let_in(response, bearer).await
    }

    /// The answer, unless the server refuses the sign-in or wants another one.
    async fn let_in(&self, response: Response, bearer: &Bearer) -> Result<Response, HttpError> {
        let wants_more = self.keep_challenge(&response, bearer).await;
        match wants_more {
            true => Err(HttpError::Access(self.0.credentials.refused(AccessReason::MissingScopes))),
            false => accepted(response, &self.0.credentials),
        }
    }

    /// Keeps what a refusal says for the next sign-in; gives whether that needs more scopes.
    async fn keep_challenge(&self, response: &Response, bearer: &Bearer) -> bool {
        let status = response.status();
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return false;
        }
        let Some(challenge) = Challenge::of(response) else { return false };
        let wants_more = status == StatusCode::FORBIDDEN && challenge.wants_more_scopes(&self.0.url);
        if wants_more || status == StatusCode::UNAUTHORIZED {
            bearer.keep_challenge(challenge).await;
        }
        wants_more
    }

    async fn post(
        &self,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        let text = serde_json::to_vec(&message)?;
        let mut request = HttpRequest::post(self.0.url.clone(), text.into());
        add(&mut request.headers, headers, session.as_deref())?;
        let response = self.send(request, self.0.head_timeout(&message)).await.map_err(StreamableHttpError::Client)?;
        let asked = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id),
            _ => None,
        };
        self.answer(response, asked, session.is_some()).await
    }

    /// What the answer to a message is, once its head is there.
    async fn answer(
        &self,
        response: Response,
        asked: Option<RequestId>,
        in_session: bool,
    ) -> Outcome<StreamableHttpPostResponse> {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if status.is_success() && is_media(&response, "text/event-stream") {
            let events = answering(self.0.large.kept_from(events(response, self.0.idle)), asked);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let json = is_media(&response, "application/json");
        let Some(asked) = asked else {
            // No answer is expected: the content of a success does not matter.
            return match status.is_success() {
                true => Ok(StreamableHttpPostResponse::Accepted),
                false => Err(StreamableHttpError::Client(HttpError::Status(status.as_u16()))),
            };
        };
        let read = match json {
            true => repair::read(body(response, self.0.idle).await.map_err(StreamableHttpError::Client)?).await,
            false => Err(NotMcp::Media),
        };
        match read {
            // An error answers this request even under another id: a server that could not read the request does not
            // know its id.
            Ok(ServerJsonRpcMessage::Error(mut error)) => {
                error.id = Some(asked);
                Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), session))
            }
            _ if !status.is_success() => Err(StreamableHttpError::Client(HttpError::Status(status.as_u16()))),
            Ok(ServerJsonRpcMessage::Response(answer)) if answer.id == asked => {
                Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Response(answer), session))
            }
            Ok(_) => Err(StreamableHttpError::Client(NotMcp::OtherRequest.into())),
            Err(problem) => Err(StreamableHttpError::Client(problem.into())),
        }
    }

    async fn listen(&self, session: Option<Arc<str>>, last: Option<String>, headers: Headers) -> Outcome<Events> {
        let mut request = HttpRequest::get(self.0.url.clone());
        add(&mut request.headers, headers, session.as_deref())?;
        if let Some(last) = last {
            request.headers.insert(LAST_EVENT, value(&last)?);
        }
        let response = match self.send(request, self.0.timeout).await {
            Ok(response) => response,
            // The library does not ask again after this error.
            Err(HttpError::Access(_)) => {
                return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new())));
            }
            Err(error) => return Err(StreamableHttpError::Client(error)),
        };
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(StreamableHttpError::Client(HttpError::Status(status.as_u16()))),
            _ if !is_media(&response, "text/event-stream") => Err(StreamableHttpError::ServerDoesNotSupportSse),
            // The library asks again at once for a stream that breaks, and after a pause for one that ends. A server
            // that breaks it every time would keep us busy, hence every stream ends.
            _ => {
                let events = self.0.large.kept_from(events(response, self.0.idle));
                Ok(events.scan((), |(), event| ready(event.ok().map(Ok))).boxed())
            }
        }
    }

    async fn end(&self, session: Arc<str>, headers: Headers) -> Outcome<()> {
        if !self.0.ends_session {
            return Ok(());
        }
        let mut request = HttpRequest::delete(self.0.url.clone(), value(&session)?);
        request.headers.extend(headers);
        let response = self.send(request, self.0.timeout).await.map_err(StreamableHttpError::Client)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(StreamableHttpError::Client(HttpError::Status(status.as_u16()))),
        }
    }
}

fn authorised(mut request: HttpRequest, token: Option<&HeaderValue>) -> HttpRequest {
    if let Some(token) = token {
        request.headers.insert(AUTHORIZATION, token.clone());
    }
    request
}

fn add(headers: &mut HeaderMap, more: Headers, session: Option<&str>) -> Outcome<()> {
    headers.extend(more);
    if let Some(session) = session {
        headers.insert(SESSION, value(session)?);
    }
    Ok(())
}

fn value(text: &str) -> Outcome<HeaderValue> {
    HeaderValue::from_str(text).map_err(|_| StreamableHttpError::Client(NotMcp::Id.into()))
}

/// The events that answer one message. What cannot be read answers with an error, and so does what is too large: where
/// the server numbers its events, the library would otherwise ask for the same one again.
fn answering(events: Events, asked: Option<RequestId>) -> Events {
    let check = move |event: Result<Sse, sse_stream::Error>| match (event, &asked) {
        (Ok(mut event), _) => {
            if let Some(better) = event.data.as_deref().and_then(repair::replacement) {
                event.data = Some(better);
            }
            Ok(event)
        }
        (Err(error), Some(asked)) if matches!(stream_error(&error), HttpError::TooLarge(_)) => {
            let answer = repair::error(asked.clone(), stream_error(&error).to_string());
            Ok(Sse::default().data(repair::written(&answer)))
        }
        (Err(error), _) => Err(error),
    };
    events.map(check).boxed()
}

impl StreamableHttpClient for StreamableClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        self.post(message, session, headers).await
    }

    async fn delete_session(&self, _: Arc<str>, session: Arc<str>, _: Option<String>, headers: Headers) -> Outcome<()> {
        self.end(session, headers).await
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Outcome<Events> {
        self.listen(session, last, headers).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http;

    #[test]
    fn a_call_may_take_longer_than_an_ordinary_request() {
        let url: Url = "http://h/mcp".parse().unwrap();
        let [timeout, idle] = [1, 300].map(Duration::from_secs);
        let client = http::client(&url, HeaderMap::new(), timeout).unwrap();
        let credentials = Credentials::Headers;
        let settings = ClientSettings {
            url,
            client,
            timeout,
            idle,
            ends_session: true,
            bearer: None,
            credentials,
            large: LargeAnswers::default(),
        };
        for (method, params, expected) in [
            ("tools/call", serde_json::json!({"name": "any"}), idle),
            ("tools/list", serde_json::json!({}), timeout),
            ("ping", serde_json::json!({}), timeout),
        ] {
            let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            assert_eq!(settings.head_timeout(&serde_json::from_value(message).unwrap()), expected, "{method}");
        }
    }
}
