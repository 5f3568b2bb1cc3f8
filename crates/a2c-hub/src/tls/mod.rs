//! TLS for the listener: who the hub is, and which clients it lets in.
//!
//! How data flows: [`ServerTls::load`] reads the files (`credentials`) into settings that every new connection shares;
//! [`ServerTls::accept`] makes the handshake with the settings of that moment and tells who the client is (`subject`);
//! [`ServerTls::reload`], asked for or by [`ServerTls::watch`] when the files look different (`file_stamps`), puts new settings in their
//! place. Connections keep what they began with. [`TlsConfig::check`] tries the files without a listener.

mod check;
mod credentials;
mod file_stamps;
mod subject;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use check::TlsCheck;
use credentials::Credentials;
pub use credentials::TlsError;
use file_stamps::FileStamps;

/// Encrypted bytes that may wait for a slow reader, per connection: two records. More would only be memory, since the
/// outbox of a member waits in front of it.
const SEND_BUFFER: usize = 32 << 10;

/// How long, and for how many bytes, a refused client is listened to, so that it can read why before the connection goes.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELL_BYTES: u64 = 64 << 10;

/// The files that make a hub speak TLS, all of them PEM.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// The certificate of the hub, followed by those between it and its root.
    pub certificate: PathBuf,
    /// The private key of that certificate, not encrypted.
    pub key: PathBuf,
    /// Only clients with a certificate of these CAs get in. Without this, certificates are not asked for.
    pub client_ca: Option<PathBuf>,
    /// How often the files are looked at for changes; zero for never.
    pub reload: Duration,
}

/// TLS as it is at the moment. Cheap to clone; all clones change together.
#[derive(Clone)]
pub(crate) struct ServerTls {
    shared: Arc<TlsState>,
}

struct TlsState {
    config: TlsConfig,
    /// What new connections get.
    serving: RwLock<Arc<ServerConfig>>,
    /// What that was made of; held while it is replaced, so that two reloads do not cross.
    loaded: Mutex<LoadedFiles>,
}

struct LoadedFiles {
    credentials: Credentials,
    /// What the files looked like when they were last read, also if they could not be used.
    seen: FileStamps,
}

impl ServerTls {
    /// Reads the files for the first time.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsError> {
        let seen = FileStamps::of(config);
        let credentials = Credentials::read(config)?;
        let serving = RwLock::new(settings(&credentials)?);
        warn(&credentials, config);
        let loaded = Mutex::new(LoadedFiles { credentials, seen });
        Ok(Self { shared: Arc::new(TlsState { config: config.clone(), serving, loaded }) })
    }

    /// Makes the handshake, and tells the name in the client's certificate if one was asked for. How long that may take
    /// is for the caller to say.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<(TlsStream<TcpStream>, Option<Arc<str>>)> {
        let settings = self.shared.serving.read().unwrap_or_else(PoisonError::into_inner).clone();
        let accept = TlsAcceptor::from(settings).accept_with(stream, |tls| tls.set_buffer_limit(Some(SEND_BUFFER)));
        match accept.into_fallible().await {
            Ok(stream) => {
                let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                let subject = chain.first().and_then(|certificate| subject::of(certificate));
                Ok((stream, subject))
            }
            Err((error, stream)) => {
                if self.shared.config.client_ca.is_some() {
                    part(stream).await;
                }
                Err(explained(error))
            }
        }
    }

    /// Reads the files again, whatever they look like. `true` if new connections now get something else; after an error
    /// they get what they got before.
    pub(crate) fn reload(&self) -> Result<bool, TlsError> {
        self.shared.reload()
    }

    /// Looks at the files from time to time and reloads them when they have changed. Ends when the last [`ServerTls`] is gone.
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
                // A file may lie on a disk that takes its time.
                let looked = tokio::task::spawn_blocking(move || shared.look());
                if looked.await.is_err() {
                    return;
                }
            }
        }
    }
}

impl TlsState {
    /// Reloads if the files have changed, and logs what came of it.
    fn look(&self) {
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

    fn reload(&self) -> Result<bool, TlsError> {
        self.replace(&mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, loaded: &mut LoadedFiles) -> Result<bool, TlsError> {
        // Before reading: what changes meanwhile is seen as a change the next time. Also kept if reading fails, so that
        // a broken file is told once.
        loaded.seen = FileStamps::of(&self.config);
        let fresh = Credentials::read(&self.config)?;
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

/// Once for each certificate, however often its files are read.
fn warn(credentials: &Credentials, config: &TlsConfig) {
    credentials.oddities(config).iter().for_each(|odd| tracing::warn!("{odd}"));
}

fn settings(credentials: &Credentials) -> Result<Arc<ServerConfig>, TlsError> {
    let mut settings = credentials.settings()?;
    // Websockets and polling exist in HTTP/1.1 only.
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    if credentials.asks_clients() {
        // A resumed session is let in without another look at the client's certificate, which may have expired since.
        settings.session_storage = Arc::new(NoServerSessionStorage {});
        settings.send_tls13_tickets = 0;
    }
    Ok(Arc::new(settings))
}

/// Leaves a client that was refused. A client may have sent its request already: with that unread, the system resets the
/// connection, and the alert that says why is lost on its way.
async fn part(mut stream: TcpStream) {
    let listen = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(FAREWELL_BYTES), &mut tokio::io::sink()).await
    };
    let _ = timeout(FAREWELL, listen).await;
}

/// The most usual mistake deserves more than "corrupt message".
fn explained(error: io::Error) -> io::Error {
    use rustls::{Error, InvalidMessage};
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            io::Error::new(error.kind(), "the client does not speak TLS (http:// instead of https://?)")
        }
        _ => error,
    }
}
