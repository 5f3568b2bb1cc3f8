//! Signing in and out.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use a2c_protocol::config::{OAuthParameters, StreamableParameters};
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::authorization_http::{self, AddressError, AuthorizationHttp};
use super::callback::{Callback, CallbackServer};
use super::challenge::{self, Challenge, FirstAnswer};
use super::sign_in::{SignIn, SignInEntry};
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
    /// The server leads to another authorisation server than the one that may have the client's secret.
    #[error(
        "the server leads to the authorisation server {found}, and not to {expected}: if that is right, write it as \
         `issuer` into this server's `oauth`, or sign out first"
    )]
    OtherIssuer {
        /// The one that was found.
        found: String,
        /// The one that the owner wrote down, or that gave out the tokens before.
        expected: String,
    },
    /// The authorisation server takes no new clients, and the owner named none.
    #[error(
        "the authorisation server takes no new clients: register one there and write its `client_id` into this \
         server's `oauth`"
    )]
    NoRegistration,
    /// No port on this machine for the browser to come back to.
    #[error("the browser's answer cannot be waited for{}: {source}", on_port(*port))]
    Callback {
        /// The port that the owner asked for.
        port: Option<u16>,
        /// What the system says.
        source: std::io::Error,
    },
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

/// The words of another server, on one line and not too long.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

fn on_port(port: Option<u16>) -> String {
    port.map(|port| format!(" on the `callback_port` {port}")).unwrap_or_default()
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
    let port = parameters.oauth.as_ref().and_then(|oauth| oauth.callback_port);
    let server = CallbackServer::open(port).await.map_err(|source| LoginError::Callback { port, source })?;
    let entry = SignInEntry::new(name, &url, store);
    let timeout = http::limit("timeout", parameters.timeout.seconds())?;
    let client =
        http::client(&url, http::headers(parameters.headers.as_ref())?, timeout).map_err(HttpSetupError::from)?;
    let first = challenge::ask(&client, &url, timeout).await;
    // The library writes secrets to the log.
    let address = server.address();
    let begin = begin(&url, &address, &entry, first, parameters.oauth.as_ref());
    let (manager, http, page) = begin.with_subscriber(NoSubscriber::default()).await?;
    let state = page.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned());
    let state = state.ok_or(AddressError::NoState)?;
    open_browser(page.as_str());
    let callback =
        tokio::time::timeout(BROWSER_LIMIT, server.callback(&state)).await.map_err(|_| LoginError::TimedOut)?;
    match callback {
        Callback::Denied(reason) => Err(LoginError::Denied(one_line(&reason))),
        Callback::Code { code, issuer } => {
            let issuer = issuer.map(|issuer| http.issuer(issuer));
            let exchange = manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref());
            exchange.with_subscriber(NoSubscriber::default()).await.map_err(LoginError::Finish)?;
            // The sign-in is kept: what is left of an older refusal does no harm.
            let _ = entry.forget_challenge().await;
            Ok(())
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
    callback: &str,
    entry: &SignInEntry,
    first: FirstAnswer,
    oauth: Option<&OAuthParameters>,
) -> Result<(AuthorizationManager, Arc<AuthorizationHttp>, Url), LoginError> {
    let http = AuthorizationHttp::new(url).map_err(HttpSetupError::from)?;
    let manager = AuthorizationManager::new_with_oauth_http_client(url.clone(), http.clone()).await;
    let mut manager = manager.map_err(LoginError::Begin)?;
    manager.set_credential_store(entry.clone());
    let store_failed = |error: TokenStoreError| LoginError::Begin(AuthError::CredentialStoreError(error.to_string()));
    let earlier = entry.challenge().await.map_err(store_failed)?;
    let (is_refused, challenge) = match first {
        FirstAnswer::Refused(challenge) => (true, challenge.or_else(|| earlier.clone())),
        FirstAnswer::Other => (earlier.is_some(), earlier.clone()),
    };
    let challenge = challenge.as_ref().map(Challenge::as_str);
    let found = http.discover(&manager, challenge).await.map_err(LoginError::Begin)?;
    // Servers of 2025-03-26 need not publish anything: then the customary addresses are tried. A server that wants no
    // sign-in is left alone.
    if !found.source.is_discovered() && !is_refused {
        return Err(LoginError::NotOffered);
    }
    let before = entry.read().await.ok().flatten();
    check_issuer(found.metadata.issuer.as_deref(), before.as_ref(), oauth)?;
    manager.set_metadata(found.metadata.clone());
    let given = oauth.and_then(|oauth| oauth.scopes.as_deref()).unwrap_or_default();
    let mut scopes = manager.select_initial_scopes(&given.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut add = |more: &[String]| {
        for scope in more {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
    };
    if let Some(earlier) = earlier.filter(|earlier| earlier.wants_more_scopes(url)) {
        // A sign-in for more must not cost what was granted before.
        let granted = before.map(|sign_in| sign_in.credentials.granted_scopes);
        add(&granted.unwrap_or_default());
        add(&earlier.scopes(url));
    }
    add(given);
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = client(&mut manager, &found.metadata, callback, &scopes, oauth).await?;
    entry.save_with(client.client_secret, challenge.map(ToOwned::to_owned));
    let page = manager.get_authorization_url(&scopes).await.map_err(LoginError::Begin)?;
    let page: Url = page.parse().map_err(|_| AddressError::NotAnAddress)?;
    authorization_http::check(url, &page)?;
    Ok((manager, http, page))
}

/// The MCP server chooses its authorisation server, and could choose one of its own to get the secret of the owner's
/// client. It goes to the issuer that the owner wrote down; without one, to whoever got it first.
fn check_issuer(
    found: Option<&str>,
    before: Option<&SignIn>,
    oauth: Option<&OAuthParameters>,
) -> Result<(), LoginError> {
    let written = oauth.and_then(|oauth| oauth.issuer.as_deref());
    let first = before.and_then(|sign_in| sign_in.credentials.issuer.as_deref());
    let first = first.filter(|_| oauth.is_some_and(|oauth| oauth.client_secret.is_some()));
    let Some(expected) = written.or(first) else { return Ok(()) };
    let plain = |issuer: &str| issuer.trim_end_matches('/').to_owned();
    match found {
        Some(found) if plain(found) == plain(expected) => Ok(()),
        found => Err(LoginError::OtherIssuer {
            found: found.unwrap_or("without a name").to_owned(),
            expected: expected.to_owned(),
        }),
    }
}

/// Who we are to the authorisation server: the client that the owner registered, else a document that describes it, else
/// one that is registered now.
async fn client(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    callback: &str,
    scopes: &[&str],
    oauth: Option<&OAuthParameters>,
) -> Result<OAuthClientConfig, LoginError> {
    let takes_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
    let takes_documents = takes_documents.and_then(serde_json::Value::as_bool).unwrap_or(false);
    let registered = oauth.and_then(|oauth| oauth.client_id.as_ref());
    let document = oauth.and_then(|oauth| oauth.client_metadata_url.as_ref()).filter(|_| takes_documents);
    let Some(id) = registered.or(document) else {
        if metadata.registration_endpoint.is_none() {
            return Err(LoginError::NoRegistration);
        }
        return manager.register_client("a2c", callback, scopes).await.map_err(LoginError::Begin);
    };
    let mut client = OAuthClientConfig::new(id, callback);
    client.scopes = scopes.iter().map(ToString::to_string).collect();
    client.client_secret = oauth.and_then(|oauth| oauth.client_secret.clone()).filter(|_| registered.is_some());
    manager.configure_client(client.clone()).map_err(LoginError::Begin)?;
    Ok(client)
}
