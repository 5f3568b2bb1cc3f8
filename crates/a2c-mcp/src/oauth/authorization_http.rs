//! Requests to an authorisation server, whose addresses the MCP server or its metadata name: an MCP server must not make
//! this Computer connect to where the server itself has no access.
//!
//! The address that the owner wrote down sets the measure. A public server names public addresses; one in a private network may also
//! name private ones, one on this machine also those of this machine. Only http and https, and no http where the owner
//! wrote https.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2c_net::{
    AddressKind, AddressPolicy, HttpClientError, USER_AGENT, http_client, is_this_machine, literal_address, lookup, tls,
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadataResolution, OAuthHttpClient, OAuthHttpClientFuture,
    OAuthHttpRequest,
};
use serde_json::Value;
use url::Url;

use crate::http::HttpError;

/// How long one request may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How large an answer may be.
const BODY_LIMIT: usize = 1 << 20;

/// Why an address that a server names is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no URL.
    #[error("its address is none")]
    NotAnAddress,
    /// The page for the browser carries no `state`, by which its answer is recognised.
    #[error("its address has no state")]
    NoState,
    /// It has no TLS, though the MCP server has.
    #[error("it names an address without TLS, though its own has it")]
    NoTls,
    /// It is not an HTTP address.
    #[error("it names an address that is neither http nor https")]
    Scheme,
    /// It has metadata that speak for an issuer of another origin.
    #[error("it names metadata that speak for an issuer elsewhere")]
    OtherIssuer,
    /// It is nearer to this machine than the MCP server.
    #[error("it names an address that is off limits ({0})")]
    OffLimits(AddressKind),
}

/// The HTTP client for the authorisation servers that one MCP server names.
pub(super) struct AuthorizationHttp {
    client: reqwest::Client,
    home: Url,
    issuer: Mutex<Option<RenamedIssuer>>,
}

/// An issuer that goes by another name where its metadata is, as with some servers of 2025-03-26: both are of the MCP
/// server's own origin.
#[derive(Clone)]
struct RenamedIssuer {
    calls_itself: String,
    belongs_there: String,
}

impl AuthorizationHttp {
    pub(super) fn new(home: &Url) -> Result<Arc<Self>, HttpClientError> {
        // A machine without certificates can still do without TLS, if its owner does.
        let tls = if home.scheme() == "http" { tls::system_trust_if_readable()? } else { tls::system_trust()? };
        let client = http_client(tls)
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .timeout(LIMIT)
            .dns_resolver(Arc::new(HomePolicyResolver { home: home.clone() }))
            .build()
            .map_err(|error| HttpClientError::Build(error.without_url()))?;
        Ok(Arc::new(Self { client, home: home.clone(), issuer: Mutex::default() }))
    }

    /// The metadata of the authorisation server that a challenge leads to, or of the one that belongs to the server.
    pub(super) async fn discover(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<AuthorizationMetadataResolution, AuthError> {
        match manager.resolve_metadata_from_challenge(challenge).await {
            Err(AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer })
                if [&expected_issuer, &received_issuer].into_iter().all(|issuer| self.is_of_home(issuer)) =>
            {
                let renamed = RenamedIssuer { calls_itself: received_issuer, belongs_there: expected_issuer };
                *self.issuer.lock().unwrap_or_else(PoisonError::into_inner) = Some(renamed);
                manager.resolve_metadata_from_challenge(challenge).await
            }
            found => found,
        }
    }

    fn is_of_home(&self, issuer: &str) -> bool {
        Url::parse(issuer).is_ok_and(|issuer| issuer.origin() == self.home.origin())
    }

    /// The issuer under the name by which it was found.
    pub(super) fn issuer(&self, issuer: String) -> String {
        match &*self.issuer.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(renamed) if renamed.calls_itself == issuer => renamed.belongs_there.clone(),
            _ => issuer,
        }
    }

    /// Metadata in which the issuer has the name by which it was found.
    fn rename_issuer(&self, body: Vec<u8>) -> Vec<u8> {
        if self.issuer.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return body;
        }
        let Ok(mut metadata) = serde_json::from_slice::<serde_json::Map<String, Value>>(&body) else { return body };
        if let Some(Value::String(issuer)) = metadata.get_mut("issuer") {
            *issuer = self.issuer(std::mem::take(issuer));
        }
        serde_json::to_vec(&metadata).unwrap_or(body)
    }
}

impl OAuthHttpClient for AuthorizationHttp {
    fn execute(&self, asked: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(asked.request).map_err(HttpError::from)?;
            check(&self.home, request.url())?;
            let address = request.url().clone();
            if let Some(address) = literal_address(request.url())
                && !is_home(&self.home, request.url().host_str())
                && !policy_of(&self.home).await.allows(address)
            {
                let kind = AddressKind::of(address);
                return Err(AddressError::OffLimits(kind).into());
            }
            let mut response = self.client.execute(request).await.map_err(HttpError::from)?;
            let mut answer = http::Response::builder().status(response.status()).version(response.version());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(HttpError::from)? {
                if chunk.len() > BODY_LIMIT - body.len() {
                    return Err(HttpError::TooLarge(BODY_LIMIT).into());
                }
                body.extend_from_slice(&chunk);
            }
            check_issuer(&address, &body)?;
            Ok(answer.body(self.rename_issuer(body))?)
        })
    }
}

