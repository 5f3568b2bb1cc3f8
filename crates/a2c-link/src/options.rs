//! Where the hub is and how it is reached.

use std::fmt;

use a2c_protocol::version::VERSION_QUERY;
use a2c_protocol::{DEFAULT_PATH, NAMESPACE, PROTOCOL_VERSION, Role, Version};
use a2c_socketio::{Options, Reconnect, TlsFiles, Transport};

/// A value that is never printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Hides a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Where the hub is and how it is reached.
#[derive(Debug, Clone)]
pub struct LinkOptions {
    /// `http://` or `https://`, host and port.
    pub url: String,
    /// The HTTP path of the handshake; hubs in the field also use `/socket.io`.
    pub path: String,
    /// What the hub may ask for.
    pub token: Option<Secret>,
    /// HTTP headers for what stands between this side and the hub, sent with every request.
    pub headers: Vec<(String, Secret)>,
    /// For `https://`: CAs to trust besides those of the system, and a client certificate.
    pub tls: TlsFiles,
    /// Polling first lets a refusal be read in every network; websocket only saves a round trip.
    pub transport: Transport,
    /// Whether and how a lost connection is taken up again.
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

    pub(crate) fn socket(&self, role: Role) -> Options {
        let mut auth = serde_json::json!({ "role": role });
        if let Some(token) = &self.token {
            auth["token"] = token.expose().into();
        }
        let options = Options::new(&self.url).tls_files(self.tls.clone());
        let with_header = |options: Options, (name, value): &(String, Secret)| options.header(name, value.expose());
        let options = self.headers.iter().fold(options, with_header);
        options
            .path(&self.path)
            .namespace(NAMESPACE)
            .query(VERSION_QUERY, self.version.to_string())
            .auth(auth)
            .transport(self.transport)
            .reconnect(self.reconnect)
    }
}
