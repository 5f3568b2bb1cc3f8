//! The sign-in of one connection: the token of its requests, renewed when it expires.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use tokio::sync::Mutex;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::authorization_http::AuthorizationHttp;
use super::challenge::Challenge;
use super::sign_in::{SignIn, SignInEntry};
use super::{TokenStore, TokenStoreError};
use crate::detail::Detail;
use crate::http::{AccessReason, Credentials, HttpError};

/// How long it may take to notice that the owner signed out or in again.
const MEMORY: Duration = Duration::from_secs(10);

/// Why the tokens of a sign-in cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] TokenStoreError),
    /// No header can hold the token.
    #[error("its token cannot be sent: sign in again")]
    Token,
    /// Renewing the token was interrupted.
    #[error("renewing it failed: try again")]
    Interrupted,
}

impl From<SignInError> for HttpError {
    fn from(error: SignInError) -> Self {
        Self::SignIn(Detail::new(error))
    }
}

/// The sign-in to one server, as its connection uses it.
pub(crate) struct Bearer(Arc<BearerInner>);

struct BearerInner {
    name: String,
    url: Url,
    entry: SignInEntry,
    /// Locked while a token is renewed, so that one renewal serves every request that waits for it.
    state: Mutex<TokenState>,
}

#[derive(Default)]
struct TokenState {
    sign_in: Option<SignIn>,
    read: Option<Instant>,
    /// The refresh token that was refused: showing it again does not help.
    refused: Option<String>,
    /// The challenge that was kept last.
    challenge: Option<Challenge>,
}

impl Bearer {
    pub(crate) fn new(name: &str, url: &Url, store: Arc<dyn TokenStore>) -> Self {
        let entry = SignInEntry::new(name, url, store);
        Self(Arc::new(BearerInner { name: name.to_owned(), url: url.clone(), entry, state: Mutex::default() }))
    }

    /// The header for a request; nothing where the owner did not sign in.
    pub(crate) async fn token(&self, credentials: &Credentials) -> Result<Option<HeaderValue>, HttpError> {
        if let Some(sign_in) = self.0.state.lock().await.remembered() {
            return header(sign_in).map(Some);
        }
        let (inner, credentials) = (self.0.clone(), credentials.clone());
        detached(async move { inner.current(&credentials).await }).await
    }

    /// The header for a request whose token the server did not take.
    pub(crate) async fn renew(
        &self,
        refused: &HeaderValue,
        credentials: &Credentials,
    ) -> Result<HeaderValue, HttpError> {
        let (inner, credentials, refused) = (self.0.clone(), credentials.clone(), refused.clone());
        detached(async move { inner.other_than(&refused, &credentials).await }).await
    }

    /// Keeps what the server said when it refused a request, for the next sign-in.
    pub(crate) async fn keep_challenge(&self, challenge: Challenge) {
        let mut state = self.0.state.lock().await;
        if state.challenge.as_ref() == Some(&challenge) {
            return;
        }
        match self.0.entry.keep_challenge(&challenge).await {
            Ok(()) => state.challenge = Some(challenge),
            // The owner can sign in all the same: most servers say it again when asked.
            Err(error) => tracing::debug!(server = self.0.name, %error, "the server's challenge cannot be kept"),
        }
    }
}

/// Runs to its end, even if the request that needs it is given up: a refresh token works once, and the new tokens must be
/// kept.
async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, HttpError>> + Send + 'static,
) -> Result<T, HttpError> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|_| Err(SignInError::Interrupted.into()))
}

impl TokenState {
    /// The sign-in, if it is fresh and was read not long ago.
    fn remembered(&self) -> Option<&SignIn> {
        let recent = self.read.is_some_and(|read| read.elapsed() <= MEMORY);
        self.sign_in.as_ref().filter(|sign_in| recent && sign_in.is_fresh())
    }
}

impl BearerInner {
    /// The header as of now.
    async fn current(&self, credentials: &Credentials) -> Result<Option<HeaderValue>, HttpError> {
        let mut state = self.state.lock().await;
        if state.remembered().is_none() {
            self.read(&mut state).await?;
        }
        match &state.sign_in {
            None => Ok(None),
            Some(sign_in) if sign_in.is_fresh() => header(sign_in).map(Some),
            Some(_) => self.refresh(&mut state, credentials).await.map(Some),
        }
    }

    /// Another header than the one that was refused.
    async fn other_than(&self, refused: &HeaderValue, credentials: &Credentials) -> Result<HeaderValue, HttpError> {
        let mut state = self.state.lock().await;
        // Another request, another process or the owner may have renewed it already.
        self.read(&mut state).await?;
        match state.sign_in.as_ref().map(header).transpose()? {
            None => Err(HttpError::Access(credentials.refused(AccessReason::Required))),
            Some(other) if other != refused => Ok(other),
            Some(_) => self.refresh(&mut state, credentials).await,
        }
    }

    async fn read(&self, state: &mut TokenState) -> Result<(), HttpError> {
        state.sign_in = self.entry.read().await.map_err(SignInError::Store)?;
        state.read = Some(Instant::now());
        Ok(())
    }

    /// Asks for a new token.
    async fn refresh(&self, state: &mut TokenState, credentials: &Credentials) -> Result<HeaderValue, HttpError> {
        let Some(old) = state.sign_in.clone() else {
            return Err(HttpError::Access(credentials.refused(AccessReason::Required)));
        };
        let Some(token) = old.refresh_token() else {
            return Err(HttpError::Access(credentials.refused(AccessReason::Required)));
        };
        if state.refused.as_deref() == Some(token) {
            return Err(HttpError::Access(credentials.refused(AccessReason::Expired)));
        }
        // The library writes secrets to the log.
        let outcome = self.exchange(&old).with_subscriber(NoSubscriber::default()).await;
        self.read(state).await?;
        let replaced = state.sign_in.as_ref().filter(|new| new.header() != old.header());
        match (outcome, replaced) {
            // Also where the exchange failed because another process had done it.
            (_, Some(new)) => {
                tracing::debug!(server = self.name, "the sign-in is renewed");
                header(new)
            }
            (Ok(()), None) => Err(HttpError::Access(credentials.refused(AccessReason::Expired))),
            (Err(error), None) => {
                tracing::warn!(
                    server = self.name,
                    error = old.redact(&error.to_string()),
                    "the sign-in cannot be renewed"
                );
                match error {
                    AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => {
                        state.refused = Some(token.to_owned());
                        Err(HttpError::Access(credentials.refused(AccessReason::Expired)))
                    }
                    AuthError::CredentialStoreError(problem) => {
                        Err(SignInError::Store(TokenStoreError::new(problem)).into())
                    }
                    _ => Err(HttpError::Access(credentials.refused(AccessReason::NotRenewed))),
                }
            }
        }
    }

    async fn exchange(&self, old: &SignIn) -> Result<(), AuthError> {
        let http = AuthorizationHttp::new(&self.url).map_err(|error| AuthError::InternalError(error.to_string()))?;
        let mut manager = AuthorizationManager::new_with_oauth_http_client(self.url.clone(), http.clone()).await?;
        self.entry.save_with(old.client_secret.clone(), old.challenge.clone());
        manager.set_credential_store(self.entry.clone());
        let metadata = http.discover(&manager, old.challenge.as_deref()).await?.metadata;
        // A refresh token goes only to the authorisation server that gave it out.
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

fn header(sign_in: &SignIn) -> Result<HeaderValue, HttpError> {
    sign_in.header().ok_or_else(|| SignInError::Token.into())
}
