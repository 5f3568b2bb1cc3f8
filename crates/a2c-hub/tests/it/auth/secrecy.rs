//! No refusal, log text or debug text contains a credential.

use a2c_hub::auth::{ApiKey, ApiKeyAuth, Authenticate, Jwt, JwtKey};
use proptest::prelude::*;
use serde_json::json;

use super::tokens::{NOW, SECRET, hs256, hs256_with, jwt, shown};

/// Everything that could reach a log about a credential that was shown.
fn written(authenticate: &dyn Authenticate, credential: &str) -> String {
    match shown(authenticate, credential) {
        Ok(grant) => format!("{grant:?} {}", grant.subject()),
        Err(refused) => format!("{refused} {refused:?}"),
    }
}

/// Whether a text repeats eight characters in a row of a credential.
fn tells(text: &str, credential: &str) -> bool {
    credential.as_bytes().windows(8).any(|piece| text.as_bytes().windows(8).any(|window| window == piece))
}

proptest! {
    // Digits and capitals: our own words do not contain eight of them.
    #[test]
    fn no_word_about_a_refused_credential_repeats_it(credential in "[A-Z0-9]{8,64}(\\.[A-Z0-9]{8,64}){0,3}") {
        let key = ApiKeyAuth::new(ApiKey::new("another key").unwrap());
        let tokens = jwt();
        for authenticate in [&key as &dyn Authenticate, &tokens] {
            let text = written(authenticate, &credential);
            prop_assert!(!tells(&text, &credential), "{text}");
        }
    }

    #[test]
    fn no_word_about_a_signed_token_repeats_its_signature_or_an_odd_claim(odd in "[A-Z0-9]{8,40}", alg in "[A-Z0-9]{8,12}") {
        let claims = json!({"sub": "alice", "exp": NOW + 60, "iss": &odd, "roles": &odd});
        let strict = jwt().issuer("login").audience("a2c");
        for token in [
            hs256(&claims),
            hs256(&json!({"exp": &odd})),
            hs256(&json!({"exp": NOW, "roles": {&odd: &odd}})),
            hs256_with(&json!({"alg": &alg, "kid": &odd}), &claims, SECRET),
            hs256_with(&json!({"alg": "HS256", "crit": [&odd]}), &claims, SECRET),
            hs256_with(&json!({"alg": "HS256"}), &claims, b"another secret that is long enough"),
        ] {
            for authenticate in [&jwt(), &strict] {
                let text = written(authenticate, &token);
                prop_assert!(!tells(&text, &token) && !tells(&text, &odd) && !tells(&text, &alg), "{text}");
            }
        }
    }

    #[test]
    fn an_authentication_does_not_show_its_keys(key in "[A-Z0-9]{32,64}") {
        let of_keys = ApiKeyAuth::new(ApiKey::new(&key).unwrap().labelled("robots"));
        let of_tokens = Jwt::new(JwtKey::hs256(key.as_bytes()).unwrap()).issuer("login");
        let text = format!("{of_keys:?} {of_keys:#?} {of_tokens:?} {of_tokens:#?}");
        prop_assert!(text.contains("***") && !tells(&text, &key), "{text}");
        let unusable = [
            format!("{:?}", ApiKey::new(&format!("{key}\n"))),
            format!("{:?}", JwtKey::hs256(&key.as_bytes()[..31])),
            format!("{:?}", JwtKey::rs256(&key)),
            format!("{:?}", JwtKey::eddsa(&format!("-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----"))),
            format!("{:?}", JwtKey::eddsa(&format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----"))),
        ];
        for text in unusable {
            prop_assert!(text.starts_with("Err") && !tells(&text, &key), "{text}");
        }
    }
}
