//! The hub accepts only tokens that a key of the hub signed, with the algorithm of that key.

use a2c_hub::auth::{AuthRefusal, Jwt, JwtKey};
use rcgen::{KeyPair, PKCS_ED25519, SigningKey};
use serde_json::{Value, json};

use super::tokens::{NOW, SECRET, encode, hs256, hs256_with, jwt, shown, signed};

fn claims() -> Value {
    json!({"sub": "alice", "exp": NOW + 60})
}

fn eddsa(pair: &KeyPair) -> String {
    signed(&json!({"alg": "EdDSA"}), &claims(), |message| pair.sign(message).unwrap())
}

#[test]
fn a_secret_verifies_what_was_signed_with_it() {
    assert_eq!(shown(&jwt(), &hs256(&claims())).unwrap().subject(), "alice");
    let other = hs256_with(&json!({"alg": "HS256"}), &claims(), b"another secret that is long enough");
    assert_eq!(shown(&jwt(), &other), Err(AuthRefusal::Signature));
}

#[test]
fn a_public_key_verifies_what_its_private_key_signed() {
    let (right, wrong) = (KeyPair::generate_for(&PKCS_ED25519).unwrap(), KeyPair::generate_for(&PKCS_ED25519).unwrap());
    let jwt = Jwt::new(JwtKey::eddsa(&right.public_key_pem()).unwrap());
    assert_eq!(shown(&jwt, &eddsa(&right)).unwrap().subject(), "alice");
    assert_eq!(shown(&jwt, &eddsa(&wrong)), Err(AuthRefusal::Signature));
}

#[test]
fn a_public_key_is_never_a_secret() {
    let pair = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let pem = pair.public_key_pem();
    let jwt = Jwt::new(JwtKey::eddsa(&pem).unwrap());
    // An attacker knows the public key, in every one of these forms.
    for secret in [pem.as_bytes(), pem.trim_end().as_bytes(), pair.public_key_raw()] {
        let forged = hs256_with(&json!({"alg": "HS256"}), &claims(), secret);
        assert_eq!(shown(&jwt, &forged), Err(AuthRefusal::Algorithm));
        let forged = hs256_with(&json!({"alg": "EdDSA"}), &claims(), secret);
        assert_eq!(shown(&jwt, &forged), Err(AuthRefusal::Signature));
    }
}

#[test]
fn with_a_key_of_each_kind_each_token_needs_its_own() {
    let pair = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let pem = pair.public_key_pem();
    let jwt = jwt().or(JwtKey::eddsa(&pem).unwrap());
    assert!(shown(&jwt, &hs256(&claims())).is_ok());
    assert!(shown(&jwt, &eddsa(&pair)).is_ok());
    let forged = hs256_with(&json!({"alg": "HS256"}), &claims(), pem.as_bytes());
    assert_eq!(shown(&jwt, &forged), Err(AuthRefusal::Signature));
    let forged = signed(&json!({"alg": "HS256"}), &claims(), |message| pair.sign(message).unwrap());
    assert_eq!(shown(&jwt, &forged), Err(AuthRefusal::Signature));
}

#[test]
fn keys_are_changed_without_a_gap() {
    let (old, new): (&[u8], &[u8]) = (b"the old secret, more than 32 bytes", b"the new secret, more than 32 bytes");
    let jwt = Jwt::new(JwtKey::hs256(new).unwrap()).or(JwtKey::hs256(old).unwrap());
    for secret in [old, new] {
        assert!(shown(&jwt, &hs256_with(&json!({"alg": "HS256"}), &claims(), secret)).is_ok());
    }
    assert_eq!(shown(&jwt, &hs256(&claims())), Err(AuthRefusal::Signature));
}

#[test]
fn the_header_chooses_nothing() {
    let malformed = AuthRefusal::Malformed { what: "its header cannot be read" };
    for (header, expected) in [
        (json!({"alg": "none"}), malformed.clone()),
        (json!({"alg": "None"}), malformed.clone()),
        (json!({"alg": ""}), malformed.clone()),
        (json!({"alg": "hs256"}), malformed.clone()),
        (json!({"alg": null}), malformed.clone()),
        (json!({"alg": ["HS256"]}), malformed.clone()),
        (json!({"typ": "JWT"}), malformed.clone()),
        (json!([]), malformed),
        (json!({"alg": "HS384"}), AuthRefusal::Algorithm),
        (json!({"alg": "HS512"}), AuthRefusal::Algorithm),
        (json!({"alg": "RS256"}), AuthRefusal::Algorithm),
        (json!({"alg": "ES256"}), AuthRefusal::Algorithm),
        (json!({"alg": "EdDSA"}), AuthRefusal::Algorithm),
        (
            json!({"alg": "HS256", "crit": ["exp"]}),
            AuthRefusal::Malformed { what: "its header insists on an extension (`crit`)" },
        ),
    ] {
        assert_eq!(shown(&jwt(), &hs256_with(&header, &claims(), SECRET)), Err(expected), "{header}");
        // Without a signature it is no better.
        assert!(shown(&jwt(), &signed(&header, &claims(), |_| Vec::new())).is_err(), "{header}");
    }
    // A key that the token brings along is not one of ours.
    let stranger = b"a stranger's secret of some length";
    let key = json!({"kty": "oct", "k": encode(stranger)});
    let header = json!({"alg": "HS256", "jwk": key, "kid": "../../dev/null", "jku": "https://evil.example/keys"});
    assert_eq!(shown(&jwt(), &hs256_with(&header, &claims(), stranger)), Err(AuthRefusal::Signature));
}

#[test]
fn a_token_that_was_touched_is_worthless() {
    let token = hs256(&claims());
    for (index, _) in token.char_indices() {
        let mut touched = token.clone().into_bytes();
        touched[index] = if touched[index] == b'A' { b'B' } else { b'A' };
        let touched = String::from_utf8(touched).unwrap();
        assert!(shown(&jwt(), &touched).is_err(), "byte {index}: {touched}");
    }
    for end in 0..token.len() {
        assert!(shown(&jwt(), &token[..end]).is_err(), "the first {end} bytes");
    }
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
    for wrong in [
        format!("{token}."),
        format!(".{token}"),
        format!("{token}="),
        format!("{token} "),
        format!("{header}.{payload}."),
        format!("{header}.{payload}"),
        format!("{header}..{signature}"),
        format!("{header}.{payload}.{signature}.{signature}"),
        "..".to_owned(),
        "not a token".to_owned(),
        "日.本.語".to_owned(),
    ] {
        assert!(shown(&jwt(), &wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_oversized_token_is_not_even_read() {
    let too_long = AuthRefusal::TooLong { limit: 16 << 10 };
    let token = hs256(&json!({"sub": "alice", "exp": NOW + 60, "fill": "x".repeat(13 << 10)}));
    assert!(token.len() > 16 << 10);
    assert_eq!(shown(&jwt(), &token), Err(too_long.clone()));
    assert_eq!(shown(&jwt(), &"x".repeat((16 << 10) + 1)), Err(too_long));
    let token = hs256(&json!({"sub": "alice", "exp": NOW + 60, "fill": "x".repeat(11 << 10)}));
    assert!(shown(&jwt(), &token).is_ok());
}
