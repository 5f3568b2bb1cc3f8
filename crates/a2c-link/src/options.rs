//! The options of a connection to a hub.

use std::path::Path;
use std::sync::Arc;

use a2c_protocol::version::VERSION_QUERY;
use a2c_protocol::{DEFAULT_PATH, NAMESPACE, PROTOCOL_VERSION, Role, Version};
use a2c_secrets::Secret;
use a2c_socketio::{Options, Reconnect, SocketConnectError, TlsFiles, Transport};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::{ConnectError, RefusalContext};
use crate::reconnect_log::{ReconnectLog, RetryOutlook};
use crate::token::{Credential, Token, TokenFileError};

/// Headers in which a hub looks for a credential.
const CREDENTIALS: [&str; 3] = ["authorization", "x-api-key", "access_token"];

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
            reconnect: Some(Reconnect::default()),
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
            .reconnect(self.reconnect);
        let shown = credential.clone();
        let options = options.auth_from(move || auth(role, shown.token().as_ref()));
        let (refusal_context, reconnect_log) = (self.refusal_context(), ReconnectLog::default());
        Ok(options.retry_when(move |failed| {
            let said = refusal_context.said(failed.error);
            let reason = said.as_ref().map_or_else(|| failed.error.to_string(), ToString::to_string);
            reconnect_log.should_retry(failed.number, &reason, outlook(failed.error, said.as_ref(), credential.file()))
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
    error: &SocketConnectError,
    said: Option<&ConnectError>,
    token_file: Option<&'a Path>,
) -> RetryOutlook<'a> {
    match (said, token_file) {
        (Some(ConnectError::NotNow(_)), _) => RetryOutlook::Passing,
        (Some(ConnectError::Unauthorized | ConnectError::Forbidden(_)), Some(file)) => RetryOutlook::AwaitsToken(file),
        _ if error.is_final() => RetryOutlook::Hopeless,
        _ => RetryOutlook::Passing,
    }
}
