//! The options of a connection to a hub.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::config::redact_url;
use a2c_protocol::version::VERSION_QUERY;
use a2c_protocol::{DEFAULT_PATH, NAMESPACE, PROTOCOL_VERSION, Role, Version};
use a2c_secrets::Secret;
use a2c_socketio::{DisconnectReason, FailedAttempt, Options, Reconnect, SocketConnectError, TlsFiles, Transport};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::{ConnectError, RefusalContext};
use crate::reconnect_log::{ReconnectLog, RetryOutlook};
use crate::token::{Credential, Token, TokenFileError};

/// Headers in which a hub looks for a credential.
const CREDENTIALS: [&str; 3] = ["authorization", "x-api-key", "access_token"];

/// The longest pause between two attempts: with the handshake behind it, a member is back within 5 s of its hub's return.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The options of a connection to a hub.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LinkOptions {
    /// `http://` or `https://`, host and port.
    pub url: String,
    /// The HTTP path of the handshake; hubs in the field also use `/socket.io`.
    pub path: String,
    /// The token, where the hub asks for one.
    pub token: Option<Token>,
    /// HTTP headers of every request, for proxies between this side and the hub.
    pub headers: Vec<(String, Secret)>,
    /// For `https://`: CAs to trust besides those of the system, and a client certificate.
    pub tls: TlsFiles,
    /// Polling first lets a refusal be read in every network; websocket only saves a round trip.
    pub transport: Transport,
    /// The policy for a lost connection; `None` to stay disconnected.
    pub reconnect: Option<Reconnect>,
    /// Whether the policy holds for the first connection, too: a hub that is away is waited for. What the owner has to
    /// change, such as a wrong token, is an error at once.
    pub retry_first: bool,
    /// The version to claim.
    pub version: Version,
}

impl LinkOptions {
    /// The defaults, for a URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            path: DEFAULT_PATH.into(),
            token: None,
            headers: Vec::new(),
            tls: TlsFiles::default(),
            transport: Transport::PollingThenWebsocket,
            reconnect: Some(Reconnect { max: LONGEST_PAUSE, ..Reconnect::default() }),
            retry_first: false,
            version: PROTOCOL_VERSION,
        }
    }

    /// What this side knows to explain a refusal.
    pub(crate) fn refusal_context(&self) -> RefusalContext {
        let in_header =
            |(name, _): &(String, Secret)| CREDENTIALS.iter().any(|header| name.eq_ignore_ascii_case(header));
        let has_credential = self.token.is_some() || self.headers.iter().any(in_header);
        RefusalContext { url: self.url.clone(), version: self.version, has_credential }
    }

    pub(crate) fn socket(&self, role: Role) -> Result<Options, TokenFileError> {
        let credential = Arc::new(Credential::new(self.token.as_ref())?);
        let options = Options::new(&self.url).tls_files(self.tls.clone());
        let with_header = |options: Options, (name, value): &(String, Secret)| options.header(name, value.expose());
        let options = self.headers.iter().fold(options, with_header);
        let options = options
            .path(&self.path)
            .namespace(NAMESPACE)
            .query(VERSION_QUERY, self.version.to_string())
            .transport(self.transport)
            .reconnect(self.reconnect)
            .retry_first(self.retry_first);
        let shown = credential.clone();
        let options = options.auth_from(move || auth(role, shown.token().as_ref()));
        let (refusal_context, reconnect_log) = (self.refusal_context(), ReconnectLog::new(redact_url(&self.url)));
        Ok(options.retry_when(move |failed| {
            let said = refusal_context.said(failed.error);
            let reason = said.as_ref().map_or_else(|| failed.error.to_string(), ToString::to_string);
            reconnect_log.should_retry(failed, &reason, outlook(failed, said.as_ref(), credential.file()))
        }))
    }
}

/// The authentication payload of the CONNECT.
fn auth(role: Role, token: Option<&Secret>) -> Box<RawValue> {
    #[derive(Serialize)]
    struct ConnectAuth<'a> {
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<&'a str>,
    }
    let auth = ConnectAuth { role, token: token.map(Secret::expose) };
    to_raw_value(&auth).expect("a role and a text can be written as JSON")
}

/// What to expect after a failed attempt.
fn outlook<'a>(
    failed: &FailedAttempt<'_>,
    said: Option<&ConnectError>,
    token_file: Option<&'a Path>,
) -> RetryOutlook<'a> {
    match (said, token_file) {
        (Some(ConnectError::NotNow(_)), _) => RetryOutlook::Passing,
        (Some(ConnectError::Unauthorized | ConnectError::Forbidden(_)), Some(file)) if !failed.is_first_link => {
            RetryOutlook::AwaitsToken(file)
        }
        _ if failed.error.is_final() => RetryOutlook::Hopeless,
        _ if failed.is_first_link && is_mistake(failed.error) => RetryOutlook::Hopeless,
        _ => RetryOutlook::Passing,
    }
}

/// Whether a failed first connection looks like a mistake of the owner. A hub that was reached before may be in the
/// middle of a change; one that never was is more likely not what the options say.
fn is_mistake(error: &SocketConnectError) -> bool {
    match error {
        SocketConnectError::Untrusted { .. }
        | SocketConnectError::ClientCertificate { .. }
        | SocketConnectError::NotTls(_)
        | SocketConnectError::NotHttp(_)
        | SocketConnectError::Lost(DisconnectReason::Protocol(_) | DisconnectReason::Limit { .. }) => true,
        SocketConnectError::Http(refusal) => {
            !refusal.status.is_server_error() && !matches!(refusal.status.as_u16(), 408 | 429)
        }
        // Also what a port forwarder answers while there is no hub behind it.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(error: &SocketConnectError, is_first_link: bool) -> FailedAttempt<'_> {
        FailedAttempt::new(error, 1, Some(Duration::from_secs(1)), is_first_link)
    }

    #[test]
    fn a_hub_that_is_away_is_waited_for() {
        let away = [
            SocketConnectError::Transport("refused".into()),
            SocketConnectError::ClosedEarly("reset".into()),
            SocketConnectError::Timeout(Duration::from_secs(20)),
            SocketConnectError::Lost(DisconnectReason::ServerClosed(None)),
        ];
        for (error, is_first) in away.iter().flat_map(|error| [(error, true), (error, false)]) {
            assert_eq!(outlook(&attempt(error, is_first), None, None), RetryOutlook::Passing, "{error}");
        }
    }

    #[test]
    fn a_mistake_ends_only_the_first_connection() {
        let mistakes = [
            SocketConnectError::NotTls("x".into()),
            SocketConnectError::NotHttp("x".into()),
            SocketConnectError::Lost(DisconnectReason::Protocol("x".into())),
        ];
        for error in &mistakes {
            assert_eq!(outlook(&attempt(error, true), None, None), RetryOutlook::Hopeless, "{error}");
            assert_eq!(outlook(&attempt(error, false), None, None), RetryOutlook::Passing, "{error}");
        }
        let (file, error) = (Path::new("token"), SocketConnectError::Timeout(Duration::ZERO));
        let refused = Some(&ConnectError::Unauthorized);
        assert_eq!(outlook(&attempt(&error, false), refused, Some(file)), RetryOutlook::AwaitsToken(file));
    }

    #[test]
    fn a_member_is_back_soon_after_its_hub() {
        let policy = LinkOptions::new("http://h").reconnect.unwrap();
        assert!(policy.max < Duration::from_secs(5) && policy.max_attempts.is_none(), "{policy:?}");
    }
}
