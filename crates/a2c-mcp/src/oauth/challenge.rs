//! What a server says when it refuses a request: where its metadata is, and which scopes it wants.

use std::time::Duration;

use ::http::StatusCode;
use ::http::header::WWW_AUTHENTICATE;
use reqwest::Response;
use rmcp::model::ProtocolVersion;
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::json;
use url::Url;

use crate::http::HttpError;
use crate::http::request::{HttpRequest, SESSION};

/// The longest challenge that is looked at.
const LIMIT: usize = 4 << 10;

/// The `WWW-Authenticate` header of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge(String);

impl Challenge {
    /// A challenge that was kept as text.
    pub(super) fn from_text(text: String) -> Option<Self> {
        (text.len() <= LIMIT && text.to_ascii_lowercase().contains("bearer")).then_some(Self(text))
    }

    /// The challenge of a refusal, where it has one that a sign-in can meet.
    pub(crate) fn of(response: &Response) -> Option<Self> {
        let challenges = response.headers().get_all(WWW_AUTHENTICATE);
        challenges.iter().filter_map(|text| text.to_str().ok()).find_map(|text| Self::from_text(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The scopes that it names.
    pub(super) fn scopes(&self, url: &Url) -> Vec<String> {
        let scopes = WWWAuthenticateParams::parse(&self.0, url).scope.unwrap_or_default();
        scopes.split_whitespace().map(ToOwned::to_owned).collect()
    }

    /// Whether the server knows the sign-in and wants one with more scopes, which it names.
    pub(crate) fn wants_more_scopes(&self, url: &Url) -> bool {
        let parameters = WWWAuthenticateParams::parse(&self.0, url);
        parameters.is_insufficient_scope() && parameters.scope.is_some_and(|scope| !scope.trim().is_empty())
    }
}

/// What a server answers to a client that is not signed in.
pub(super) enum FirstAnswer {
    /// It wants a sign-in.
    Refused(Option<Challenge>),
    /// It wants none, or not for this request; or there was no answer.
    Other,
}

/// Sends what a session begins with: some servers put their challenge on nothing else.
pub(super) async fn ask(client: &reqwest::Client, url: &Url, timeout: Duration) -> FirstAnswer {
    let parameters = json!({
        "protocolVersion": ProtocolVersion::LATEST_WITH_INITIALIZE,
        "capabilities": {},
        "clientInfo": {"name": "a2c", "version": env!("CARGO_PKG_VERSION")},
    });
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters});
    let request = HttpRequest::post(url.clone(), message.to_string().into());
    match request.send(client, timeout).await {
        Ok(response) if response.status() == StatusCode::UNAUTHORIZED => FirstAnswer::Refused(Challenge::of(&response)),
        Ok(response) => {
            // A session that nobody uses would lie there until it expires.
            if let Some(session) = response.headers().get(SESSION).cloned() {
                let _: Result<Response, HttpError> =
                    HttpRequest::delete(url.clone(), session).send(client, timeout).await;
            }
            FirstAnswer::Other
        }
        Err(error) => {
            tracing::debug!(%error, "the server does not answer to a client that is not signed in");
            FirstAnswer::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_names_scopes_and_what_it_is_about() {
        let url: Url = "https://h/mcp".parse().unwrap();
        for (text, scopes, more) in [
            (r#"Bearer scope="a b""#, &["a", "b"][..], false),
            (r#"Bearer error="insufficient_scope", scope="a""#, &["a"], true),
            (r#"bearer error="insufficient_scope""#, &[], false),
            (r#"Bearer error="invalid_token", scope="a""#, &["a"], false),
            ("Bearer", &[], false),
        ] {
            let challenge = Challenge::from_text(text.to_owned()).unwrap();
            assert_eq!(challenge.scopes(&url), scopes, "{text}");
            assert_eq!(challenge.wants_more_scopes(&url), more, "{text}");
        }
        assert_eq!(Challenge::from_text("Basic realm=\"x\"".to_owned()), None);
        assert_eq!(Challenge::from_text(format!("Bearer scope=\"{}\"", "x".repeat(LIMIT))), None);
    }
}
