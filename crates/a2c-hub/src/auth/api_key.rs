//! Authentication by shared keys.
//!
//! The hub keeps and compares only the SHA-256 of a key: it cannot reveal a key by mistake, and the time of a comparison
//! reveals neither content nor length.

use std::fmt;

use ring::digest::{Digest, SHA256, digest};
use subtle::ConstantTimeEq;

use super::credential::{MAX_CREDENTIAL, verify_credentials};
use super::{AuthRefusal, Authenticate, Claim, Grant};

/// Admits clients that send one of the keys: in the header `x-api-key` or `access_token`, as `authorization: Bearer …`,
/// or as `auth.token` of the CONNECT.
///
/// ```
/// use a2c_hub::auth::{ApiKey, ApiKeyAuth};
///
/// # fn main() -> Result<(), a2c_hub::auth::UnusableKey> {
/// // While clients change from one key to the next, both are valid, and the audit log names the key that was used.
/// let keys = ApiKeyAuth::new(ApiKey::new("8f2b1c…")?.labelled("2026")).or(ApiKey::new("e07a55…")?.labelled("2027"));
/// # drop(keys);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ApiKeyAuth {
    /// At least one.
    keys: Vec<ApiKey>,
}

impl ApiKeyAuth {
    /// Accepts one key.
    pub fn new(key: ApiKey) -> Self {
        Self { keys: vec![key] }
    }

    /// Accepts another key as well.
    #[must_use]
    pub fn or(mut self, key: ApiKey) -> Self {
        self.keys.push(key);
        self
    }

    fn subject(&self, index: usize) -> String {
        match (&self.keys[index].label, self.keys.len()) {
            (Some(label), _) => label.clone(),
            (None, 1) => "key".to_owned(),
            (None, _) => format!("key {}", index + 1),
        }
    }
}

impl Authenticate for ApiKeyAuth {
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        verify_credentials(claim, |given| {
            let given = digest(&SHA256, given);
            // All keys are compared, so that the time does not depend on which one matches.
            let matches = self.keys.iter().map(|key| bool::from(key.digest.as_ref().ct_eq(given.as_ref())));
            let found = matches.enumerate().fold(None, |found, (index, is_it)| found.or(is_it.then_some(index)));
            found.map(|index| Grant::new(&self.subject(index))).ok_or(AuthRefusal::Wrong)
        })
    }

    fn kind(&self) -> &'static str {
        "token"
    }
}

/// A key that clients share, with an optional label.
#[derive(Clone)]
pub struct ApiKey {
    label: Option<String>,
    digest: Digest,
}

impl ApiKey {
    /// A key; only its digest is kept.
    ///
    /// # Errors
    /// When no client could send the key.
    pub fn new(key: &str) -> Result<Self, UnusableKey> {
        if key.is_empty() {
            return Err(UnusableKey::Empty);
        }
        if key.len() > MAX_CREDENTIAL {
            return Err(UnusableKey::TooLong { limit: MAX_CREDENTIAL });
        }
        if key.contains(char::is_control) || key.trim() != key {
            return Err(UnusableKey::Blank);
        }
        Ok(Self { label: None, digest: digest(&SHA256, key.as_bytes()) })
    }

    /// Names the users of the key: the label becomes the subject of the grant.
    #[must_use]
    pub fn labelled(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }
}

/// Shows neither key nor digest: a short key could be guessed from its digest.
impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey").field("label", &self.label).field("key", &"***").finish()
    }
}

/// Why a text cannot be a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableKey {
    /// The text is empty.
    #[error("the key is empty: give one that is hard to guess")]
    Empty,
    /// The text has characters that a header cannot carry.
    #[error("the key has a control character in it, or white space at an end: was it read with the end of its line?")]
    Blank,
    /// The text is longer than any credential that the hub reads.
    #[error("the key is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, headers};
    use super::*;

    fn ask(keys: &ApiKeyAuth, pairs: &[(&str, &str)], payload: &str) -> Result<String, AuthRefusal> {
        keys.authenticate(&claim(&headers(pairs), payload)).map(|grant| grant.subject().to_owned())
    }

    #[test]
    fn the_key_is_accepted_from_every_place_and_nothing_else_is() {
        let keys = ApiKeyAuth::new(ApiKey::new("s3cret").unwrap());
        for (pairs, payload) in [
            (&[("x-api-key", "s3cret")][..], ""),
            (&[("access_token", "s3cret")], "{}"),
            (&[("authorization", "Bearer s3cret")], ""),
            (&[], r#"{"role": "agent", "token": "s3cret"}"#),
            (&[("x-api-key", "for another service")], r#"{"token": "s3cret"}"#),
        ] {
            assert_eq!(ask(&keys, pairs, payload), Ok("key".to_owned()), "{pairs:?} {payload}");
        }
        for wrong in ["S3cret", "s3cre", "s3cret2", "s3cret ", "x", "s3cret\u{0}"] {
            let payload = serde_json::json!({"token": wrong}).to_string();
            assert_eq!(ask(&keys, &[], &payload), Err(AuthRefusal::Wrong), "{wrong:?}");
        }
        assert_eq!(ask(&keys, &[("authorization", "s3cret")], "{}"), Err(AuthRefusal::Missing));
        assert_eq!(ask(&keys, &[], ""), Err(AuthRefusal::Missing));
    }

    #[test]
    fn several_keys_are_good_at_the_same_time() {
        let key = |text| ApiKey::new(text).unwrap();
        let keys = ApiKeyAuth::new(key("one").labelled("robots")).or(key("two")).or(key("three").labelled("peo\nple"));
        for (given, subject) in [("one", "robots"), ("two", "key 2"), ("three", "people")] {
            assert_eq!(ask(&keys, &[("x-api-key", given)], ""), Ok(subject.to_owned()));
        }
        assert_eq!(ask(&keys, &[("x-api-key", "four")], ""), Err(AuthRefusal::Wrong));
    }

    #[test]
    fn a_key_that_no_client_could_send_is_refused() {
        let too_long = "x".repeat(MAX_CREDENTIAL + 1);
        for (text, expected) in [
            ("", UnusableKey::Empty),
            ("s3cret\n", UnusableKey::Blank),
            (" s3cret", UnusableKey::Blank),
            ("s3\0cret", UnusableKey::Blank),
            (&too_long, UnusableKey::TooLong { limit: MAX_CREDENTIAL }),
        ] {
            assert_eq!(ApiKey::new(text).err(), Some(expected), "{text:.20}");
        }
        assert!(ApiKey::new("two words").is_ok() && ApiKey::new("schlüssel").is_ok());
    }

    #[test]
    fn a_key_that_is_no_ascii_can_be_sent_too() {
        let keys = ApiKeyAuth::new(ApiKey::new("schlüssel").unwrap());
        assert_eq!(ask(&keys, &[], r#"{"token": "schlüssel"}"#), Ok("key".to_owned()));
        let value = axum::http::HeaderValue::from_bytes("schlüssel".as_bytes()).unwrap();
        let headers = [(axum::http::HeaderName::from_static("x-api-key"), value)].into_iter().collect();
        assert!(keys.authenticate(&claim(&headers, "")).is_ok());
    }

    #[test]
    fn a_key_is_not_shown() {
        let shown = format!("{:?}", ApiKeyAuth::new(ApiKey::new("s3cret").unwrap().labelled("robots")));
        assert_eq!(shown, r#"ApiKeyAuth { keys: [ApiKey { label: Some("robots"), key: "***" }] }"#);
    }
}
