//! Documents in an object store: S3 and what speaks its language, or a directory laid out alike.

mod place;

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

use super::resolver::{Document, DpeContents, DpeResolver, ResolveError};
use super::{answer, names};

pub use place::StoreError;

/// The longest life of an address that S3 signs.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Uploads documents to an object store and answers with addresses that anybody can fetch for a while.
///
/// Each state of a document is an object of its own, `PREFIX/HOST/DOCUMENT/ETAG.json`. Nothing is ever removed: give the
/// bucket a lifecycle rule.
pub struct ObjectStore {
    place: Place,
    prefix: Key,
    lifetime: Duration,
}

enum Place {
    S3(Box<AmazonS3>),
    Directory(Arc<LocalFileSystem>),
}

impl ObjectStore {
    /// Uses `s3://BUCKET[/PREFIX]` or `file:///DIRECTORY`. Credentials, region and endpoint of S3 are taken from the usual
    /// variables of the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, …).
    pub fn open(url: &str) -> Result<Self, StoreError> {
        // A variable that is no Unicode is none of those.
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::open_with(url, variables)
    }

    /// [`ObjectStore::open`] with other variables than those of the environment.
    pub fn open_with(url: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, StoreError> {
        let (place, prefix) = place::open(url, variables)?;
        Ok(Self { place, prefix, lifetime: Duration::from_secs(3600) })
    }

    /// How long addresses are good for, where they expire: an hour by default, a week at most.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.clamp(Duration::from_secs(1), LONGEST);
        self
    }

    fn key(&self, document: &Document) -> Key {
        let (host, doc_ref) = (names::host_of(&document.uri), names::doc_ref_of(&document.uri));
        self.prefix.clone().join(host).join(doc_ref).join(format!("{}.json", document.etag))
    }
}

#[async_trait]
impl DpeResolver for ObjectStore {
    async fn resolve(&self, document: &Document) -> Result<A2cResource, ResolveError> {
        let json = match &document.contents {
            DpeContents::External(elsewhere) => return Ok(elsewhere.answer()),
            DpeContents::Inline(json) => json.clone(),
        };
        let key = self.key(document);
        let failed = |error| ResolveError::new("the object store of this Computer did not take it").caused_by(error);
        let no_address =
            |error: object_store::Error| ResolveError::new("the object store gave no address").caused_by(error);
        match &self.place {
            Place::S3(s3) => {
                let attributes = Attributes::from_iter([
                    (Attribute::ContentType, "application/json"),
                    (Attribute::CacheControl, "private"),
                ]);
                let options = PutOptions { attributes, ..PutOptions::default() };
                object_store::ObjectStore::put_opts(s3.as_ref(), &key, json.into(), options).await.map_err(failed)?;
                // Before it is signed, so that what is said is never later than what is.
                let expires = Timestamp::now().checked_add(self.lifetime).unwrap_or(Timestamp::MAX);
                let url = s3.signed_url(Method::GET, &key, self.lifetime).await.map_err(no_address)?;
                Ok(A2cResource { meta: answer::expiring(expires), ..document.at(url) })
            }
            Place::Directory(directory) => {
                directory.put(&key, json.into()).await.map_err(failed)?;
                let path = directory.path_to_filesystem(&key).map_err(no_address)?;
                let url =
                    Url::from_file_path(path).map_err(|()| ResolveError::new("the directory has no absolute path"))?;
                Ok(document.at(url))
            }
        }
    }

    /// Somebody may have tidied up a directory. A bucket is not asked: its objects outlive the addresses we give.
    async fn still_holds(&self, resource: &A2cResource) -> bool {
        let path = Url::parse(&resource.uri).ok().and_then(|url| url.to_file_path().ok());
        match (&self.place, path) {
            (Place::Directory(_), Some(path)) => tokio::fs::try_exists(path).await.unwrap_or(false),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
