//! Documents that the Computer itself serves over HTTP, at addresses that cannot be guessed and that expire.
//!
//! A document goes into a private folder (`published`), and its address, with a random token, to the Agent. `serve` answers
//! requests that have a valid token; all others get the same answer.

mod published;
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

use self::published::{PublicationLimits, PublishedDocuments};
use self::serve::DocumentService;
use crate::answer;
use crate::clock::Clock;
use crate::resolver::{DpeContents, DpeResolver, ResolveError, SourceDocument};

/// How documents are served.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Where to listen. The default is a free port on the loopback address.
    pub address: SocketAddr,
    /// The URL that Agents use, if a reverse proxy stands in front: its root leads to the listener.
    pub public_url: Option<Url>,
    /// How long an address is valid.
    pub lifetime: Duration,
    /// How many documents are published at a time; the oldest go first.
    pub max_documents: usize,
    /// How many bytes all documents may have together.
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

/// Serves documents over HTTP. Its files are removed when it is closed or dropped.
pub struct HttpListener {
    published: Arc<PublishedDocuments>,
    address: SocketAddr,
    base: String,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl HttpListener {
    /// Begins to listen and to serve.
    pub async fn start(options: HttpOptions) -> io::Result<Self> {
        Self::start_with(options, Clock::default()).await
    }

    async fn start_with(options: HttpOptions, clock: Clock) -> io::Result<Self> {
        let ip = options.address.ip();
        if ip.is_unspecified() && options.public_url.is_none() {
            let message = format!("{ip} is no address that an Agent could connect to: name one of this machine");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        if !is_loopback(ip) {
            tracing::warn!(%address, "documents can be fetched from other machines, unencrypted, with their URL alone");
        }
        let base = match &options.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        };
        let limits = PublicationLimits {
            lifetime: options.lifetime,
            max_documents: options.max_documents,
            max_bytes: options.max_bytes,
        };
        let published = Arc::new(PublishedDocuments::new(limits, clock)?);
        // A web page could reach a loopback listener through a name of its own that resolves to this machine. Its requests
        // then carry that name in `Host`.
        let hosts = is_loopback(ip).then(|| allowed_hosts(address, options.public_url.as_ref()));
        let stop = CancellationToken::new();
        let service = DocumentService { published: published.clone(), hosts };
        let task = tokio::spawn(serve::serve(listener, Arc::new(service), stop.clone()));
        Ok(Self { published, address, base, stop, task: Mutex::new(Some(task)) })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token in an address that this listener gave.
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
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
        let json = match &document.contents {
            DpeContents::External(external) => return Ok(external.answer()),
            DpeContents::Inline(json) => json.clone(),
        };
        let published = self.published.put(&document.uri, &document.etag, json).await;
        let (token, expires) = published.map_err(|error| {
            ResolveError::new("this Computer could not store the document for its listener").caused_by(error)
        })?;
        Ok(A2cResource { meta: answer::expiring(expires), ..document.at(format!("{}/{token}", self.base)) })
    }

    async fn still_holds(&self, resource: &A2cResource) -> bool {
        self.token(resource).is_none_or(|token| self.published.find(token).is_some())
    }

    fn outdated(&self, resource: &A2cResource) {
        if let Some(token) = self.token(resource) {
            self.published.remove_document(token);
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
        self.published.close();
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The port that a URL need not name.
const HTTP_PORT: u16 = 80;

/// The values of `Host` that a loopback listener accepts.
fn allowed_hosts(address: SocketAddr, public: Option<&Url>) -> Vec<String> {
    let mut hosts = vec![address.to_string(), format!("localhost:{}", address.port())];
    if address.port() == HTTP_PORT {
        // Clients leave the default port out.
        let bare = address.to_string();
        hosts.extend([bare.trim_end_matches(&format!(":{HTTP_PORT}")).to_owned(), "localhost".to_owned()]);
    }
    hosts.extend(public.map(|url| url.authority().to_owned()));
    hosts
}

#[cfg(test)]
mod tests;
