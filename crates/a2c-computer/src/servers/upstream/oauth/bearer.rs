//! The sign-in of one connection: the token that its requests show, renewed when it is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use tokio::sync::Mutex;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::outside::Outside;
use super::shelf::{Shelf, SignIn};
use super::{StoreError, TokenStore};
use crate::servers::upstream::fault::Fault;
use crate::servers::upstream::refusal::Access;

/// How long it may take to notice that the owner signed out or in again.
const MEMORY: Duration = Duration::from_secs(10);

/// The sign-in to one server, as its connection uses it.
pub(crate) struct Bearer(Arc<Bound>);

/// A sign-in with what it is bound to.
struct Bound {
    name: String,
    url: Url,
    shelf: Shelf,
    /// Locked while a token is renewed, so that this is done once for all who wait for it.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sign_in: Option<SignIn>,
    read: Option<Instant>,
    /// The refresh token that was refused: there is no use in showing it again.
    refused: Option<String>,
}

impl Bearer {
    pub(crate) fn new(name: &str, url: &Url, store: Arc<dyn TokenStore>) -> Self {
        let shelf = Shelf::new(name, url, store);
        Self(Arc::new(Bound { name: name.to_owned(), url: url.clone(), shelf, kept: Mutex::default() }))
    }

    /// The header for a request; nothing where nobody signed in.
    pub(crate) async fn token(&self, access: &Access) -> Result<Option<HeaderValue>, Fault> {
        if let Some(sign_in) = self.0.kept.lock().await.remembered() {
            return header(sign_in).map(Some);
        }
        let (bound, access) = (self.0.clone(), access.clone());
        apart(async move { bound.current(&access).await }).await
    }

    /// The header for a request whose token the server did not take.
    pub(crate) async fn renew(&self, refused: &HeaderValue, access: &Access) -> Result<HeaderValue, Fault> {
        let (bound, access, refused) = (self.0.clone(), access.clone(), refused.clone());
        apart(async move { bound.other_than(&refused, &access).await }).await
    }
}

/// Runs to its end, even if the request is given up for which it is done: a refresh token works once, and what comes for
/// it must be kept.
async fn apart<T: Send + 'static>(work: impl Future<Output = Result<T, Fault>> + Send + 'static) -> Result<T, Fault> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|_| Err(Fault::SignIn("renewing it failed: try again".into())))
}

impl Kept {
    /// The sign-in, if it is fresh and was read not long ago.
    fn remembered(&self) -> Option<&SignIn> {
        let recent = self.read.is_some_and(|read| read.elapsed() <= MEMORY);
        self.sign_in.as_ref().filter(|sign_in| recent && sign_in.is_fresh())
    }
}

impl Bound {
    /// The header as of now.
    async fn current(&self, access: &Access) -> Result<Option<HeaderValue>, Fault> {
        let mut kept = self.kept.lock().await;
        if kept.remembered().is_none() {
            self.read(&mut kept).await?;
        }
        match &kept.sign_in {
            None => Ok(None),
            Some(sign_in) if sign_in.is_fresh() => header(sign_in).map(Some),
            Some(_) => self.refresh(&mut kept, access).await.map(Some),
        }
    }

    /// Another header than the one that was refused.
    async fn other_than(&self, refused: &HeaderValue, access: &Access) -> Result<HeaderValue, Fault> {
        let mut kept = self.kept.lock().await;
        // Somebody may have been faster: another request, another process, or the owner by signing in.
        self.read(&mut kept).await?;
        match kept.sign_in.as_ref().map(header).transpose()? {
            None => Err(Fault::Refused(access.required())),
            Some(other) if other != refused => Ok(other),
            Some(_) => self.refresh(&mut kept, access).await,
        }
    }

    async fn read(&self, kept: &mut Kept) -> Result<(), Fault> {
        kept.sign_in = self.shelf.read().await.map_err(unusable)?;
        kept.read = Some(Instant::now());
        Ok(())
    }

    /// Asks for a new token with what is kept.
    async fn refresh(&self, kept: &mut Kept, access: &Access) -> Result<HeaderValue, Fault> {
        let Some(old) = kept.sign_in.clone() else { return Err(Fault::Refused(access.required())) };
        let Some(token) = old.refresh_token() else { return Err(Fault::Refused(access.required())) };
        if kept.refused.as_deref() == Some(token) {
            return Err(Fault::Refused(access.over()));
        }
        // The library tells secrets to the log.
        let outcome = self.exchange(&old).with_subscriber(NoSubscriber::default()).await;
        self.read(kept).await?;
        let replaced = kept.sign_in.as_ref().filter(|new| new.header() != old.header());
        match (outcome, replaced) {
            // Also where the exchange failed because another process was faster with it.
            (_, Some(new)) => {
                tracing::debug!(server = self.name, "the sign-in is renewed");
                header(new)
            }
            (Ok(()), None) => Err(Fault::Refused(access.over())),
            (Err(error), None) => {
                tracing::warn!(
                    server = self.name,
                    error = old.redact(&error.to_string()),
                    "the sign-in cannot be renewed"
                );
                match error {
                    AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => {
                        kept.refused = Some(token.to_owned());
                        Err(Fault::Refused(access.over()))
                    }
                    AuthError::CredentialStoreError(problem) => Err(Fault::SignIn(problem)),
                    _ => Err(Fault::Refused(access.not_renewed())),
                }
            }
        }
    }

    async fn exchange(&self, old: &SignIn) -> Result<(), AuthError> {
        let outside = Outside::new(&self.url).map_err(|error| AuthError::InternalError(error.to_string()))?;
        let mut manager = AuthorizationManager::new_with_oauth_http_client(self.url.clone(), outside).await?;
        self.shelf.set_client_secret(old.client_secret.clone());
        manager.set_credential_store(self.shelf.clone());
        let metadata = manager.resolve_metadata().await?.metadata;
        // A refresh token is shown to nobody but who gave it out.
        if metadata.issuer != old.credentials.issuer {
            return Err(AuthError::AuthorizationRequired);
        }
        manager.set_metadata(metadata);
        let mut config = OAuthClientConfig::new(&old.credentials.client_id, self.url.as_str());
        config.client_secret = old.client_secret.clone();
        manager.configure_client(config)?;
        manager.refresh_token().await.map(drop)
    }
}

fn header(sign_in: &SignIn) -> Result<HeaderValue, Fault> {
    sign_in.header().ok_or_else(|| Fault::SignIn("its token cannot be sent: sign in anew".into()))
}

fn unusable(error: StoreError) -> Fault {
    Fault::SignIn(error.into_message())
}
