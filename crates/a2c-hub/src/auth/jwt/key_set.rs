//! A JSON Web Key Set (RFC 7517): which of its keys the hub can use. Pure.
//!
//! An issuer publishes all its keys in one set, also those for other algorithms and other purposes. The hub takes the
//! public keys for signatures that it verifies and skips the others. A set in which nothing remains is an error.

use std::fmt::{self, Write as _};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use serde::Deserialize;
use serde_json::Value;

use super::key::{JwtKey, UnusableJwtKey};

/// The most keys that a set may have.
pub(super) const MAX_KEYS: usize = 100;

/// How many skipped keys an error lists.
const LISTED: usize = 5;

/// The part of a key's name that is shown, in bytes.
const MAX_SHOWN_NAME: usize = 64;

/// The keys of a JSON Web Key Set that verify tokens: RSA (RS256), Ed25519 (EdDSA) and P-256 (ES256).
#[derive(Debug, Clone)]
pub struct JwtKeySet {
    /// At least one.
    keys: Vec<JwtKey>,
    skipped: Vec<SkippedKey>,
}

/// A key of a set that the hub does not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedKey {
    /// Its place in the set, from 1.
    place: usize,
    reason: SkipReason,
}

/// Why the hub does not use a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum SkipReason {
    #[error("it cannot be read")]
    Malformed,
    #[error("it is for something else than signatures")]
    Purpose,
    #[error("it is a secret, which a set must not contain")]
    Secret,
    #[error("it is a private key, which a set must not contain")]
    Private,
    #[error("it is of another kind than RSA, Ed25519 and P-256")]
    Kind,
    #[error("its algorithm is another one than RS256, EdDSA and ES256")]
    Algorithm,
    #[error(transparent)]
    Unusable(UnusableJwtKey),
}

/// Why a text is no set of keys that the hub can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableKeySet {
    /// The text is something else.
    #[error("it is no JSON Web Key Set, which is a JSON object with a list of `keys`")]
    NotAKeySet,
    /// The set has more keys than the hub reads.
    #[error("the set has {count} keys, more than {MAX_KEYS}")]
    TooManyKeys {
        /// The number of keys.
        count: usize,
    },
    /// The hub can use none of the keys.
    #[error(
        "the set has no key that can verify tokens: it needs an RSA (RS256), Ed25519 (EdDSA) or P-256 (ES256) public \
         key for signatures{}",
        listed(skipped)
    )]
    NoUsableKey {
        /// All keys of the set.
        skipped: Vec<SkippedKey>,
    },
}

#[derive(Deserialize)]
struct EntryList {
    keys: Vec<Value>,
}

impl JwtKeySet {
    /// Reads a set.
    ///
    /// # Errors
    /// When it is no set, has more than 100 keys, or none that the hub can use.
    pub fn parse(json: &[u8]) -> Result<Self, UnusableKeySet> {
        // Only an object: serde would also accept a list.
        let is_object = json.trim_ascii_start().starts_with(b"{");
        let list: Option<EntryList> = is_object.then(|| serde_json::from_slice(json).ok()).flatten();
        let EntryList { keys: entries } = list.ok_or(UnusableKeySet::NotAKeySet)?;
        if entries.len() > MAX_KEYS {
            return Err(UnusableKeySet::TooManyKeys { count: entries.len() });
        }
        let (mut keys, mut skipped) = (Vec::new(), Vec::new());
        for (index, entry) in entries.into_iter().enumerate() {
            match usable(entry) {
                Ok(key) => keys.push(key),
                Err(reason) => skipped.push(SkippedKey { place: index + 1, reason }),
            }
        }
        if keys.is_empty() { Err(UnusableKeySet::NoUsableKey { skipped }) } else { Ok(Self { keys, skipped }) }
    }

    /// The keys that the hub uses: at least one.
    pub fn into_keys(self) -> Vec<JwtKey> {
        self.keys
    }

