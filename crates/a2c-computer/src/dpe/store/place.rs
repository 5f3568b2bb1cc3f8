//! Where an object store is, and how to get in.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ClientOptions, RetryConfig};
use reqwest::redirect;
use url::Url;

use super::Place;
use crate::dpe::private;
use crate::servers::upstream::outgoing;

/// How long the store may take to connect, and to be silent.
const CONNECT: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(60);

/// Why an object store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It is not written as it should be.
    #[error("an object store is written s3://BUCKET/PREFIX or file:///DIRECTORY: this {0}")]
    Url(&'static str),
    /// Credentials would end up in process lists and logs.
    #[error(
        "credentials do not belong into the URL of an object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    Credentials,
    /// What would be sent could be read on the way.
    #[error("the endpoint of the object store is not encrypted: use https, or set AWS_ALLOW_HTTP=true")]
    Unencrypted,
    /// The directory cannot be used.
    #[error("the directory of the object store cannot be used")]
    Directory(#[source] io::Error),
    /// The settings do not fit together.
    #[error("the settings of the object store (the AWS_… variables) cannot be used")]
    Settings(#[source] object_store::Error),
}

/// Finds the place that a URL names, and the key under which everything goes.
pub(super) fn open(
    url: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(Place, Key), StoreError> {
    let url = Url::parse(url).map_err(|_| StoreError::Url("is no URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(StoreError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(StoreError::Url("has a query or a fragment"));
    }
    match url.scheme() {
        "s3" => {
            let bucket = url.host_str().filter(|host| !host.is_empty()).ok_or(StoreError::Url("names no bucket"))?;
            let prefix = Key::from_url_path(url.path()).map_err(|_| StoreError::Url("has a prefix that is no key"))?;
            Ok((s3(bucket, variables)?, prefix))
        }
        "file" => {
            let path = url.to_file_path().map_err(|()| StoreError::Url("names no directory of this machine"))?;
            let path = private::make_directory(&path).map_err(StoreError::Directory)?;
            let directory = LocalFileSystem::new_with_prefix(path).map_err(StoreError::Settings)?;
            Ok((Place::Directory(Arc::new(directory)), Key::ROOT))
        }
        _ => Err(StoreError::Url("is neither")),
    }
}

fn s3(bucket: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Place, StoreError> {
    let mut builder = AmazonS3Builder::new();
    let mut allows_http = false;
    for (name, value) in variables.into_iter().filter(|(name, _)| name.starts_with("AWS_")) {
        allows_http |= name == "AWS_ALLOW_HTTP" && matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes");
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    for key in [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint] {
        if let Some(endpoint) = builder.get_config_value(&key)
            && !allows_http
            && !is_safe(&endpoint)
        {
            return Err(StoreError::Unencrypted);
        }
    }
    // Whoever waits has a limit of some seconds or minutes.
    let retry = RetryConfig { max_retries: 3, retry_timeout: Duration::from_secs(60), ..RetryConfig::default() };
    let built = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(OwnClient).build();
    Ok(Place::S3(Box::new(built.map_err(StoreError::Settings)?)))
}

/// Whether nobody can listen on the way.
fn is_safe(endpoint: &str) -> bool {
    let Ok(url) = Url::parse(endpoint) else { return false };
    match url.host() {
        _ if url.scheme() == "https" => true,
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Gives the store a client of ours: the same TLS as everywhere, no proxy, and no way that leads elsewhere.
#[derive(Debug)]
struct OwnClient;

impl HttpConnector for OwnClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic { store: "S3", source };
        let builder = outgoing::builder(true).map_err(|reason| failed(reason.into()))?;
        let client = builder
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .build()
            .map_err(|error| failed(error.into()))?;
        Ok(HttpClient::new(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_store_is_refused_without_repeating_it() {
        for (url, says) in [
            ("bucket", "is no URL"),
            ("gs://bucket", "is neither"),
            ("s3:///prefix", "names no bucket"),
            ("s3://bucket/p?x=1", "query"),
            ("s3://key:geheim@bucket/p", "AWS_ACCESS_KEY_ID"),
            ("s3://key@bucket/p", "AWS_ACCESS_KEY_ID"),
            ("file://elsewhere/dir", "names no directory"),
        ] {
            let Err(error) = open(url, []) else { panic!("{url} was taken") };
            assert!(error.to_string().contains(says) && !error.to_string().contains("geheim"), "{url}: {error}");
        }
    }

    #[test]
    fn an_endpoint_is_encrypted_on_this_machine_or_allowed() {
        let with = |endpoint: &str, allow: &str| {
            let variables = [("AWS_ENDPOINT_URL", endpoint), ("AWS_ALLOW_HTTP", allow)];
            open("s3://bucket", variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
        };
        assert!(matches!(with("http://minio.example:9000", "false"), Err(StoreError::Unencrypted)));
        assert!(with("http://minio.example:9000", "true").is_ok());
        assert!(with("http://127.0.0.1:9000", "false").is_ok());
        assert!(with("https://minio.example", "false").is_ok());
    }

    #[test]
    fn half_of_the_credentials_is_said_and_not_shown() {
        let variables = [("AWS_SECRET_ACCESS_KEY".to_owned(), "geheim".to_owned())];
        let Err(error) = open("s3://bucket", variables) else { panic!("it was taken") };
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("AccessKeyId") && !shown.contains("geheim"), "{shown}");
    }
}
