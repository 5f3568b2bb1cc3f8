//! Signed tokens that say themselves what they are good for.
//!
//! A token is judged in this order, so that nothing of it is believed before its signature: the algorithm in its header
//! has to be the one that a key of ours is for, then the signature has to be made with that key, then the claims are read
//! and hold. `jsonwebtoken` reads the token. The signature is checked with `ring`, which the TLS of the hub uses as well:
//! that crate's own backends would add a second set of cryptography, and are chosen once for a whole process, which is not
//! for a library to do.

mod claims;
mod key;

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::decode_header;

use super::credential::judge;
use super::{AuthRefusal, Authenticate, Claim, Grant};
use claims::{Claims, ExpectedClaims};
pub use key::{JwtKey, UnusableJwtKey};

/// Lets in whoever has a token that was signed with one of the keys: in the header `x-api-key` or `access_token`, as
/// `authorization: Bearer …`, or as `auth.token` of the CONNECT.
///
/// The claims of the token become the [`Grant`]: `sub` is its subject, `roles`, `offices` and `name` limit it, `exp` ends
/// it. A claim that is missing limits nothing, except that a token without `exp` is refused unless that is
/// [allowed](Self::allow_no_expiry).
///
/// ```
/// use std::time::Duration;
/// use a2c_hub::auth::{Jwt, JwtKey};
///
/// # fn example(old: &str, new: &str) -> Result<(), a2c_hub::auth::UnusableJwtKey> {
/// let tokens = Jwt::new(JwtKey::eddsa(new)?)
///     // While tokens of the old key are around.
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
    /// At least one.
    keys: Vec<JwtKey>,
    expected: ExpectedClaims,
}

impl Jwt {
    /// Takes tokens that were signed with this key.
    pub fn new(key: JwtKey) -> Self {
        Self { keys: vec![key], expected: ExpectedClaims::default() }
    }

    /// Takes tokens that were signed with this key as well.
    #[must_use]
    pub fn or(mut self, key: JwtKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Takes tokens of this issuer (`iss`) only.
    #[must_use]
    pub fn issuer(mut self, issuer: &str) -> Self {
        self.expected.issuer = Some(issuer.to_owned());
        self
    }

    /// Takes tokens for this audience (`aud`) only. Without it, a token that names an audience is refused: it is meant
    /// for somebody else.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Self {
        self.expected.audience = Some(audience.to_owned());
        self
    }

    /// How far the clock of the issuer may be off: tokens are good that much earlier and longer. Nothing by default.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.expected.leeway = leeway;
        self
    }

    /// Takes tokens that never expire, too. Only a new key gets rid of one of those.
    #[must_use]
    pub fn allow_no_expiry(mut self) -> Self {
        self.expected.no_expiry_allowed = true;
        self
    }

    /// The claims of a token that one of our keys has signed.
    fn verified(&self, token: &[u8]) -> Result<Claims, AuthRefusal> {
        // Also where the header names an algorithm that nobody knows, or none.
        let header = decode_header(token).map_err(|_| malformed("its header cannot be read"))?;
        if header.crit.is_some() {
            return Err(malformed("its header insists on an extension (`crit`)"));
        }
        let mut keys = self.keys.iter().filter(|key| key.algorithm() == header.alg).peekable();
        if keys.peek().is_none() {
            return Err(AuthRefusal::Algorithm);
        }
        let dot = token.iter().rposition(|&byte| byte == b'.').ok_or(malformed("it has no signature"))?;
        let (message, signature) = (&token[..dot], &token[dot + 1..]);
        let signature =
            BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed("its signature is no base64"))?;
        if !keys.any(|key| key.has_signed(message, &signature)) {
            return Err(AuthRefusal::Signature);
        }
        // Dangerous without what has been checked above, on the same bytes.
        insecure_decode_claims(token).map_err(|_| malformed("a claim is not what it has to be"))
    }
}

impl Authenticate for Jwt {
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        judge(claim, |token| self.verified(token)?.grant(&self.expected, claim.now))
    }

    fn kind(&self) -> &'static str {
        "jwt"
    }
}

fn malformed(what: &'static str) -> AuthRefusal {
    AuthRefusal::Malformed { what }
}