    /// The keys by name and algorithm, and how many are not used, for a log: `a (RS256), b (EdDSA); 1 not used`.
    pub fn overview(&self) -> String {
        let name = |key: &JwtKey| key.id().map_or_else(|| "without kid".to_owned(), brief);
        let used: Vec<_> = self.keys.iter().map(|key| format!("{} ({:?})", name(key), key.algorithm())).collect();
        let more = used.len().saturating_sub(LISTED);
        let mut text = used[..used.len() - more].join(", ");
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
        if !self.skipped.is_empty() {
            let _ = write!(text, "; {} not used", self.skipped.len());
        }
        text
    }

    /// The keys that the hub does not use.
    pub fn skipped(&self) -> &[SkippedKey] {
        &self.skipped
    }
}

/// The key of an entry, if it is one for signatures that the hub verifies.
fn usable(entry: Value) -> Result<JwtKey, SkipReason> {
    // The private part of a key; `jsonwebtoken` reads public keys and passes over it.
    let is_private = entry.get("d").is_some();
    let jwk: Jwk = serde_json::from_value(entry).map_err(|_| SkipReason::Malformed)?;
    let common = &jwk.common;
    if matches!(jwk.algorithm, AlgorithmParameters::OctetKey(_)) {
        return Err(SkipReason::Secret);
    }
    if is_private {
        return Err(SkipReason::Private);
    }
    if common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return Err(SkipReason::Purpose);
    }
    if common.key_operations.as_ref().is_some_and(|all| !all.contains(&KeyOperations::Verify)) {
        return Err(SkipReason::Purpose);
    }
    let is_for = |algorithm| match common.key_algorithm {
        Some(named) if named != algorithm => Err(SkipReason::Algorithm),
        _ => Ok(()),
    };
    let key = match &jwk.algorithm {
        AlgorithmParameters::RSA(rsa) => {
            is_for(KeyAlgorithm::RS256)?;
            JwtKey::rsa_numbers(&bytes(&rsa.n)?, &bytes(&rsa.e)?).map_err(SkipReason::Unusable)?
        }
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            is_for(KeyAlgorithm::EdDSA)?;
            JwtKey::ed25519_bytes(&bytes(&pair.x)?).ok_or(SkipReason::Malformed)?
        }
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => {
            is_for(KeyAlgorithm::ES256)?;
            JwtKey::p256_coordinates(&bytes(&point.x)?, &bytes(&point.y)?).ok_or(SkipReason::Malformed)?
        }
        _ => return Err(SkipReason::Kind),
    };
    Ok(key.named(common.key_id.as_deref()))
}

/// The name of a key, as an issuer may have chosen it, for a log.
fn brief(name: &str) -> String {
    let cut = &name[..name.floor_char_boundary(MAX_SHOWN_NAME)];
    cut.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>, SkipReason> {
    BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| SkipReason::Malformed)
}

fn listed(skipped: &[SkippedKey]) -> String {
    let some: String = skipped.iter().take(LISTED).map(|key| format!("; {key}")).collect();
    if skipped.len() > LISTED { format!("{some}; …") } else { some }
}

