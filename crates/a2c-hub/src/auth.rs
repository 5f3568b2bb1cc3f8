//! Who may connect.

use axum::http::HeaderMap;
use serde::Deserialize;
use subtle::ConstantTimeEq;

/// How a client proves that it may connect.
#[derive(Clone, Default)]
pub enum Auth {
    /// Everybody may; for loopback only.
    #[default]
    None,
    /// Whoever knows the token, as `auth.token` or in the header `x-api-key` or `access_token`.
    Token(String),
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token(***)",
        })
    }
}

#[derive(Deserialize)]
struct Credentials {
    token: Option<String>,
}

impl Auth {
    /// Whether a client with these headers and this CONNECT payload is let in.
    pub(crate) fn admits(&self, headers: &HeaderMap, auth: &str) -> bool {
        let Self::Token(expected) = self else { return true };
        let in_payload = serde_json::from_str::<Credentials>(auth).ok().and_then(|c| c.token);
        let in_headers = ["x-api-key", "access_token"].into_iter().filter_map(|name| headers.get(name)?.to_str().ok());
        in_headers.chain(in_payload.as_deref()).any(|given| bool::from(given.as_bytes().ct_eq(expected.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_from_all_three_places() {
        let auth = Auth::Token("s3cret".into());
        let admits = |header: Option<(&'static str, &'static str)>, payload: &str| {
            let headers = header.map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).into_iter().collect();
            auth.admits(&headers, payload)
        };
        assert!(admits(Some(("x-api-key", "s3cret")), ""));
        assert!(admits(Some(("access_token", "s3cret")), "{}"));
        assert!(admits(None, r#"{"role": "agent", "token": "s3cret"}"#));
        assert!(!admits(None, ""));
        assert!(!admits(Some(("x-api-key", "S3cret")), r#"{"token": 3}"#));
        assert!(!admits(Some(("authorization", "s3cret")), "{}"));
        assert!(Auth::None.admits(&HeaderMap::new(), ""));
        assert!(!format!("{auth:?}").contains("s3cret"));
    }
}
