//! Keys as issuers publish them, and the tokens that name them.

use std::sync::OnceLock;

use a2c_hub::auth::{AuthRefusal, Jwt, JwtKey, JwtKeySet, UnusableKeySet};
use serde_json::{Value, json};

use super::pyjwt::mint;
use super::tokens::{NOW, SECRET, encode, hs256_with, jwt, shown};

const ALGORITHMS: [&str; 3] = ["RS256", "EdDSA", "ES256"];

fn claims() -> Value {
    json!({"sub": "alice", "exp": NOW + 60})
}

/// Two keys of each algorithm: for each the `jwk`, and a `token` that names it.
fn minted() -> &'static Value {
    static MINTED: OnceLock<Value> = OnceLock::new();
    MINTED.get_or_init(|| mint(&claims()))
}

fn published(algorithm: &str, which: usize) -> &'static Value {
    &minted()[algorithm]["published"][which]
}

fn token(algorithm: &str, which: usize) -> &'static str {
    published(algorithm, which)["token"].as_str().unwrap()
}

/// A hub with the keys of a set.
fn hub_of(keys: &[Value]) -> Jwt {
    let set = JwtKeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap();
    let mut keys = set.into_keys().into_iter();
    let first = Jwt::new(keys.next().unwrap());
    keys.fold(first, Jwt::or)
}

fn without(key: &Value, fields: &[&str]) -> Value {
    let mut key = key.clone();
    fields.iter().for_each(|field| drop(key.as_object_mut().unwrap().remove(*field)));
    key
}

#[test]
fn the_key_that_a_token_names_verifies_it() {
    let keys: Vec<Value> = ALGORITHMS.iter().map(|algorithm| published(algorithm, 0)["jwk"].clone()).collect();
    let hub = hub_of(&keys);
    for algorithm in ALGORITHMS {
        assert_eq!(shown(&hub, token(algorithm, 0)).unwrap().subject(), "alice", "{algorithm}");
        assert_eq!(shown(&hub, token(algorithm, 1)), Err(AuthRefusal::UnknownKey), "{algorithm}");
        // A token that names no key.
        let unnamed = minted()[algorithm]["token"].as_str().unwrap();
        assert!(shown(&hub, unnamed).is_ok(), "{algorithm}");
    }
}

#[test]
fn a_key_of_another_name_is_not_tried_and_one_without_a_name_is() {
    for algorithm in ALGORITHMS {
        let jwk = &published(algorithm, 0)["jwk"];
        let mut renamed = jwk.clone();
        renamed["kid"] = json!("another name");
        assert_eq!(shown(&hub_of(&[renamed]), token(algorithm, 0)), Err(AuthRefusal::UnknownKey), "{algorithm}");
        let bare = without(jwk, &["kid", "use", "alg"]);
        let hub = hub_of(std::slice::from_ref(&bare));
        assert!(shown(&hub, token(algorithm, 0)).is_ok(), "{algorithm}");
        assert_eq!(shown(&hub, token(algorithm, 1)), Err(AuthRefusal::Signature), "{algorithm}: no key has a name");
        // The name of one key, the signature of another.
        let mut swapped = published(algorithm, 1)["jwk"].clone();
        swapped["kid"] = jwk["kid"].clone();
        assert_eq!(shown(&hub_of(&[swapped.clone()]), token(algorithm, 0)), Err(AuthRefusal::Signature), "{algorithm}");
        assert!(shown(&hub_of(&[swapped, bare]), token(algorithm, 0)).is_ok(), "{algorithm}");
    }
}

#[test]
fn a_key_is_for_its_algorithm_whatever_the_token_says() {
    for algorithm in ALGORITHMS {
        let hub = hub_of(&[published(algorithm, 0)["jwk"].clone()]);
        let kid = &published(algorithm, 0)["jwk"]["kid"];
        for other in ["HS256", "RS256", "EdDSA", "ES256", "PS256", "ES384"] {
            let forged = hs256_with(&json!({"alg": other, "kid": kid}), &claims(), SECRET);
            let expected = if other == algorithm { AuthRefusal::Signature } else { AuthRefusal::Algorithm };
            assert_eq!(shown(&hub, &forged), Err(expected), "{other} for {algorithm}");
        }
    }
}

#[test]
fn a_secret_in_a_set_verifies_nothing() {
    let secret = json!({"kty": "oct", "k": encode(SECRET), "alg": "HS256", "use": "sig", "kid": "s"});
    let token = hs256_with(&json!({"alg": "HS256", "kid": "s"}), &claims(), SECRET);
    assert!(shown(&jwt(), &token).is_ok(), "the token is a good one");
    let hub = hub_of(&[secret.clone(), published("RS256", 0)["jwk"].clone()]);
    assert_eq!(shown(&hub, &token), Err(AuthRefusal::Algorithm));
    let alone = JwtKeySet::parse(json!({"keys": [secret]}).to_string().as_bytes());
    assert!(matches!(alone, Err(UnusableKeySet::NoUsableKey { .. })), "{alone:?}");
}

#[test]
fn the_keys_of_files_and_sets_count_side_by_side() {
    let pem = minted()["ES256"]["key"].as_str().unwrap();
    let hub = hub_of(&[published("RS256", 0)["jwk"].clone()]).or(JwtKey::es256(pem).unwrap());
    assert!(shown(&hub, token("RS256", 0)).is_ok());
    assert!(shown(&hub, token("ES256", 0)).is_ok(), "a key in PEM has no name");
    assert_eq!(shown(&hub, token("ES256", 1)), Err(AuthRefusal::UnknownKey));
    // Where no key has a name, there is none to be unknown.
    let alone = Jwt::new(JwtKey::es256(pem).unwrap());
    assert_eq!(shown(&alone, token("ES256", 1)), Err(AuthRefusal::Signature));
}

#[test]
fn an_ecdsa_signature_is_two_numbers_and_no_der() {
    let hub = hub_of(&[published("ES256", 0)["jwk"].clone()]);
    let (message, signature) = token("ES256", 0).rsplit_once('.').unwrap();
    assert_eq!(signature.len(), 86, "64 bytes in base64");
    for wrong in ["", "MAYCAQECAQE", &encode([0; 64]), &encode([0xff; 64]), &signature[..84]] {
        assert_eq!(shown(&hub, &format!("{message}.{wrong}")), Err(AuthRefusal::Signature), "{wrong}");
    }
}
