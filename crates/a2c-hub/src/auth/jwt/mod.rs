//! Authentication by signed tokens (JWT).
//!
//! The hub checks a token in this order, so that it trusts no claim before the signature: a key of the hub is for the
//! algorithm in the header, that key verifies the signature, the claims are read and hold. `jsonwebtoken` reads the
//! token, `ring` and `webpki` verify the signature; docs/decisions/0013-jwt-verification.md says why.
//!
//! Keys (`key`) are given one by one or as a set (`key_set`), here or at a URL of the issuer (`remote_keys`, which fetches
//! with `key_fetch`). Where a token names a key (`kid`), only that key and keys without a name count.

mod claims;
mod key;
mod key_fetch;
mod key_set;
mod remote_keys;

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::{Algorithm, decode_header};

use super::credential::verify_credentials;
use super::{AuthRefusal, Authenticate, Claim, Grant, Renewal};
use claims::{Claims, ExpectedClaims};
pub use key::{JwtKey, UnusableJwtKey};
pub use key_fetch::KeyFetchError;
pub use key_set::{JwtKeySet, SkippedKey, UnusableKeySet};
pub use remote_keys::{RemoteKeys, RemoteKeysConfig};

/// The algorithms of the keys in a set.
const PUBLIC_KEY_ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::EdDSA, Algorithm::ES256];

/// Admits clients with a token that was signed with one of the keys: in the header `x-api-key` or `access_token`, as
/// `authorization: Bearer …`, or as `auth.token` of the CONNECT.
///
/// The claims of the token become the [`Grant`]: `sub` is its subject, `roles`, `offices` and `name` limit it, `exp` ends
/// it. A missing claim limits nothing, except that the hub refuses a token without `exp` unless that is
/// [allowed](Self::allow_no_expiry).
///
/// ```
/// use std::time::Duration;
/// use a2c_hub::auth::{Jwt, JwtKey};
///
/// # fn example(old: &str, new: &str) -> Result<(), a2c_hub::auth::UnusableJwtKey> {
/// let tokens = Jwt::new(JwtKey::eddsa(new)?)
///     // While tokens of the old key are in use.
///     .or(JwtKey::rs256(old)?)
///     .issuer("https://login.example")
///     .audience("a2c")
///     .leeway(Duration::from_secs(30));
/// # drop(tokens);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Jwt {
    keys: Vec<JwtKey>,
    /// Keys that the issuer publishes. There are these or others.
    remote: Option<RemoteKeys>,
    expected: ExpectedClaims,
}

impl Jwt {
    /// Accepts tokens that were signed with this key.
    pub fn new(key: JwtKey) -> Self {
        Self { keys: vec![key], remote: None, expected: ExpectedClaims::default() }
    }

    /// Accepts tokens that were signed with a key that the issuer publishes.
    pub fn remote(keys: RemoteKeys) -> Self {
        Self { keys: Vec::new(), remote: Some(keys), expected: ExpectedClaims::default() }
    }

    /// Accepts tokens that were signed with this key as well.
    #[must_use]
    pub fn or(mut self, key: JwtKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Accepts only tokens of this issuer (`iss`).
    #[must_use]
    pub fn issuer(mut self, issuer: &str) -> Self {
        self.expected.issuer = Some(issuer.to_owned());
        self
    }

    /// Accepts only tokens for this audience (`aud`). Without it, the hub refuses every token that names an audience,
    /// because the token is for another service.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Self {
        self.expected.audience = Some(audience.to_owned());
        self
    }

    /// The tolerated difference to the clock of the issuer: tokens are valid that much earlier and longer. Default: none.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.expected.leeway = leeway;
        self
    }

    /// Also accepts tokens that never expire. Only a change of the key revokes such a token.
    #[must_use]
    pub fn allow_no_expiry(mut self) -> Self {
        self.expected.no_expiry_allowed = true;
        self
    }

    /// The claims of a token whose signature one of the keys verifies.
    fn verified(&self, token: &[u8]) -> Result<Claims, AuthRefusal> {
        // This also fails where the header names an unknown algorithm, or none.
        let header = decode_header(token).map_err(|_| malformed("its header cannot be read"))?;
        if header.crit.is_some() {
            return Err(malformed("its header insists on an extension (`crit`)"));
        }
        let remote = self.remote.as_ref().map(RemoteKeys::keys).unwrap_or_default();
        let all = || self.keys.iter().chain(remote.iter());
        let named = header.kid.as_deref();
        let is_named = |key: &JwtKey| key.id().is_none() || named.is_none() || key.id() == named;
        // Whether the token names a key that may be in a newer set.
        let is_unknown = named.is_some()
            && PUBLIC_KEY_ALGORITHMS.contains(&header.alg)
            && (self.remote.is_some() || all().any(|key| key.id().is_some()))
            && !all().any(|key| key.id() == named);
        let mut keys = all().filter(|key| key.algorithm() == header.alg && is_named(key)).peekable();
        if keys.peek().is_none() {
            return Err(if is_unknown { AuthRefusal::UnknownKey } else { AuthRefusal::Algorithm });
        }
        let dot = token.iter().rposition(|&byte| byte == b'.').ok_or(malformed("it has no signature"))?;
        let (message, signature) = (&token[..dot], &token[dot + 1..]);
        let signature =
            BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed("its signature is no base64"))?;
        if !keys.any(|key| key.has_signed(message, &signature)) {
            return Err(if is_unknown { AuthRefusal::UnknownKey } else { AuthRefusal::Signature });
        }
        // The signature of these bytes was verified above; this call does not check it again.
        insecure_decode_claims(token).map_err(|_| malformed("a claim is not what it has to be"))
    }
}

impl Authenticate for Jwt {
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        verify_credentials(claim, |token| self.verified(token)?.into_grant(&self.expected, claim.now))
    }

    fn kind(&self) -> &'static str {
        "jwt"
    }

    fn renewal(&self, refusal: &AuthRefusal) -> Option<Renewal> {
        let remote = self.remote.as_ref()?;
        (*refusal == AuthRefusal::UnknownKey).then(|| remote.renewal())
    }
}

fn malformed(what: &'static str) -> AuthRefusal {
    AuthRefusal::Malformed { what }
}
