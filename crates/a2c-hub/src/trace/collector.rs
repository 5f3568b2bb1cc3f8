//! The HTTP client of the trace collector.

use std::fmt;
use std::time::Duration;

use a2c_net::{http_client, tls};
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url, redirect};
use serde::Deserialize;

use super::{OtlpConfig, TraceStartError};

/// The path for traces below the base address of a collector.
const PATH: &str = "/v1/traces";

/// The bytes that are read of an answer.
const MAX_ANSWER: usize = 64 << 10;

/// The longest wait that a collector can ask for before the next attempt.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// A trace collector.
pub(super) struct Collector {
    client: reqwest::Client,
    url: Url,
}

/// The collector refused a batch.
#[derive(Debug)]
pub(super) enum ExportRefusal {
    /// Sending the batch again would not help.
    Forever(ExportFailure),
    /// The collector may accept the batch later, after the time that it named.
    ForNow(ExportFailure, Option<Duration>),
}

/// Why an export failed.
#[derive(Debug)]
pub(super) enum ExportFailure {
    Encoding(serde_json::Error),
    Status(StatusCode),
    Transport(reqwest::Error),
}

impl Collector {
    pub(super) fn new(config: &OtlpConfig) -> Result<Self, TraceStartError> {
        let url = traces_url(&config.endpoint)?;
        let tls = if url.scheme() == "https" { tls::system_trust() } else { tls::without_trust() };
        let client = http_client(tls.map_err(TraceStartError::Tls)?)
            .default_headers(headers(&config.headers)?)
            .timeout(config.timeout)
            // A redirect would send the headers to another host.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| TraceStartError::Client(error.without_url()))?;
        Ok(Self { client, url })
    }

    /// Sends a batch; returns how many of its spans the collector rejected.
    pub(super) async fn post(&self, body: Bytes) -> Result<u64, ExportRefusal> {
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let transport =
            |error: reqwest::Error| ExportRefusal::ForNow(ExportFailure::Transport(error.without_url()), None);
        let response = request.send().await.map_err(transport)?;
        let status = response.status();
        if status.is_success() {
            return Ok(rejected(response).await);
        }
        let reason = ExportFailure::Status(status);
        // OTLP names these codes as temporary; all others are final.
        Err(match status.as_u16() {
            429 | 502 | 503 | 504 => ExportRefusal::ForNow(reason, retry_after(response.headers())),
            _ => ExportRefusal::Forever(reason),
        })
    }
}

/// The number of rejected spans in an answer. An answer that is empty, cut off or no JSON still accepts the batch.
async fn rejected(mut response: Response) -> u64 {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > MAX_ANSWER {
            return 0;
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).map_or(0, |answer: ExportResponse| answer.partial_success.rejected())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportResponse {
    #[serde(default)]
    partial_success: PartialSuccess,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    rejected_spans: serde_json::Value,
}

impl PartialSuccess {
    /// A 64-bit number: the specification writes it as a string, collectors also as a number.
    fn rejected(&self) -> u64 {
        let spelt_out = || self.rejected_spans.as_str()?.parse().ok();
        self.rejected_spans.as_u64().or_else(spelt_out).unwrap_or(0)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// The URL for traces, from the base address of a collector or from the full URL.
fn traces_url(endpoint: &str) -> Result<Url, TraceStartError> {
    let wrong = |problem: &'static str| TraceStartError::Endpoint { problem };
    let base = endpoint.trim_end_matches('/');
    let full = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
    let url = Url::parse(&full).map_err(|_| wrong("it is not a URL, such as http://127.0.0.1:4318"))?;
    match url {
        _ if !matches!(url.scheme(), "http" | "https") => Err(wrong("it is neither http:// nor https://")),
        _ if !url.has_host() => Err(wrong("it names no host")),
        _ if !url.username().is_empty() || url.password().is_some() => {
            Err(wrong("it holds a credential: give that as a header"))
        }
        _ if url.query().is_some() || url.fragment().is_some() => Err(wrong("it has a query or a fragment")),
        url => Ok(url),
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, TraceStartError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let wrong = || TraceStartError::Header { name: name.clone() };
        let (key, mut value) =
            (name.parse::<HeaderName>().map_err(|_| wrong())?, HeaderValue::from_str(value).map_err(|_| wrong())?);
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

impl fmt::Display for ExportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding(error) => write!(f, "the spans cannot be encoded: {error}"),
            Self::Status(status) => write!(f, "it answered {status}"),
            Self::Transport(error) => {
                write!(f, "{error}")?;
                let mut source = std::error::Error::source(error);
                while let Some(error) = source {
                    write!(f, ": {error}")?;
                    source = error.source();
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_base_address_or_the_full_path() {
        let url = |endpoint: &str| traces_url(endpoint).map(String::from).map_err(|error| error.to_string());
        assert_eq!(url("http://127.0.0.1:4318").as_deref(), Ok("http://127.0.0.1:4318/v1/traces"));
        assert_eq!(url("https://c.example/otlp/").as_deref(), Ok("https://c.example/otlp/v1/traces"));
        assert_eq!(url("http://c:1/v1/traces").as_deref(), Ok("http://c:1/v1/traces"));
        for (endpoint, problem) in [
            ("127.0.0.1:4318", "not a URL"),
            ("grpc://c:4317", "neither"),
            ("http://me:s3cret@c:1", "credential"),
            ("http://c:1/?key=s3cret", "query"),
            ("", "not a URL"),
        ] {
            let error = url(endpoint).unwrap_err();
            assert!(error.contains(problem) && !error.contains("s3cret"), "{endpoint}: {error}");
        }
    }

    #[test]
    fn a_partial_success_says_how_many_were_rejected() {
        let rejected =
            |json: &str| serde_json::from_str::<ExportResponse>(json).map_or(0, |a| a.partial_success.rejected());
        assert_eq!(rejected(r#"{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "x"}}"#), 3);
        assert_eq!(rejected(r#"{"partialSuccess": {"rejectedSpans": 3}}"#), 3);
        assert_eq!(rejected(r#"{"partialSuccess": {}}"#), 0);
        assert_eq!(rejected("{}"), 0);
        assert_eq!(rejected("nonsense"), 0);
    }

    #[test]
    fn a_bad_header_is_named_without_its_value() {
        let error = headers(&[("x-key".into(), "s3cret\n".into())]).unwrap_err().to_string();
        assert!(error.contains("x-key") && !error.contains("s3cret"), "{error}");
    }
}
