//! The sign-in to one server as an entry of a [`TokenStore`], in the form that the MCP library reads and writes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use a2c_secrets::Redactor;
use async_trait::async_trait;
use http::HeaderValue;
use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, CredentialStore, OAuthTokenResponse, StoredCredentials};
use serde::{Deserialize, Serialize};
use url::Url;

use super::challenge::Challenge;
use super::{MARGIN_SECONDS, TokenStore, TokenStoreError};

/// A sign-in: who we are to the authorisation server, and its tokens.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SignIn {
    pub(super) credentials: StoredCredentials,
    /// Some authorisation servers give one out though none was asked for, and then insist on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// What led to the authorisation server, and leads there again when the token is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
}

impl SignIn {
    fn tokens(&self) -> Option<&OAuthTokenResponse> {
        self.credentials.token_response.as_ref()
    }

    /// The header that authorises a request.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let token = self.tokens()?.access_token().secret();
        let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    /// The token that gets a new one.
    pub(super) fn refresh_token(&self) -> Option<&str> {
        Some(self.tokens()?.refresh_token()?.secret())
    }

    /// Whether the token lasts for another request. A token that does not say how long it lasts is tried.
    pub(super) fn is_fresh(&self) -> bool {
        let lifetime = self.tokens().and_then(TokenResponse::expires_in);
        let (Some(lifetime), Some(since)) = (lifetime, self.credentials.token_received_at) else { return true };
        let margin = MARGIN_SECONDS.min(lifetime.as_secs() / 4);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        now.saturating_sub(since) + margin < lifetime.as_secs()
    }

    /// A text without the secrets of this sign-in.
    pub(super) fn redact(&self, text: &str) -> String {
        let access = self.tokens().map(|tokens| tokens.access_token().secret().as_str());
        let secrets = [access, self.refresh_token(), self.client_secret.as_deref()];
        Redactor::new(secrets.into_iter().flatten()).redact(text)
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("client_id", &self.credentials.client_id).finish_non_exhaustive()
    }
}

/// The store's entry for the sign-in to one server; clones share it.
#[derive(Clone)]
pub(super) struct SignInEntry {
    store: Arc<dyn TokenStore>,
    key: String,
    /// What the library does not pass on when it saves: the secret of the client and the challenge.
    unsaved: Arc<Mutex<(Option<String>, Option<String>)>>,
}

impl SignInEntry {
    /// The entry for a server of this name at this address. Another origin is another entry: a token never goes to an
    /// origin that did not give it out.
    pub(super) fn new(name: &str, url: &Url, store: Arc<dyn TokenStore>) -> Self {
        let key = format!("{name} {}", url.origin().ascii_serialization());
        Self { store, key, unsaved: Arc::default() }
    }

    /// The secret of the client and the challenge of the sign-in that is saved next.
    pub(super) fn save_with(&self, client_secret: Option<String>, challenge: Option<String>) {
        *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = (client_secret, challenge);
    }

    /// The challenge that no sign-in has met yet.
    pub(super) async fn challenge(&self) -> Result<Option<Challenge>, TokenStoreError> {
        let text = self.with_store(|store, key| store.get(&challenge_key(key))).await?;
        Ok(text.and_then(Challenge::from_text))
    }

    /// Keeps a challenge for the next sign-in.
    pub(super) async fn keep_challenge(&self, challenge: &Challenge) -> Result<(), TokenStoreError> {
        let text = challenge.as_str().to_owned();
        self.with_store(move |store, key| store.set(&challenge_key(key), &text)).await
    }

    /// A sign-in has met the challenge.
    pub(super) async fn forget_challenge(&self) -> Result<(), TokenStoreError> {
        self.with_store(|store, key| store.delete(&challenge_key(key))).await
    }

    pub(super) async fn read(&self) -> Result<Option<SignIn>, TokenStoreError> {
        let Some(text) = self.with_store(|store, key| store.get(key)).await? else { return Ok(None) };
        // The library's own message would show a piece of the text.
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| TokenStoreError::new("the kept sign-in is damaged: sign in again"))
    }

    pub(super) async fn clear(&self) -> Result<(), TokenStoreError> {
        self.with_store(|store, key| {
            store.delete(key)?;
            store.delete(&challenge_key(key))
        })
        .await
    }

    /// A store may block.
    async fn with_store<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn TokenStore, &str) -> Result<T, TokenStoreError> + Send + 'static,
    ) -> Result<T, TokenStoreError> {
        let (store, key) = (self.store.clone(), self.key.clone());
        let done = tokio::task::spawn_blocking(move || act(&*store, &key)).await;
        done.unwrap_or_else(|_| Err(TokenStoreError::new("the store of the sign-ins failed")))
    }
}

fn challenge_key(key: &str) -> String {
    format!("{key} challenge")
}

fn store_error(error: &TokenStoreError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for SignInEntry {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.read().await.map_err(|error| store_error(&error))?.map(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let (client_secret, challenge) = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = serde_json::to_string(&SignIn { credentials, client_secret, challenge })
            .map_err(|_| AuthError::CredentialStoreError("the sign-in cannot be written as JSON".into()))?;
        self.with_store(move |store, key| store.set(key, &text)).await.map_err(|error| store_error(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        SignInEntry::clear(self).await.map_err(|error| store_error(&error))
    }
}
