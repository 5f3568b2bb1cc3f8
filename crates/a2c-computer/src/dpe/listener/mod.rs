//! Documents served by the Computer itself, at addresses that nobody can guess and that expire.
//!
//! A document goes into a private folder (`kept`), and its address, which holds a random token, to the Agent; `serve`
//! answers those who come with a token, and looks the same to all others.

mod kept;
mod serve;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2c_protocol::context::A2cResource;
use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use self::kept::{Kept, KeptLimits};
use self::serve::Site;
use super::answer;
use super::clock::Clock;
use super::resolver::{Document, DpeContents, DpeResolver, ResolveError};

/// How documents are served.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Where to listen. The default is a free port of this machine only.
    pub address: SocketAddr,
    /// What Agents see of it, where that is something else: the address of a reverse proxy whose root leads here.
    pub public_url: Option<Url>,
    /// How long an address is good for.
    pub lifetime: Duration,
    /// How many documents are kept at a time; the oldest go first.
    pub max_documents: usize,
    /// How many bytes they may have together.
    pub max_bytes: u64,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            public_url: None,
            lifetime: Duration::from_secs(600),
            max_documents: 1000,
            max_bytes: 2 << 30,
        }
    }
}

/// Serves documents over HTTP. What it keeps is gone when it is closed or dropped.
pub struct HttpListener {
    kept: Arc<Kept>,
    address: SocketAddr,
    base: String,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl HttpListener {
    /// Listens and serves.
    pub async fn start(options: HttpOptions) -> io::Result<Self> {
        Self::start_with(options, Clock::default()).await
    }

    async fn start_with(options: HttpOptions, clock: Clock) -> io::Result<Self> {
        let wanted = options.address.ip();
        if wanted.is_unspecified() && options.public_url.is_none() {
            let message = format!("{wanted} is no address that an Agent could go to: name the one of this machine");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        if !is_loopback(wanted) {
            tracing::warn!(%address, "documents can be fetched from other machines, unencrypted, by whoever has their URL");
        }
        let base = match &options.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        };
        let limits = KeptLimits {
            lifetime: options.lifetime,
            max_documents: options.max_documents,
            max_bytes: options.max_bytes,
        };
        let kept = Arc::new(Kept::new(limits, clock)?);
        // On this machine any web page could reach us, by a name of its own that leads here: it would call us by that.
        let names = is_loopback(wanted).then(|| names(address, options.public_url.as_ref()));
        let stop = CancellationToken::new();
        let site = Site { kept: kept.clone(), names };
        let task = tokio::spawn(serve::serve(listener, Arc::new(site), stop.clone()));
        Ok(Self { kept, address, base, stop, task: Mutex::new(Some(task)) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token in one of our addresses.
    fn token<'a>(&self, resource: &'a A2cResource) -> Option<&'a str> {
        resource.uri.strip_prefix(&self.base)?.strip_prefix('/')
    }
}

impl Drop for HttpListener {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[async_trait]
impl DpeResolver for HttpListener {
    async fn resolve(&self, document: &Document) -> Result<A2cResource, ResolveError> {
        let json = match &document.contents {
            DpeContents::External(elsewhere) => return Ok(elsewhere.answer()),
            DpeContents::Inline(json) => json.clone(),
        };
        let kept = self.kept.put(&document.uri, &document.etag, json).await;
        let (token, expires) = kept.map_err(|error| {
            ResolveError::new("the document could not be kept for its listener by this Computer").caused_by(error)
        })?;
        Ok(A2cResource { meta: answer::expiring(expires), ..document.at(format!("{}/{token}", self.base)) })
    }

    async fn still_holds(&self, resource: &A2cResource) -> bool {
        self.token(resource).is_none_or(|token| self.kept.find(token).is_some())
    }

    fn outdated(&self, resource: &A2cResource) {
        if let Some(token) = self.token(resource) {
            self.kept.drop_document(token);
        }
    }

    async fn close(&self) {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the listener for documents failed");
        }
        self.kept.clear();
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The port that nobody has to name.
const HTTP_PORT: u16 = 80;

/// By which names a listener on this machine may be called.
fn names(address: SocketAddr, public: Option<&Url>) -> Vec<String> {
    let mut names = vec![address.to_string(), format!("localhost:{}", address.port())];
    if address.port() == HTTP_PORT {
        // Clients leave the usual port out.
        let bare = address.to_string();
        names.extend([bare.trim_end_matches(&format!(":{HTTP_PORT}")).to_owned(), "localhost".to_owned()]);
    }
    names.extend(public.map(|url| url.authority().to_owned()));
    names
}

#[cfg(test)]
mod tests;
