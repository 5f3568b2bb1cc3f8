//! The token of a sign-in, as a connection sends it.

use std::sync::Arc;

use http::HeaderValue;
use url::Url;

use super::TokenStore;
use crate::servers::upstream::fault::Fault;
use crate::servers::upstream::refusal::Access;

/// The sign-in to one server.
pub(crate) struct Bearer {
    _store: Arc<dyn TokenStore>,
}

impl Bearer {
    pub(crate) fn new(_name: &str, _url: &Url, store: Arc<dyn TokenStore>) -> Self {
        Self { _store: store }
    }

    pub(crate) async fn token(&self, _: &Access) -> Result<Option<HeaderValue>, Fault> {
        Ok(None)
    }

    pub(crate) async fn renew(&self, refused: &HeaderValue, _: &Access) -> Result<HeaderValue, Fault> {
        Ok(refused.clone())
    }
}
