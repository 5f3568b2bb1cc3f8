//! TLS of the listener: the certificate of the hub, and the client certificates that it accepts.
//!
//! How data flows: [`ServerTls::load`] reads the files (`server_credentials`) into settings that new connections share;
//! [`ServerTls::accept`] makes the handshake with the present settings and returns the subject of the client
//! (`subject`); [`ServerTls::reload`], called by the owner or by [`ServerTls::watch`] when the files have changed
//! (`file_stamps`), replaces the settings. Open connections keep theirs. [`TlsConfig::check`] tries the files without a
//! listener.

mod check;
mod file_stamps;
mod server_credentials;
mod subject;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use check::TlsCheck;
use file_stamps::FileStamps;
use server_credentials::ServerCredentials;
pub use server_credentials::TlsConfigError;

/// Encrypted bytes that may wait for a slow reader, per connection: two records. More would only cost memory, since the
/// packets of a member wait in its send queue.
const SEND_BUFFER: usize = 32 << 10;

/// How long, and for how many bytes, the hub reads from a refused client, so that the client can read the alert.
const ALERT_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_UNREAD: u64 = 64 << 10;

/// The TLS files of a hub, all in PEM.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// The certificate of the hub, followed by the intermediate certificates.
    pub certificate: PathBuf,
    /// The unencrypted private key of the certificate.
    pub key: PathBuf,
    /// The CAs of client certificates: the hub accepts only clients with a certificate of one of them. Without this, the
    /// hub asks for no client certificate.
    pub client_ca: Option<PathBuf>,
    /// How often the hub checks the files for changes; zero for never.
    pub reload: Duration,
}

/// The TLS settings of the hub, which can be reloaded. Cheap to clone; all clones share the settings.
#[derive(Clone)]
pub(crate) struct ServerTls {
    shared: Arc<TlsState>,
}

struct TlsState {
    config: TlsConfig,
    /// The settings of new connections.
    serving: RwLock<Arc<ServerConfig>>,
    /// The files that the settings were made of. Locked during a reload, so that two reloads do not interleave.
    loaded: Mutex<LoadedFiles>,
}

struct LoadedFiles {
    credentials: ServerCredentials,
    /// The stamps of the files when they were last read, also where they were unusable.
    seen: FileStamps,
}

/// A client's certificate that the listener has verified.
#[derive(Debug, Clone)]
pub(crate) struct VerifiedCertificate {
    pub(crate) subject: Arc<str>,
    /// When it is not valid any more.
    pub(crate) ends: SystemTime,
}

impl ServerTls {
    /// Reads the files for the first time.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsConfigError> {
        let seen = FileStamps::of(config);
        let credentials = ServerCredentials::read(config)?;
        let serving = RwLock::new(settings(&credentials)?);
        warn(&credentials, config);
        let loaded = Mutex::new(LoadedFiles { credentials, seen });
        Ok(Self { shared: Arc::new(TlsState { config: config.clone(), serving, loaded }) })
    }

    /// Makes the handshake and returns the client's certificate, where the hub asks for one. The caller sets a time limit.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(TlsStream<TcpStream>, Option<VerifiedCertificate>)> {
        let settings = self.shared.serving.read().unwrap_or_else(PoisonError::into_inner).clone();
        let accept = TlsAcceptor::from(settings).accept_with(stream, |tls| tls.set_buffer_limit(Some(SEND_BUFFER)));
        match accept.into_fallible().await {
            Ok(stream) => {
                let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                let certificate = chain.first().and_then(|certificate| {
                    let (_, not_after) = subject::validity(certificate)?;
                    Some(VerifiedCertificate {
                        subject: subject::of(certificate)?,
                        ends: SystemTime::UNIX_EPOCH + not_after.to_unix_duration(),
                    })
                });
                Ok((stream, certificate))
            }
            Err((error, stream)) => {
                if self.shared.config.client_ca.is_some() {
                    close_after_alert(stream).await;
                }
                Err(error)
            }
        }
    }

    /// Reads the files again. Returns whether the settings changed; after an error the old settings stay.
    pub(crate) fn reload(&self) -> Result<bool, TlsConfigError> {
        self.shared.reload()
    }

    /// Checks the files at intervals and reloads them when they have changed. Ends when the last [`ServerTls`] is dropped.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + Send + use<> {
        let shared = Arc::downgrade(&self.shared);
        let every = self.shared.config.reload;
        async move {
            if every.is_zero() {
                return;
            }
            let mut interval = interval(every);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                interval.tick().await;
                let Some(shared) = shared.upgrade() else { return };
                // The files may be on a slow disk.
                let checked = tokio::task::spawn_blocking(move || shared.reload_if_changed());
                if checked.await.is_err() {
                    return;
                }
            }
        }
    }
}

impl TlsState {
    /// Reloads the files if they have changed, and logs the outcome.
    fn reload_if_changed(&self) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded.seen.differs_from(&FileStamps::of(&self.config)) {
            return;
        }
        match self.replace(&mut loaded) {
            Ok(true) => tracing::info!(certificate = %self.config.certificate.display(), "TLS files reloaded"),
            Ok(false) => {}
            Err(error) => tracing::error!("the TLS files changed and cannot be used; the old ones stay: {error}"),
        }
    }

    fn reload(&self) -> Result<bool, TlsConfigError> {
        self.replace(&mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, loaded: &mut LoadedFiles) -> Result<bool, TlsConfigError> {
        // Taken before reading, so that a change during the reading is seen next time, and kept if reading fails, so that
        // an unusable file is logged once.
        loaded.seen = FileStamps::of(&self.config);
        let fresh = ServerCredentials::read(&self.config)?;
        if fresh.are_those_of(&loaded.credentials) {
            return Ok(false);
        }
        let settings = settings(&fresh)?;
        warn(&fresh, &self.config);
        *self.serving.write().unwrap_or_else(PoisonError::into_inner) = settings;
        loaded.credentials = fresh;
        Ok(true)
    }
}

/// Logs the warnings about a certificate.
fn warn(credentials: &ServerCredentials, config: &TlsConfig) {
    credentials.warnings(config).iter().for_each(|warning| tracing::warn!("{warning}"));
}

fn settings(credentials: &ServerCredentials) -> Result<Arc<ServerConfig>, TlsConfigError> {
    let mut settings = credentials.settings()?;
    // The websocket upgrade exists only in HTTP/1.1.
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    if credentials.asks_clients() {
        // A resumed session would skip the check of the client's certificate, which may have expired since.
        settings.session_storage = Arc::new(NoServerSessionStorage {});
        settings.send_tls13_tickets = 0;
    }
    Ok(Arc::new(settings))
}

/// Closes the connection to a refused client. Where the client's request stays unread, the system resets the connection
/// and the client never reads the alert, so the hub reads a little first.
async fn close_after_alert(mut stream: TcpStream) {
    let listen = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(MAX_UNREAD), &mut tokio::io::sink()).await
    };
    let _ = timeout(ALERT_TIMEOUT, listen).await;
}

/// Whether the first bytes of a peer were no TLS at all.
pub(crate) fn is_no_tls(error: &io::Error) -> bool {
    let rustls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(rustls, Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)))
}
