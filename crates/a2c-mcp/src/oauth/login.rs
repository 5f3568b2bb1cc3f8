//! Signing in and out.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use a2c_protocol::config::StreamableParameters;
use rmcp::transport::auth::{AuthError, AuthorizationManager};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::authorization_http::{self, AddressError, AuthorizationHttp};
use super::callback::{Callback, CallbackServer};
use super::sign_in::SignInEntry;
use super::{TokenStore, TokenStoreError};
use crate::http::{self, HttpSetupError, ParameterError};

/// How long the owner may take in the browser.
const BROWSER_LIMIT: Duration = Duration::from_secs(300);

/// Why the owner is not signed in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server's parameters do not allow for it.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The HTTP client cannot be set up.
    #[error(transparent)]
    Setup(#[from] HttpSetupError),
    /// The server has no authorisation server.
    #[error("the server does not say where to sign in: check its `url`, or write credentials into its `headers`")]
    NotOffered,
    /// Finding the authorisation server, or registering with it, failed.
    #[error("signing in cannot begin: {0}")]
    Begin(#[source] AuthError),
    /// The server sends the browser to an address that is not allowed.
    #[error("the server sends the browser to a wrong place: {0}")]
    WrongPlace(#[from] AddressError),
    /// No port on this machine for the browser to come back to.
    #[error("the browser's answer cannot be waited for: {0}")]
    Callback(#[source] std::io::Error),
    /// The owner or the authorisation server refused.
    #[error("signing in was refused: {0}")]
    Denied(String),
    /// The browser did not come back.
    #[error("the browser did not finish signing in within {} minutes: try again", BROWSER_LIMIT.as_secs() / 60)]
    TimedOut,
    /// The tokens were not given out, or cannot be kept.
    #[error("signing in cannot be finished: {0}")]
    Finish(#[source] AuthError),
}

/// Signs in to the streamable server of this name: finds its authorisation server, has `open_browser` show the owner a
/// URL, waits for the browser to come back and keeps the tokens.
pub async fn login(
    name: &str,
    parameters: &StreamableParameters,
    store: Arc<dyn TokenStore>,
    open_browser: impl FnOnce(&str),
) -> Result<(), LoginError> {
    let url = http::address(&parameters.url)?;
    if http::headers(parameters.headers.as_ref())?.contains_key(AUTHORIZATION) {
        return Err(ParameterError::AuthorizationHeader.into());
    }
    let server = CallbackServer::open().await.map_err(LoginError::Callback)?;
    let entry = SignInEntry::new(name, &url, store);
    // The library writes secrets to the log.
    let (manager, page) = begin(&url, &server, entry).with_subscriber(NoSubscriber::default()).await?;
    let state = page.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned());
    let state = state.ok_or(AddressError::NoState)?;
    open_browser(page.as_str());
    let callback =
        tokio::time::timeout(BROWSER_LIMIT, server.callback(&state)).await.map_err(|_| LoginError::TimedOut)?;
    match callback {
        Callback::Denied(reason) => Err(LoginError::Denied(reason)),
        Callback::Code { code, issuer } => {
            let exchange = manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref());
            exchange.with_subscriber(NoSubscriber::default()).await.map(drop).map_err(LoginError::Finish)
        }
    }
}

/// Why a sign-in is not forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogoutError {
    /// The server's parameters do not say which sign-in it is.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] TokenStoreError),
}

/// Forgets the sign-in to the server of this name. The authorisation server is not told.
pub async fn logout(
    name: &str,
    parameters: &StreamableParameters,
    store: Arc<dyn TokenStore>,
) -> Result<(), LogoutError> {
    let url = http::address(&parameters.url)?;
    Ok(SignInEntry::new(name, &url, store).clear().await?)
}

/// Finds the authorisation server and registers with it; gives the page for the browser.
async fn begin(
    url: &Url,
    server: &CallbackServer,
    entry: SignInEntry,
) -> Result<(AuthorizationManager, Url), LoginError> {
    let http = AuthorizationHttp::new(url).map_err(HttpSetupError::from)?;
    let manager = AuthorizationManager::new_with_oauth_http_client(url.clone(), http).await;
    let mut manager = manager.map_err(LoginError::Begin)?;
    manager.set_credential_store(entry.clone());
    let found = manager.resolve_metadata().await.map_err(LoginError::Begin)?;
    if !found.source.is_discovered() {
        return Err(LoginError::NotOffered);
    }
    manager.set_metadata(found.metadata);
    let scopes = manager.select_initial_scopes(&[]).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = manager.register_client("a2c", &server.address(), &scopes).await.map_err(LoginError::Begin)?;
    entry.set_client_secret(client.client_secret);
    let page = manager.get_authorization_url(&scopes).await.map_err(LoginError::Begin)?;
    let page: Url = page.parse().map_err(|_| AddressError::NotAnAddress)?;
    authorization_http::check(url, &page)?;
    Ok((manager, page))
}