/// Metadata may speak only for an issuer of the origin that they come from. Else an MCP server could name a document of
/// its own that calls itself the owner's authorisation server, and be sent the owner's refresh token and client secret.
fn check_issuer(address: &Url, body: &[u8]) -> Result<(), AddressError> {
    #[derive(serde::Deserialize)]
    struct Issued {
        issuer: Option<String>,
    }
    let Ok(Issued { issuer: Some(issuer) }) = serde_json::from_slice(body) else { return Ok(()) };
    match Url::parse(&issuer).is_ok_and(|issuer| issuer.origin() == address.origin()) {
        true => Ok(()),
        false => Err(AddressError::OtherIssuer),
    }
}

/// Whether an address may be named at all by a server at `home`, wherever it leads.
pub(super) fn check(home: &Url, url: &Url) -> Result<(), AddressError> {
    match (url.scheme(), home.scheme()) {
        ("https", _) | ("http", "http") if url.has_host() => Ok(()),
        ("http", _) if is_this_machine(home) && is_this_machine(url) => Ok(()),
        ("http", _) => Err(AddressError::NoTls),
        _ => Err(AddressError::Scheme),
    }
}

fn is_home(home: &Url, host: Option<&str>) -> bool {
    home.host_str() == host
}

/// Where a server at `home` may send this Computer: as near as the server itself is, and no nearer.
async fn policy_of(home: &Url) -> AddressPolicy {
    let addresses = match literal_address(home) {
        Some(address) => vec![address],
        None => {
            let found = lookup(home.host_str().unwrap_or_default(), AddressPolicy::ANYWHERE).await;
            found.unwrap_or_default().iter().map(|found| found.ip()).collect()
        }
    };
    let policies = addresses.into_iter().filter_map(AddressPolicy::around);
    policies.fold(AddressPolicy::PUBLIC, AddressPolicy::or)
}

/// Looks names up. The name in `home` is the owner's, and leads anywhere.
struct HomePolicyResolver {
    home: Url,
}

impl Resolve for HomePolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let home = self.home.clone();
        Box::pin(async move {
            let policy = match is_home(&home, Some(name.as_str())) {
                true => AddressPolicy::ANYWHERE,
                false => policy_of(&home).await,
            };
            let found = lookup(name.as_str(), policy).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_no_step_down_from_tls() {
        for (home, url, fine) in [
            ("https://h/mcp", "https://a/token", true),
            ("https://h/mcp", "http://a/token", false),
            ("https://h/mcp", "http://127.0.0.1/token", false),
            ("https://localhost/mcp", "http://127.0.0.1/token", true),
            ("http://h/mcp", "http://a/token", true),
            ("http://h/mcp", "https://a/token", true),
            ("http://h/mcp", "file:///etc/passwd", false),
            ("http://h/mcp", "javascript:alert(1)", false),
        ] {
            assert_eq!(check(&home.parse().unwrap(), &url.parse().unwrap()).is_ok(), fine, "{home} -> {url}");
        }
    }

    #[test]
    fn metadata_speak_for_their_own_origin_only() {
        let at = |address: &str, issuer: &str| {
            let body = serde_json::json!({"issuer": issuer, "token_endpoint": "https://anywhere/token"});
            check_issuer(&address.parse().unwrap(), body.to_string().as_bytes())
        };
        assert_eq!(at("https://a/.well-known/oauth-authorization-server/t", "https://a/t"), Ok(()));
        assert_eq!(at("https://a/.well-known/x", "https://a"), Ok(()));
        for (address, issuer) in [
            ("https://evil/.well-known/x", "https://a"),
            ("https://evil/.well-known/oauth-authorization-server", "https://a"),
            ("https://a:444/.well-known/x", "https://a"),
            ("http://a/.well-known/x", "https://a"),
            ("https://a/.well-known/x", "no address"),
        ] {
            assert_eq!(at(address, issuer), Err(AddressError::OtherIssuer), "{address} {issuer}");
        }
        assert_eq!(check_issuer(&"https://a".parse().unwrap(), b"{\"resource\": \"https://h\"}"), Ok(()));
        assert_eq!(check_issuer(&"https://a".parse().unwrap(), b"no JSON"), Ok(()));
    }

    #[tokio::test]
    async fn addresses_are_as_near_as_their_home_at_most() {
        for (address, world, private, machine) in [
            ("93.184.216.34", true, true, true),
            ("2606:2800::1", true, true, true),
            ("64:ff9b::5db8:d822", true, true, true),
            ("10.1.2.3", false, true, true),
            ("100.64.0.1", false, true, true),
            ("198.18.0.1", false, true, true),
            ("fd00::1", false, true, true),
            ("127.0.0.1", false, false, true),
            ("::1", false, false, true),
            ("::ffff:127.0.0.1", false, false, true),
            ("::127.0.0.1", false, false, true),
            ("64:ff9b::7f00:1", false, false, true),
            ("169.254.169.254", false, false, false),
            ("::ffff:169.254.169.254", false, false, false),
            ("::169.254.169.254", false, false, false),
            ("64:ff9b::a9fe:a9fe", false, false, false),
            ("fd00:ec2::254", false, false, false),
            ("fe80::1", false, false, false),
            ("0.0.0.0", false, false, false),
            ("::", false, false, false),
            ("192.0.2.1", false, false, false),
        ] {
            let given = address.parse().unwrap();
            let mut seen = Vec::new();
            for home in ["https://93.184.216.34/mcp", "https://10.0.0.1/mcp", "https://127.0.0.1/mcp"] {
                seen.push(policy_of(&home.parse().unwrap()).await.allows(given));
            }
            assert_eq!(seen, [world, private, machine], "{address}");
        }
    }
}
