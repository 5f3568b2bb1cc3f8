//! The location of an object store, from its URL and the environment.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use a2c_net::{USER_AGENT, http_client, is_this_machine, tls};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ClientOptions, RetryConfig};
use reqwest::redirect;
use url::Url;

use super::Backend;
use crate::private_files;

/// How long connecting may take, and how long the store may send nothing.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Why an object store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectStoreError {
    /// The URL has the wrong form.
    #[error("an object store is written s3://BUCKET/PREFIX or file:///DIRECTORY: this {0}")]
    Url(&'static str),
    /// The URL holds credentials, which would end up in process lists and logs.
    #[error("credentials do not belong in the URL of an object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    Credentials,
    /// Documents and credentials would travel unencrypted.
    #[error("the endpoint of the object store is not encrypted: use https, or set AWS_ALLOW_HTTP=true")]
    Unencrypted,
    /// The directory cannot be used.
    #[error("the directory of the object store cannot be used")]
    Directory(#[source] io::Error),
    /// The settings are incomplete or contradict each other.
    #[error("the settings of the object store (the AWS_… variables) cannot be used")]
    Settings(#[source] object_store::Error),
}

/// The store that a URL names, and the prefix of all keys.
pub(super) fn open(
    url: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(Backend, Key), ObjectStoreError> {
    let url = Url::parse(url).map_err(|_| ObjectStoreError::Url("is no URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ObjectStoreError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ObjectStoreError::Url("has a query or a fragment"));
    }
    match url.scheme() {
        "s3" => {
            let bucket =
                url.host_str().filter(|host| !host.is_empty()).ok_or(ObjectStoreError::Url("names no bucket"))?;
            let prefix =
                Key::from_url_path(url.path()).map_err(|_| ObjectStoreError::Url("has a prefix that is no key"))?;
            Ok((s3(bucket, variables)?, prefix))
        }
        "file" => {
            let path = url.to_file_path().map_err(|()| ObjectStoreError::Url("names no directory of this machine"))?;
            let path = private_files::make_directory(&path).map_err(ObjectStoreError::Directory)?;
            let directory = LocalFileSystem::new_with_prefix(path).map_err(ObjectStoreError::Settings)?;
            Ok((Backend::Directory(Arc::new(directory)), Key::ROOT))
        }
        _ => Err(ObjectStoreError::Url("is neither")),
    }
}

fn s3(bucket: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Backend, ObjectStoreError> {
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
            && !is_private(&endpoint)
        {
            return Err(ObjectStoreError::Unencrypted);
        }
    }
    // A request waits for seconds or minutes, not longer.
    let retry = RetryConfig { max_retries: 3, retry_timeout: Duration::from_secs(60), ..RetryConfig::default() };
    let built = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(A2cHttpConnector).build();
    Ok(Backend::S3(Box::new(built.map_err(ObjectStoreError::Settings)?)))
}

/// Whether the traffic to an endpoint is encrypted or stays on this machine.
fn is_private(endpoint: &str) -> bool {
    let Ok(url) = Url::parse(endpoint) else { return false };
    url.scheme() == "https" || is_this_machine(&url)
}

/// Gives the store our HTTP client: the TLS of all our clients, no proxy, and no redirects.
#[derive(Debug)]
struct A2cHttpConnector;

impl HttpConnector for A2cHttpConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic { store: "S3", source };
        let client = http_client(tls::system_trust().map_err(|error| failed(error.into()))?)
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()
            .map_err(|error| failed(error.into()))?;
        Ok(HttpClient::new(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_url_is_refused_without_repeating_it() {
        for (url, says) in [
            ("bucket", "is no URL"),
            ("gs://bucket", "is neither"),
            ("s3:///prefix", "names no bucket"),
            ("s3://bucket/p?x=1", "query"),
            ("s3://key:geheim@bucket/p", "AWS_ACCESS_KEY_ID"),
            ("s3://key@bucket/p", "AWS_ACCESS_KEY_ID"),
            ("file://elsewhere/dir", "names no directory"),
        ] {
            let Err(error) = open(url, []) else { panic!("{url} was accepted") };
            assert!(error.to_string().contains(says) && !error.to_string().contains("geheim"), "{url}: {error}");
        }
    }

    #[test]
    fn an_endpoint_is_encrypted_or_local_or_allowed() {
        let with = |endpoint: &str, allow: &str| {
            let variables = [("AWS_ENDPOINT_URL", endpoint), ("AWS_ALLOW_HTTP", allow)];
            open("s3://bucket", variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
        };
        assert!(matches!(with("http://minio.example:9000", "false"), Err(ObjectStoreError::Unencrypted)));
        assert!(with("http://minio.example:9000", "true").is_ok());
        assert!(with("http://127.0.0.1:9000", "false").is_ok());
        assert!(with("https://minio.example", "false").is_ok());
    }

    #[test]
    fn incomplete_credentials_are_reported_and_not_shown() {
        let variables = [("AWS_SECRET_ACCESS_KEY".to_owned(), "geheim".to_owned())];
        let Err(error) = open("s3://bucket", variables) else { panic!("it was accepted") };
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("AccessKeyId") && !shown.contains("geheim"), "{shown}");
    }
}
