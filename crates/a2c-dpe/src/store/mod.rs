//! Documents in an object store: S3 and compatible stores, or a directory with the same layout.

mod location;

use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::context::A2cResource;
use async_trait::async_trait;
use http::Method;
use jiff::Timestamp;
use object_store::aws::AmazonS3;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::signer::Signer as _;
use object_store::{Attribute, Attributes, ObjectStoreExt as _, PutOptions};
use url::Url;

use crate::resolver::{DpeContents, DpeResolver, ResolveError, SourceDocument};
use crate::{answer, file_names};

pub use location::ObjectStoreError;

/// The longest lifetime of an address that S3 signs.
const MAX_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// Uploads documents to an object store and answers with signed addresses that expire.
///
/// Each state of a document is an object of its own, `PREFIX/HOST/DOCUMENT/ETAG.json`. Nothing is ever removed: give the
/// bucket a lifecycle rule.
pub struct ObjectStore {
    backend: Backend,
    prefix: Key,
    lifetime: Duration,
}

enum Backend {
    S3(Box<AmazonS3>),
    Directory(Arc<LocalFileSystem>),
}

impl ObjectStore {
    /// Uses `s3://BUCKET[/PREFIX]` or `file:///DIRECTORY`. Credentials, region and endpoint of S3 come from the usual
    /// environment variables (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, …).
    pub fn open(url: &str) -> Result<Self, ObjectStoreError> {
        // None of the variables in question has a value that is not Unicode.
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::open_with(url, variables)
    }

    /// [`ObjectStore::open`] with these variables instead of those of the environment.
    pub fn open_with(
        url: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ObjectStoreError> {
        let (backend, prefix) = location::open(url, variables)?;
        Ok(Self { backend, prefix, lifetime: Duration::from_secs(3600) })
    }

    /// How long signed addresses are valid: an hour by default, a week at most.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.clamp(Duration::from_secs(1), MAX_LIFETIME);
        self
    }

    fn key(&self, document: &SourceDocument) -> Key {
        let (host, doc_ref) = (file_names::host_of(&document.uri), file_names::doc_ref_of(&document.uri));
        self.prefix.clone().join(host).join(doc_ref).join(format!("{}.json", document.etag))
    }
}

#[async_trait]
impl DpeResolver for ObjectStore {
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
        let json = match &document.contents {
            DpeContents::External(external) => return Ok(external.answer()),
            DpeContents::Inline(json) => json.clone(),
        };
        let key = self.key(document);
        let failed =
            |error| ResolveError::new("the object store of this Computer did not accept the document").caused_by(error);
        let no_address =
            |error: object_store::Error| ResolveError::new("the object store gave no address").caused_by(error);
        match &self.backend {
            Backend::S3(s3) => {
                let attributes = Attributes::from_iter([
                    (Attribute::ContentType, "application/json"),
                    (Attribute::CacheControl, "private"),
                ]);
                let options = PutOptions { attributes, ..PutOptions::default() };
                object_store::ObjectStore::put_opts(s3.as_ref(), &key, json.into(), options).await.map_err(failed)?;
                // Taken before the address is signed, so that the announced expiry is never later than the real one.
                let expires = Timestamp::now().checked_add(self.lifetime).unwrap_or(Timestamp::MAX);
                let url = s3.signed_url(Method::GET, &key, self.lifetime).await.map_err(no_address)?;
                Ok(A2cResource { meta: answer::expiring(expires), ..document.at(url) })
            }
            Backend::Directory(directory) => {
                directory.put(&key, json.into()).await.map_err(failed)?;
                let path = directory.path_to_filesystem(&key).map_err(no_address)?;
                let url =
                    Url::from_file_path(path).map_err(|()| ResolveError::new("the directory has no absolute path"))?;
                Ok(document.at(url))
            }
        }
    }

    /// The owner may have removed a file of a directory. A bucket is not asked: its objects outlive their addresses.
    async fn still_holds(&self, resource: &A2cResource) -> bool {
        let path = Url::parse(&resource.uri).ok().and_then(|url| url.to_file_path().ok());
        match (&self.backend, path) {
            (Backend::Directory(_), Some(path)) => tokio::fs::try_exists(path).await.unwrap_or(false),
            _ => true,
        }
    }
}
