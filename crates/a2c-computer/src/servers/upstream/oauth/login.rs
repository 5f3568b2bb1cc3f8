//! Signing in and out.

use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::config::StreamableParameters;
use http::header::AUTHORIZATION;
use rmcp::transport::auth::{AuthError, AuthorizationManager};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::landing::{Callback, Landing};
use super::outside::{self, Outside};
use super::shelf::Shelf;
use super::{StoreError, TokenStore};
use crate::servers::upstream::outgoing;

/// How long the owner may take in the browser.
const PATIENCE: Duration = Duration::from_secs(300);

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server's parameters do not allow for it.
    #[error("{0}")]
    Parameters(String),
    /// The server has no authorisation server.
    #[error("the server does not say where to sign in: check its `url`, or write credentials into its `headers`")]
    NotOffered,
    /// Finding the authorisation server, or becoming known to it, failed.
    #[error("signing in cannot begin: {0}")]
    Begin(#[source] AuthError),
    /// The server wants the browser to go where it must not.
    #[error("the server sends the browser to a wrong place: {0}")]
    WrongPlace(String),
    /// No port on this machine for the browser to come back to.
    #[error("the browser's answer cannot be waited for: {0}")]
    Landing(#[source] std::io::Error),
    /// The owner or the authorisation server refused.
    #[error("signing in was refused: {0}")]
    Denied(String),
    /// Nobody came back from the browser.
    #[error("nobody signed in within {} minutes: try again", PATIENCE.as_secs() / 60)]
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
    let url = outgoing::address(&parameters.url).map_err(LoginError::Parameters)?;
    let headers = outgoing::headers(parameters.headers.as_ref()).map_err(LoginError::Parameters)?;
    if headers.contains_key(AUTHORIZATION) {
        let problem = "its `headers` hold an authorization already: remove that to sign in instead";
        return Err(LoginError::Parameters(problem.into()));
    }
    let landing = Landing::open().await.map_err(LoginError::Landing)?;
    let shelf = Shelf::new(name, &url, store);
    // The library tells secrets to the log.
    let (manager, page) = begin(&url, &landing, shelf).with_subscriber(NoSubscriber::default()).await?;
    let state = page.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned());
    let state = state.ok_or_else(|| LoginError::WrongPlace("its address has no state".into()))?;
    open_browser(page.as_str());
    let callback = tokio::time::timeout(PATIENCE, landing.callback(&state)).await.map_err(|_| LoginError::TimedOut)?;
    match callback {
        Callback::Denied(reason) => Err(LoginError::Denied(reason)),
        Callback::Code { code, issuer } => {
            let exchange = manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref());
            exchange.with_subscriber(NoSubscriber::default()).await.map(drop).map_err(LoginError::Finish)
        }
    }
}

/// Forgets the sign-in to the server of this name. The authorisation server is not told.
pub async fn logout(
    name: &str,
    parameters: &StreamableParameters,
    store: Arc<dyn TokenStore>,
) -> Result<(), StoreError> {
    let url = outgoing::address(&parameters.url).map_err(StoreError::new)?;
    Shelf::new(name, &url, store).clear().await
}

/// Finds the authorisation server and becomes known to it; gives the page for the browser.
async fn begin(url: &Url, landing: &Landing, shelf: Shelf) -> Result<(AuthorizationManager, Url), LoginError> {
    let outside = Outside::new(url).map_err(|error| LoginError::Parameters(error.to_string()))?;
    let manager = AuthorizationManager::new_with_oauth_http_client(url.clone(), outside).await;
    let mut manager = manager.map_err(LoginError::Begin)?;
    manager.set_credential_store(shelf.clone());
    let found = manager.resolve_metadata().await.map_err(LoginError::Begin)?;
    if !found.source.is_discovered() {
        return Err(LoginError::NotOffered);
    }
    manager.set_metadata(found.metadata);
    let scopes = manager.select_initial_scopes(&[]).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = manager.register_client("a2c", &landing.address(), &scopes).await.map_err(LoginError::Begin)?;
    shelf.set_client_secret(client.client_secret);
    let page = manager.get_authorization_url(&scopes).await.map_err(LoginError::Begin)?;
    let page: Url = page.parse().map_err(|_| LoginError::WrongPlace("its address is none".into()))?;
    outside::check(url, &page).map_err(LoginError::WrongPlace)?;
    Ok((manager, page))
}
