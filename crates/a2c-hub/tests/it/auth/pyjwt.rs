//! Tokens of a foreign implementation: PyJWT, with keys that OpenSSL has made.

use std::io::Write;
use std::process::Stdio;
use std::sync::OnceLock;

use a2c_hub::auth::{AuthRefusal, Jwt, JwtKey, UnusableJwtKey};
use a2c_protocol::Role;
use serde_json::{Value, json};

use super::tokens::{NOW, SECRET, hs256_with, moment, shown};

type MakeKey = fn(&str) -> Result<JwtKey, UnusableJwtKey>;

const ALGORITHMS: [(&str, MakeKey); 4] = [
    ("HS256", |secret| JwtKey::hs256(secret.as_bytes())),
    ("RS256", JwtKey::rs256),
    ("EdDSA", JwtKey::eddsa),
    ("ES256", JwtKey::es256),
];

fn claims() -> Value {
    json!({
        "sub": "alice",
        "exp": NOW + 60,
        "nbf": NOW - 60,
        "iss": "https://login.example",
        "aud": ["mail", "a2c"],
        "roles": ["computer"],
        "offices": ["lab-*"],
        "name": "printer-?",
    })
}

/// What PyJWT has made of [`claims`].
fn minted() -> &'static Value {
    static MINTED: OnceLock<Value> = OnceLock::new();
    MINTED.get_or_init(|| mint(&claims()))
}

/// What PyJWT makes of claims: for each algorithm `token`, `key` and `other`, and for public keys `published`.
pub(crate) fn mint(claims: &Value) -> Value {
    let mut command = a2c_testbed::python_script("jwt_mint.py");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = command.spawn().unwrap();
    let order = json!({"claims": claims, "secret": str::from_utf8(SECRET).unwrap()});
    python.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "PyJWT failed: {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'a>(algorithm: &str, what: &str) -> &'a str {
    minted()[algorithm][what].as_str().unwrap()
}

fn hub_of(make: MakeKey, key: &str) -> Jwt {
    Jwt::new(make(key).unwrap()).issuer("https://login.example").audience("a2c")
}

#[test]
fn each_algorithm_is_verified_with_the_right_key_and_no_other() {
    for (algorithm, make) in ALGORITHMS {
        let grant = shown(&hub_of(make, text(algorithm, "key")), text(algorithm, "token"));
        let grant = grant.unwrap_or_else(|refused| panic!("{algorithm}: {refused}"));
        assert_eq!((grant.subject(), grant.expires_at()), ("alice", Some(moment(NOW + 60))), "{algorithm}");
        assert!(grant.permits_role(Role::Computer) && !grant.permits_role(Role::Agent), "{algorithm}");
        assert!(grant.permits_office("lab-7") && !grant.permits_office("board"), "{algorithm}");
        assert!(grant.permits_name("printer-1") && !grant.permits_name("scanner-1"), "{algorithm}");

        let refused = shown(&hub_of(make, text(algorithm, "other")), text(algorithm, "token"));
        assert_eq!(refused, Err(AuthRefusal::Signature), "{algorithm}");
    }
}

#[test]
fn a_token_of_one_algorithm_is_nothing_to_a_key_of_another() {
    for (algorithm, make) in ALGORITHMS {
        let hub = hub_of(make, text(algorithm, "key"));
        for foreign in ["HS256", "RS256", "EdDSA", "ES256", "HS512"].into_iter().filter(|foreign| *foreign != algorithm)
        {
            assert_eq!(shown(&hub, text(foreign, "token")), Err(AuthRefusal::Algorithm), "{foreign} for {algorithm}");
        }
        let unsigned = shown(&hub, text("none", "token"));
        assert_eq!(unsigned, Err(AuthRefusal::Malformed { what: "its header cannot be read" }), "none for {algorithm}");
    }
}

#[test]
fn the_public_rsa_key_is_no_secret() {
    let pem = text("RS256", "key");
    let hub = hub_of(JwtKey::rs256, pem);
    let der: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    for secret in [pem, pem.trim_end(), &der] {
        for (alg, expected) in [("HS256", AuthRefusal::Algorithm), ("RS256", AuthRefusal::Signature)] {
            let forged = hs256_with(&json!({"alg": alg}), &claims(), secret.as_bytes());
            assert_eq!(shown(&hub, &forged), Err(expected), "{alg}");
        }
    }
}
