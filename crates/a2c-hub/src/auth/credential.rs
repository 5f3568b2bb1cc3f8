//! The places in which a client may send its credential.

use std::borrow::Cow;

use serde::Deserialize;

use super::{AuthRefusal, Claim};

/// The longest credential that the hub reads, in bytes.
pub(super) const MAX_CREDENTIAL: usize = 16 << 10;

/// Headers that hold a credential and nothing else.
const HEADERS: [&str; 2] = ["x-api-key", "access_token"];

#[derive(Deserialize)]
struct TokenPayload<'a> {
    #[serde(borrow)]
    token: Option<Cow<'a, str>>,
}

/// Verifies the credential of each place until one is accepted. If none is, returns the first refusal, or the one that
/// fresh keys may change.
///
/// Clients in the field fill more than one place, sometimes with a credential of another service.
pub(super) fn verify_credentials<T>(
    claim: &Claim<'_>,
    verify: impl Fn(&[u8]) -> Result<T, AuthRefusal>,
) -> Result<T, AuthRefusal> {
    let mut first = None;
    for credential in credentials(claim) {
        let outcome = if credential.len() > MAX_CREDENTIAL {
            Err(AuthRefusal::TooLong { limit: MAX_CREDENTIAL })
        } else {
            verify(&credential)
        };
        match outcome {
            Ok(good) => return Ok(good),
            Err(AuthRefusal::UnknownKey) => first = Some(AuthRefusal::UnknownKey),
            Err(refused) => first = first.or(Some(refused)),
        }
    }
    Err(first.unwrap_or(AuthRefusal::Missing))
}

/// The credentials of all places, without empty ones.
fn credentials<'a>(claim: &Claim<'a>) -> impl Iterator<Item = Cow<'a, [u8]>> {
    let headers = claim.headers;
    let plain = HEADERS.into_iter().filter_map(move |name| Some(headers.get(name)?.as_bytes()));
    let bearer = headers.get("authorization").and_then(|value| after_bearer(value.as_bytes()));
    let in_headers = plain.chain(bearer).map(Cow::Borrowed);
    in_headers.chain(in_payload(claim.payload)).filter(|credential| !credential.is_empty())
}

/// `auth.token` of the CONNECT.
fn in_payload(payload: &str) -> Option<Cow<'_, [u8]>> {
    // Only an object: serde would also accept ["…"].
    let payload = payload.trim_ascii_start();
    let payload: TokenPayload<'_> = payload.starts_with('{').then(|| serde_json::from_str(payload).ok())??;
    payload.token.map(|token| match token {
        Cow::Borrowed(token) => Cow::Borrowed(token.as_bytes()),
        Cow::Owned(token) => Cow::Owned(token.into_bytes()),
    })
}

/// The credential of a `Bearer` header. HTTP ignores the case of the scheme.
fn after_bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, headers};
    use super::*;

    #[test]
    fn a_credential_is_found_in_each_place() {
        let big = "x".repeat(MAX_CREDENTIAL);
        for (pairs, payload, found) in [
            (&[][..], "", &[][..]),
            (&[("x-api-key", "a")], "", &["a"]),
            (&[("X-API-Key", "a")], "", &["a"]),
            (&[("access_token", "a")], "{}", &["a"]),
            (&[("authorization", "Bearer a")], "", &["a"]),
            (&[("authorization", "bEARER   a ")], "", &["a"]),
            (&[], r#"{"token": "a"}"#, &["a"]),
            (&[], r#" {"role": "agent", "more": [1], "token": "\u0061\n"}"#, &["a\n"]),
            (&[("x-api-key", &big)], "", &[&big]),
            // All of them, in this order.
            (
                &[("authorization", "Bearer c"), ("access_token", "b"), ("x-api-key", "a")],
                r#"{"token": "d"}"#,
                &["a", "b", "c", "d"],
            ),
            // No credential in any of them.
            (&[("authorization", "a")], "", &[]),
            (&[("authorization", "Basic a")], "", &[]),
            (&[("authorization", "Bearer")], "", &[]),
            (&[("authorization", "Bearer ")], "", &[]),
            (&[("x-api-key", ""), ("cookie", "token=a"), ("token", "a")], r#"{"token": ""}"#, &[]),
            (&[], r#"{"token": null}"#, &[]),
            (&[], r#"{"token": 3}"#, &[]),
            (&[], r#"{"token": ["a"]}"#, &[]),
            (&[], r#"{"token": "a", "token": "b"}"#, &[]),
            (&[], r#"{"auth": {"token": "a"}}"#, &[]),
            (&[], r#"["a"]"#, &[]),
            (&[], r#""a""#, &[]),
            (&[], r#"{"token": "a""#, &[]),
        ] {
            let headers = headers(pairs);
            let given: Vec<_> = credentials(&claim(&headers, payload)).collect();
            let expected: Vec<_> = found.iter().map(|text| text.as_bytes()).collect();
            assert_eq!(given, expected, "{pairs:?} {payload}");
        }
    }

    #[test]
    fn one_good_credential_is_enough_and_the_first_refusal_stands() {
        let verify_text = |pairs: &[(&str, &str)], payload: &str| {
            verify_credentials(&claim(&headers(pairs), payload), |credential| match credential {
                b"good" => Ok(()),
                b"old" => Err(AuthRefusal::Expired),
                _ => Err(AuthRefusal::Wrong),
            })
        };
        let long = "x".repeat(MAX_CREDENTIAL + 1);
        let too_long = Err(AuthRefusal::TooLong { limit: MAX_CREDENTIAL });
        assert_eq!(verify_text(&[], ""), Err(AuthRefusal::Missing));
        assert_eq!(verify_text(&[("x-api-key", "bad")], r#"{"token": "good"}"#), Ok(()));
        assert_eq!(verify_text(&[("x-api-key", "old"), ("access_token", "bad")], ""), Err(AuthRefusal::Expired));
        assert_eq!(verify_text(&[("x-api-key", &long)], ""), too_long);
        assert_eq!(verify_text(&[], &format!(r#"{{"token": "{long}"}}"#)), too_long);
        assert_eq!(verify_text(&[("x-api-key", &long)], r#"{"token": "good"}"#), Ok(()));
    }
}
