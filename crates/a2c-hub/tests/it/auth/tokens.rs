//! Tokens made here, byte by byte, so that they can be as wrong as a test needs them.

use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2c_hub::auth::{AuthRefusal, Authenticate, Claim, Grant, Jwt, JwtKey};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderMap;
use ring::hmac;
use serde_json::{Value, json};

pub(crate) const SECRET: &[u8] = b"thirty-two bytes are the minimum";

/// The moment at which the tokens of the tests are judged, in seconds since 1970.
pub(crate) const NOW: u64 = 1_800_000_000;

/// An authentication that takes tokens of [`hs256`].
pub(crate) fn jwt() -> Jwt {
    Jwt::new(JwtKey::hs256(SECRET).unwrap())
}

/// A token of these claims as it should be.
pub(crate) fn hs256(claims: &Value) -> String {
    hs256_with(&json!({"alg": "HS256", "typ": "JWT"}), claims, SECRET)
}

/// A token with any header, signed with HMAC and SHA-256 whatever the header says.
pub(crate) fn hs256_with(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    signed(header, claims, |message| hmac::sign(&key, message).as_ref().to_vec())
}

/// A token with any header and any signature.
pub(crate) fn signed(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", encode(signature))
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// What becomes of a token that is shown some seconds after [`NOW`].
pub(crate) fn shown_at(authenticate: &dyn Authenticate, token: &str, seconds: u64) -> Result<Grant, AuthRefusal> {
    let headers = HeaderMap::new();
    let payload = json!({"token": token}).to_string();
    let claim = Claim {
        headers: &headers,
        payload: &payload,
        certificate: None,
        address: Ipv4Addr::LOCALHOST.into(),
        now: moment(NOW + seconds),
    };
    authenticate.authenticate(&claim)
}

pub(crate) fn shown(authenticate: &dyn Authenticate, token: &str) -> Result<Grant, AuthRefusal> {
    shown_at(authenticate, token, 0)
}

pub(crate) fn moment(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}
