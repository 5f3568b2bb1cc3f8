//! The options of a connection. The builder cannot fail: it keeps the first mistake, and
//! [`crate::Client::connect`] reports it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::InvalidOptions;
use crate::packet_assembler::MessageLimits;
use crate::reconnect::Reconnect;
use crate::retry::{AuthSource, FailedAttempt, RetryDecision};
use crate::tls::{TlsFiles, TlsSource};

/// Which transports a connection uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// HTTP long-polling first, then websocket when the server offers it and the probe succeeds.
    #[default]
    PollingThenWebsocket,
    /// Websocket from the first request on.
    Websocket,
    /// HTTP long-polling only.
    Polling,
}

/// The description of a connection.
#[derive(Clone)]
pub struct Options {
    pub(crate) url: String,
    pub(crate) path: String,
    pub(crate) namespace: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) auth: AuthSource,
    pub(crate) headers: HeaderMap,
    pub(crate) transport: Transport,
    pub(crate) reconnect: Option<Reconnect>,
    pub(crate) retry_first: bool,
    pub(crate) retry: RetryDecision,
    pub(crate) tls: TlsSource,
    pub(crate) connect_timeout: Duration,
    pub(crate) close_timeout: Duration,
    pub(crate) limits: MessageLimits,
    pub(crate) inbox_capacity: usize,
    pub(crate) outgoing_capacity: usize,
    /// The first mistake the builder was given.
    mistake: Option<InvalidOptions>,
}

impl Options {
    /// A connection to `url` (`http`, `https`, `ws` or `wss`), which carries scheme, host and
    /// port; the path goes to [`Options::path`].
    pub fn new(url: impl Into<String>) -> Self {
        Options {
            url: url.into(),
            path: "/socket.io".into(),
            namespace: "/".into(),
            query: Vec::new(),
            auth: AuthSource::None,
            headers: HeaderMap::new(),
            transport: Transport::default(),
            reconnect: Some(Reconnect::default()),
            retry_first: false,
            retry: Arc::new(|failed| !failed.error.is_final()),
            tls: TlsSource::Files(TlsFiles::default()),
            connect_timeout: Duration::from_secs(20),
            close_timeout: Duration::from_secs(2),
            limits: MessageLimits { message: 64 << 20, attachments: 64 },
            inbox_capacity: 16_384,
            outgoing_capacity: 256,
            mistake: None,
        }
    }

    /// The path of the Engine.IO endpoint. Default: `/socket.io`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The namespace. Default: `/`.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        if !self.namespace.starts_with('/') || self.namespace.contains(|c: char| c == ',' || c == '?' || c.is_control())
        {
            self.mistaken(InvalidOptions::Namespace);
        }
        self
    }

    /// Adds a query parameter, sent with every HTTP request including the websocket upgrade.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        if matches!(name.as_str(), "EIO" | "transport" | "sid") {
            self.mistaken(InvalidOptions::ReservedQuery);
        }
        self.query.push((name, value.into()));
        self
    }

    /// The authentication payload of the namespace handshake.
    pub fn auth(mut self, auth: impl Serialize) -> Self {
        match to_raw_value(&auth) {
            Ok(raw) => self.auth = AuthSource::Fixed(raw),
            Err(_) => self.mistaken(InvalidOptions::Auth),
        }
        self
    }

    /// An authentication payload that may change: `ask` is called before every handshake, the first one included, and
    /// has to answer at once. Takes the place of [`Options::auth`].
    pub fn auth_from(mut self, ask: impl Fn() -> Box<RawValue> + Send + Sync + 'static) -> Self {
        self.auth = AuthSource::Asked(Arc::new(ask));
        self
    }

    /// Adds an HTTP header, sent with every HTTP request including the websocket upgrade.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let name = HeaderName::from_bytes(name.as_ref().as_bytes());
        let value = HeaderValue::from_str(value.as_ref());
        match (name, value) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.append(name, value);
            }
            _ => self.mistaken(InvalidOptions::Header),
        }
        self
    }

    /// The transports to use. Default: [`Transport::PollingThenWebsocket`].
    pub fn transport(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self
    }

    /// The policy for replacing a lost link; `None` to stay disconnected.
    pub fn reconnect(mut self, policy: impl Into<Option<Reconnect>>) -> Self {
        self.reconnect = policy.into();
        self
    }

    /// Whether the policy of [`Options::reconnect`] holds for the first link, too: then [`crate::Client::connect`] tries
    /// until the server answers. Default: the first link is tried once.
    pub fn retry_first(mut self, retry_first: bool) -> Self {
        self.retry_first = retry_first;
        self
    }

    /// Decides after every failed attempt to replace a lost link whether another one is made, as far as the policy of
    /// [`Options::reconnect`] allows it. Default: yes, unless [`SocketConnectError::is_final`](crate::SocketConnectError::is_final).
    ///
    /// This is also the place to learn why a link stays away.
    pub fn retry_when(mut self, judge: impl Fn(&FailedAttempt<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.retry = Arc::new(judge);
        self
    }

    /// TLS settings for `https` and `wss`. Default: the system's trusted certificates.
    pub fn tls(mut self, config: Arc<rustls::ClientConfig>) -> Self {
        self.tls = TlsSource::Config(config);
        self
    }

    /// Files for `https` and `wss`: CAs to trust besides those of the system, and a client certificate. Takes the place
    /// of [`Options::tls`].
    pub fn tls_files(mut self, files: TlsFiles) -> Self {
        self.tls = TlsSource::Files(files);
        self
    }

    /// How long a whole handshake (transport, upgrade and namespace) may take. Default: 20 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long a close may take: queued packets are sent and the server confirms the end.
    /// Default: 2 s.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// Bytes one message may have in either direction, and all attachments of one incoming
    /// packet together. Outgoing messages also respect the server's own limit. Default: 64 MiB.
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.limits.message = bytes;
        self
    }

    /// Attachments one incoming packet may have. Default: 64.
    pub fn max_attachments(mut self, count: usize) -> Self {
        self.limits.attachments = count;
        self
    }

    /// Events that may wait in the inbox; one more drops the link. Default: 16,384.
    pub fn inbox_capacity(mut self, events: usize) -> Self {
        self.inbox_capacity = events;
        self
    }

    /// Packets that may wait to be written; senders of more wait in turn. Default: 256.
    pub fn outgoing_capacity(mut self, packets: usize) -> Self {
        self.outgoing_capacity = packets.max(1);
        self
    }

    pub(crate) fn check(&self) -> Result<(), InvalidOptions> {
        self.mistake.clone().map_or(Ok(()), Err)
    }

    fn mistaken(&mut self, mistake: InvalidOptions) {
        self.mistake.get_or_insert(mistake);
    }
}

/// Without the query, headers and authentication payload: those may be secrets.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("path", &self.path)
            .field("namespace", &self.namespace)
            .field("transport", &self.transport)
            .field("reconnect", &self.reconnect)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let options = Options::new("http://user:s3cret@h")
            .query("token", "s3cret")
            .header("authorization", "s3cret")
            .auth("s3cret");
        assert!(!format!("{options:?}").contains("s3cret"));
    }

    #[test]
    fn the_first_mistake_is_kept() {
        let options = Options::new("http://h").namespace("chat").query("sid", "x");
        assert_eq!(options.check(), Err(InvalidOptions::Namespace));
    }
}
