//! Authentication: which clients may connect, and as what.
//!
//! At CONNECT the hub puts what it knows of a client into a [`Claim`] and asks the configured [`Authenticate`]. The answer
//! is a [`Grant`], which the hub keeps with the connection and checks at every join, or an [`AuthRefusal`], which goes to
//! the log and the audit log. The client itself receives only "401".
//!
//! | implementation | credential of a client |
//! |---|---|
//! | [`OpenAccess`] | none; for loopback only |
//! | [`ApiKeyAuth`] | one of the keys that the operator gave out |
//! | [`Jwt`] | a signed token, whose claims become the permissions |
//! | [`CertificateAuth`] | the certificate that the TLS listener has verified |
//!
//! Another implementation takes a few lines:
//!
//! ```
//! use a2c_hub::auth::{Authenticate, Claim, Grant, AuthRefusal};
//! use a2c_protocol::Role;
//!
//! /// Machines of the laboratory may be Computers of its offices.
//! struct Laboratory;
//!
//! impl Authenticate for Laboratory {
//!     fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
//!         let machine = claim.certificate.ok_or(AuthRefusal::NoCertificate)?;
//!         if !machine.ends_with(".lab.example") {
//!             return Err(AuthRefusal::Wrong);
//!         }
//!         Ok(Grant::new(machine).only_roles([Role::Computer]).only_offices(["lab-*"]))
//!     }
//!
//!     fn kind(&self) -> &'static str {
//!         "laboratory"
//!     }
//! }
//! ```

mod api_key;
mod certificate;
mod credential;
mod current;
mod glob;
mod grant;
mod jwt;
mod open_access;
mod refusal;

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;

pub use api_key::{ApiKey, ApiKeyAuth, UnusableKey};
pub use certificate::CertificateAuth;
pub(crate) use current::{AccessRules, CurrentAccess};
pub use glob::Glob;
pub use grant::Grant;
pub use jwt::{
    Jwt, JwtKey, JwtKeySet, KeyFetchError, RemoteKeys, RemoteKeysConfig, SkippedKey, UnusableJwtKey, UnusableKeySet,
};
pub use open_access::OpenAccess;
pub use refusal::AuthRefusal;

/// Decides at CONNECT whether a client is admitted.
///
/// The hub calls it on the task of the connection, so it must not block: all other packets of the client wait for it.
pub trait Authenticate: Send + Sync + 'static {
    /// Admits the client with its permissions, or refuses it.
    ///
    /// # Errors
    /// The reason is for the operator; the client never sees it.
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal>;

    /// The name for logs: `none`, `token`, `jwt`, `mtls`, …
    fn kind(&self) -> &'static str;

    /// Renews what a refusal was based on, where that is possible: the hub waits for it, for a few seconds at most, and
    /// asks once more. It is called for every refusal, so strangers must not be able to make it expensive.
    fn renewal(&self, _refusal: &AuthRefusal) -> Option<Renewal> {
        None
    }

    /// Whether clients need no credential. Such a hub listens on loopback only.
    fn is_open(&self) -> bool {
        false
    }
}

/// When an [`Authenticate`] may judge otherwise than before.
pub enum Renewal {
    /// When this ends. It may be dropped at any time.
    Soon(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// Not before this time: the hub asks the client to come back then.
    Later(Duration),
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Soon(_) => f.write_str("Soon"),
            Self::Later(wait) => write!(f, "Later({wait:?})"),
        }
    }
}

impl fmt::Debug for dyn Authenticate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authenticate({})", self.kind())
    }
}

/// What the hub knows of a client that wants to connect.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    /// The headers of the handshake.
    pub headers: &'a HeaderMap,
    /// The payload of the CONNECT packet as text, `""` when there is none.
    pub payload: &'a str,
    /// The subject of the client's certificate, where the listener asked for one and verified it.
    pub certificate: Option<&'a str>,
    /// The address of the client.
    pub address: IpAddr,
    /// The present time.
    pub now: SystemTime,
}

/// Without headers and payload, which hold the credential.
impl fmt::Debug for Claim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("certificate", &self.certificate)
            .field("address", &self.address)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Claims for the tests of the implementations.

    use super::*;

    /// A claim on loopback with these headers and this payload, now.
    pub(crate) fn claim<'a>(headers: &'a HeaderMap, payload: &'a str) -> Claim<'a> {
        let address = std::net::Ipv4Addr::LOCALHOST.into();
        Claim { headers, payload, certificate: None, address, now: SystemTime::now() }
    }

    /// Headers from names and values.
    pub(crate) fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<axum::http::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_claim_shows_no_credential() {
        let headers = testing::headers(&[("x-api-key", "s3cret"), ("authorization", "Bearer s3cret")]);
        let shown = format!("{:?}", testing::claim(&headers, r#"{"token": "s3cret"}"#));
        assert!(shown.contains("127.0.0.1") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn every_implementation_can_be_named_in_a_log() {
        let key = ApiKey::new("s3cret").unwrap();
        let secret = JwtKey::hs256(b"s3cret s3cret s3cret s3cret s3cret").unwrap();
        let all: [(Arc<dyn Authenticate>, &str, bool); 4] = [
            (Arc::new(OpenAccess), "none", true),
            (Arc::new(ApiKeyAuth::new(key)), "token", false),
            (Arc::new(Jwt::new(secret)), "jwt", false),
            (Arc::new(CertificateAuth), "mtls", false),
        ];
        for (authenticate, kind, is_open) in all {
            assert_eq!((authenticate.kind(), authenticate.is_open()), (kind, is_open));
            assert_eq!(format!("{authenticate:?}"), format!("Authenticate({kind})"));
        }
    }
}
