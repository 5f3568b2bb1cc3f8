//! From the URI of a resource to its bytes. Knows options and failures, neither an Agent nor a hub.
//!
//! [`fetch`] decides by scheme: `file` reads from this machine, `web` from elsewhere.

mod failure;
mod file;
mod options;
mod web;

use a2c_protocol::context::A2cResource;
use bytes::Bytes;
use url::Url;

pub use failure::FetchFailure;
pub use options::{FetchOptions, Files};
pub(crate) use web::Web;

/// The body of a resource, and the MIME type that its server gave.
pub(crate) struct FetchedBody {
    pub(crate) body: Bytes,
    pub(crate) mime_type: Option<String>,
}

/// Fetches the body of a resource: decides by the scheme of its URI, as far as the options allow.
pub(crate) async fn fetch(
    web: &Web,
    resource: &A2cResource,
    options: &FetchOptions,
) -> Result<FetchedBody, FetchFailure> {
    let url = Url::parse(&resource.uri).map_err(|_| FetchFailure::Uri { reason: "it is no absolute URI" })?;
    let not_allowed = |option| FetchFailure::NotAllowed { scheme: url.scheme().to_owned(), option };
    if matches!(url.scheme(), "file" | "http" | "https") && resource.size.is_some_and(|size| size > options.max_bytes) {
        return Err(FetchFailure::TooLarge { limit: options.max_bytes });
    }
    let work = async {
        match url.scheme() {
            "file" if options.files == Files::Refused => Err(not_allowed("files")),
            "file" => file::read(&url, &options.files, options.max_bytes).await,
            "http" | "https" if !options.http => Err(not_allowed("http")),
            "http" | "https" => web.get(&url, options).await,
            scheme => Err(FetchFailure::Scheme { scheme: scheme.to_owned() }),
        }
    };
    let late = |_| Err(FetchFailure::Timeout(options.fetch_timeout));
    tokio::time::timeout(options.fetch_timeout, work).await.unwrap_or_else(late)
}