impl fmt::Display for SkippedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} of the set is not used: {}", self.place, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::Algorithm;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn coordinate() -> String {
        BASE64_URL_SAFE_NO_PAD.encode([7; 32])
    }

    fn rsa(more: &Value) -> Value {
        let mut key = json!({"kty": "RSA", "n": BASE64_URL_SAFE_NO_PAD.encode([0xff; 256]), "e": "AQAB"});
        key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        key
    }

    fn parse(keys: &[Value]) -> Result<JwtKeySet, UnusableKeySet> {
        JwtKeySet::parse(json!({"keys": keys}).to_string().as_bytes())
    }

    #[test]
    fn keys_for_signatures_are_taken_with_their_names() {
        let ed25519 = json!({"kty": "OKP", "crv": "Ed25519", "x": coordinate(), "kid": "ed", "alg": "EdDSA"});
        let p256 = json!({"kty": "EC", "crv": "P-256", "x": coordinate(), "y": coordinate(), "key_ops": ["verify"]});
        let set = parse(&[rsa(&json!({"kid": "rsa", "use": "sig", "alg": "RS256", "x5c": ["…"]})), ed25519, p256]);
        let set = set.unwrap();
        assert!(set.skipped().is_empty(), "{set:?}");
        let found: Vec<_> = set.keys.iter().map(|key| (key.algorithm(), key.id())).collect();
        let expected = [(Algorithm::RS256, Some("rsa")), (Algorithm::EdDSA, Some("ed")), (Algorithm::ES256, None)];
        assert_eq!(found, expected);
    }

    #[test]
    fn other_keys_are_skipped_and_alone_are_an_error() {
        let point = |crv: &str| json!({"kty": "EC", "crv": crv, "x": coordinate(), "y": coordinate()});
        for (entry, reason) in [
            (
                json!({"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "alg": "HS256"}),
                SkipReason::Secret,
            ),
            (rsa(&json!({"use": "enc"})), SkipReason::Purpose),
            (rsa(&json!({"use": "else"})), SkipReason::Purpose),
            (rsa(&json!({"key_ops": ["encrypt"]})), SkipReason::Purpose),
            (rsa(&json!({"alg": "RS512"})), SkipReason::Algorithm),
            (rsa(&json!({"alg": "PS256"})), SkipReason::Algorithm),
            (rsa(&json!({"alg": "HS256"})), SkipReason::Algorithm),
            (rsa(&json!({"alg": "new"})), SkipReason::Algorithm),
            (rsa(&json!({"d": "AQAB"})), SkipReason::Private),
            (rsa(&json!({"d": "AQAB", "key_ops": ["sign"]})), SkipReason::Private),
            (
                rsa(&json!({"n": BASE64_URL_SAFE_NO_PAD.encode([0xff; 255])})),
                SkipReason::Unusable(UnusableJwtKey::ShortRsa),
            ),
            (rsa(&json!({"n": "+/=="})), SkipReason::Malformed),
            (rsa(&json!({"kid": 7})), SkipReason::Malformed),
            (point("P-384"), SkipReason::Kind),
            (point("secp256k1"), SkipReason::Kind),
            (json!({"kty": "EC", "crv": "P-256", "x": coordinate(), "y": "AQAB"}), SkipReason::Malformed),
            (json!({"kty": "OKP", "crv": "X25519", "x": coordinate()}), SkipReason::Kind),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": "AQAB"}), SkipReason::Malformed),
            (json!({"kty": "AKP", "pub": "AQAB"}), SkipReason::Kind),
            (json!({}), SkipReason::Kind),
            (json!("a text"), SkipReason::Malformed),
            (json!(null), SkipReason::Malformed),
        ] {
            let skipped = vec![SkippedKey { place: 1, reason }];
            assert_eq!(
                parse(std::slice::from_ref(&entry)).err(),
                Some(UnusableKeySet::NoUsableKey { skipped: skipped.clone() }),
                "{entry}"
            );
            let set = parse(&[entry.clone(), rsa(&json!({}))]).unwrap();
            assert_eq!((set.keys.len(), set.skipped()), (1, &*skipped), "{entry}");
        }
        assert_eq!(parse(&[]).err(), Some(UnusableKeySet::NoUsableKey { skipped: Vec::new() }));
        let told = parse(&[rsa(&json!({"use": "enc"}))]).unwrap_err().to_string();
        assert!(told.contains("RS256") && told.contains("key 1 of the set is not used"), "{told}");
    }

    #[test]
    fn what_is_no_set_or_a_huge_one_is_refused() {
        for text in ["", "<html>", "[]", "{}", "null", r#"{"keys": {}}"#, r#"{"keys": null}"#, r#"[[]]"#] {
            assert_eq!(JwtKeySet::parse(text.as_bytes()).err(), Some(UnusableKeySet::NotAKeySet), "{text}");
        }
        assert_eq!(parse(&vec![rsa(&json!({})); MAX_KEYS]).unwrap().into_keys().len(), MAX_KEYS);
        let count = MAX_KEYS + 1;
        assert_eq!(parse(&vec![rsa(&json!({})); count]).err(), Some(UnusableKeySet::TooManyKeys { count }));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,a-z0-9]{0,60}") {
            let _ = JwtKeySet::parse(&bytes);
            let _ = JwtKeySet::parse(format!("{{\"keys\": [{text}]}}").as_bytes());
        }
    }
}
