//! Fetching a JSON Web Key Set over HTTP, with bounds on its size, its time and where it leads.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use a2c_net::{http_client, is_this_machine, tls};
use reqwest::header::{CACHE_CONTROL, HeaderMap};
use reqwest::{Response, StatusCode, Url, redirect};

use super::key_set::{JwtKeySet, UnusableKeySet};

/// The longest set, in bytes.
const MAX_BODY: usize = 1 << 20;

/// How many redirects within its origin a request follows.
const MAX_REDIRECTS: usize = 3;

/// Why keys cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFetchError {
    /// The URL cannot be used.
    #[error("{problem}")]
    Url {
        /// The mistake in it.
        problem: &'static str,
    },
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] a2c_net::HttpClientError),
    /// The server cannot be reached, or does not finish its answer.
    #[error("{}", Causes(.0))]
    Transport(#[source] reqwest::Error),
    /// The server answered with an error.
    #[error("it answered {0}")]
    Status(StatusCode),
    /// The answer is too long for a set of keys.
    #[error("its answer is longer than {MAX_BODY} bytes")]
    TooLong,
    /// The answer holds no keys that the hub can use.
    #[error(transparent)]
    Keys(#[from] UnusableKeySet),
}

/// A redirect that the hub does not follow.
#[derive(Debug, thiserror::Error)]
enum RedirectRefusal {
    #[error("it leads to another origin: configure the URL that it leads to, if that is the issuer's")]
    OtherOrigin,
    #[error("there are more than {MAX_REDIRECTS} of them")]
    TooMany,
}

/// One URL, and the client that asks for it.
pub(super) struct KeyFetcher {
    client: reqwest::Client,
    url: Url,
}

/// A set, and how long its server says that it is good for.
pub(super) struct FetchedKeySet {
    pub(super) set: JwtKeySet,
    pub(super) max_age: Option<Duration>,
}

impl KeyFetcher {
    /// A fetch may take this long.
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, KeyFetchError> {
        let url = key_set_url(url)?;
        let tls = if url.scheme() == "https" { tls::system_trust() } else { tls::without_trust() };
        let client = http_client(tls.map_err(a2c_net::HttpClientError::from)?)
            .user_agent(a2c_net::USER_AGENT)
            .timeout(timeout)
            .redirect(redirect::Policy::custom(|attempt| match judge_redirect(attempt.url(), attempt.previous()) {
                Ok(()) => attempt.follow(),
                Err(refusal) => attempt.error(refusal),
            }))
            .build()
            .map_err(|error| a2c_net::HttpClientError::Build(error.without_url()))?;
        Ok(Self { client, url })
    }

    /// The URL without its query, which may hold a credential.
    pub(super) fn place(&self) -> String {
        let mut place = self.url.clone();
        place.set_query(None);
        place.into()
    }

    pub(super) async fn fetch(&self) -> Result<FetchedKeySet, KeyFetchError> {
        let transport = |error: reqwest::Error| KeyFetchError::Transport(error.without_url());
        let request = self.client.get(self.url.clone()).header("accept", "application/jwk-set+json, application/json");
        let response = request.send().await.map_err(transport)?;
        if response.status() != StatusCode::OK {
            return Err(KeyFetchError::Status(response.status()));
        }
        let max_age = max_age(response.headers());
        Ok(FetchedKeySet { set: JwtKeySet::parse(&body(response).await?)?, max_age })
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, KeyFetchError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| KeyFetchError::Transport(error.without_url()))? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(KeyFetchError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A URL that nobody on the way can answer for: https, or this machine.
fn key_set_url(text: &str) -> Result<Url, KeyFetchError> {
    let wrong = |problem| Err(KeyFetchError::Url { problem });
    let Ok(url) = Url::parse(text) else {
        return wrong("it is no URL, such as https://login.example.org/.well-known/jwks.json");
    };
    match url.scheme() {
        "https" if !url.has_host() => wrong("it names no host"),
        "http" if !is_this_machine(&url) => {
            wrong("whoever is on the way could replace the keys: write https://, http:// is for this machine only")
        }
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            wrong("it holds a user name or a password: keys of an issuer are public, leave them out")
        }
        "http" | "https" => Ok(url),
        _ => wrong("it is no https:// URL"),
    }
}

fn judge_redirect(to: &Url, previous: &[Url]) -> Result<(), RedirectRefusal> {
    if previous.iter().any(|url| url.origin() != to.origin()) {
        return Err(RedirectRefusal::OtherOrigin);
    }
    if previous.len() > MAX_REDIRECTS { Err(RedirectRefusal::TooMany) } else { Ok(()) }
}

/// How long an answer may be kept, by its `Cache-Control`.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let is = |name: &str| directives.iter().any(|directive| directive.eq_ignore_ascii_case(name));
    if is("no-store") || is("no-cache") {
        return Some(Duration::ZERO);
    }
    let age = directives.iter().filter_map(|directive| directive.split_once('='));
    let mut age = age.filter(|(name, _)| name.trim().eq_ignore_ascii_case("max-age"));
    age.next().and_then(|(_, seconds)| seconds.trim().trim_matches('"').parse().ok()).map(Duration::from_secs)
}

/// An error with all its causes: `reqwest` itself names only the first.
struct Causes<'a>(&'a reqwest::Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_tls_or_from_this_machine() {
        for (url, problem) in [
            ("https://login.example.org/.well-known/jwks.json", None),
            ("https://login.example.org/keys?client=7", None),
            ("http://127.0.0.1:8080/jwks", None),
            ("http://localhost:8080/jwks", None),
            ("http://[::1]/jwks", None),
            ("http://login.example.org/jwks", Some("https://")),
            ("http://10.0.0.7/jwks", Some("https://")),
            ("https://me:s3cret@login.example.org/", Some("password")),
            ("file:///etc/jwks.json", Some("no https://")),
            ("login.example.org/jwks", Some("no URL")),
            ("", Some("no URL")),
        ] {
            let told = key_set_url(url).err().map(|error| error.to_string());
            match problem {
                None => assert_eq!(told, None, "{url}"),
                Some(part) => {
                    let told = told.unwrap_or_else(|| panic!("{url} is accepted"));
                    assert!(told.contains(part) && !told.contains("s3cret"), "{url}: {told}");
                }
            }
        }
    }

    #[test]
    fn a_redirect_stays_within_its_origin() {
        let url = |text: &str| Url::parse(text).unwrap();
        let from = [url("https://login.example.org/jwks")];
        assert!(judge_redirect(&url("https://login.example.org/keys"), &from).is_ok());
        for elsewhere in
            ["http://login.example.org/jwks", "https://login.example.org:8443/jwks", "https://evil.example/jwks"]
        {
            assert!(matches!(judge_redirect(&url(elsewhere), &from), Err(RedirectRefusal::OtherOrigin)), "{elsewhere}");
        }
        let round = vec![from[0].clone(); MAX_REDIRECTS + 1];
        assert!(matches!(judge_redirect(&from[0], &round), Err(RedirectRefusal::TooMany)));
    }

    #[test]
    fn the_server_says_how_long_its_answer_is_good() {
        for (values, expected) in [
            (&[][..], None),
            (&["public"][..], None),
            (&["public, max-age=300, must-revalidate"], Some(300)),
            (&["Max-Age = \"7\""], Some(7)),
            (&["s-maxage=5"], None),
            (&["public", "max-age=9"], Some(9)),
            (&["max-age=-1"], None),
            (&["max-age=99999999999999999999999"], None),
            (&["no-store, max-age=300"], Some(0)),
            (&["no-cache"], Some(0)),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CACHE_CONTROL, value.parse().unwrap());
            }
            assert_eq!(max_age(&headers), expected.map(Duration::from_secs), "{values:?}");
        }
    }
}
