//! Documents behind `http://` and `https://`.
//!
//! The URL comes from a Computer, so the request carries nothing of the Agent: no credential, no cookie, no referrer, no
//! proxy of the environment. A document may lie on this machine or in its network, but neither where clouds keep
//! credentials, nor at any other address that no document has, nor at the hub of the Agent.

use std::time::Duration;

use a2c_net::{AddressPolicy, HttpClientError, OffLimits, PolicyClient, USER_AGENT, UrlRefusal, http_client, tls};
use bytes::BytesMut;
use reqwest::header::CONTENT_TYPE;
use tokio::sync::OnceCell;
use url::Url;

use super::{FetchFailure, FetchOptions, FetchedBody};

/// How often a server may redirect.
const MAX_REDIRECTS: usize = 5;

/// How long a server may take to take a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The HTTP clients of an Agent, made when the first document is fetched: reading the system's certificates takes a while.
pub(crate) struct Web {
    /// The URL of the hub.
    hub: String,
    /// Does not reach the hub.
    client: OnceCell<PolicyClient>,
    /// May reach the hub, too.
    with_hub: OnceCell<PolicyClient>,
}

impl Web {
    /// For the Agent of this hub.
    pub(crate) fn new(hub: &str) -> Self {
        Self { hub: hub.to_owned(), client: OnceCell::new(), with_hub: OnceCell::new() }
    }

    pub(super) async fn get(&self, url: &Url, options: &FetchOptions) -> Result<FetchedBody, FetchFailure> {
        let max_bytes = options.max_bytes;
        let request = self.client(options.hub).await?.get(url.clone()).map_err(|refusal| match refusal {
            UrlRefusal::OffLimits => FetchFailure::Hub,
            refusal => FetchFailure::UrlRefused(refusal),
        })?;
        let mut response = request.send().await.map_err(failure)?;
        if !response.status().is_success() {
            return Err(FetchFailure::Status(response.status().as_u16()));
        }
        let too_large = || FetchFailure::TooLarge { limit: max_bytes };
        if response.content_length().is_some_and(|length| length > max_bytes) {
            return Err(too_large());
        }
        let mime_type = response.headers().get(CONTENT_TYPE).and_then(|mime| mime.to_str().ok()).map(str::to_owned);
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(failure)? {
            if body.len() as u64 + chunk.len() as u64 > max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(FetchedBody { body: body.freeze(), mime_type })
    }

    async fn client(&self, may_reach_hub: bool) -> Result<&PolicyClient, FetchFailure> {
        let made = match may_reach_hub {
            true => self.with_hub.get_or_try_init(|| async { client(None) }).await,
            false => self.client.get_or_try_init(|| async { client(self.off_limits().await) }).await,
        };
        made.map_err(FetchFailure::Client)
    }

    async fn off_limits(&self) -> Option<OffLimits> {
        // An Agent is not connected to what is no URL.
        let hub = Url::parse(&self.hub).ok()?;
        Some(OffLimits::listener_of(&hub).await)
    }
}

fn client(off_limits: Option<OffLimits>) -> Result<PolicyClient, HttpClientError> {
    let builder = http_client(tls::system_trust_if_readable()?).user_agent(USER_AGENT).connect_timeout(CONNECT_LIMIT);
    match off_limits {
        Some(hub) => PolicyClient::avoiding(builder, AddressPolicy::THIS_MACHINE, MAX_REDIRECTS, hub),
        None => PolicyClient::new(builder, AddressPolicy::THIS_MACHINE, MAX_REDIRECTS),
    }
}

/// What went wrong, without the URL: it may be a key.
fn failure(error: reqwest::Error) -> FetchFailure {
    if error.is_redirect() { FetchFailure::Redirect } else { FetchFailure::Http(error.without_url()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_judged_by_scheme_user_and_address() {
        let client = client(None).unwrap();
        for good in [
            "http://127.0.0.1:8080/x",
            "http://[::1]/x",
            "http://[64:ff9b::93.184.216.34]/x",
            "https://example.com/x?signature=y",
            "http://10.0.0.7/",
            "http://localhost/",
        ] {
            assert!(client.get(good.parse().unwrap()).is_ok(), "{good}");
        }
        for bad in [
            "ftp://example.com/x",
            "http://user@example.com/",
            "http://:secret@example.com/",
            "http://169.254.169.254/latest",
            "http://2852039166/latest",
            "http://0xa9.254.169.254/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[::169.254.169.254]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd00:ec2::23]/",
            "http://100.100.100.200/latest",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
        ] {
            assert!(client.get(bad.parse().unwrap()).is_err(), "{bad}");
        }
    }
}
