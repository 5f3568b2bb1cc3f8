//! Documents to publish, and a client to fetch them with.

use a2c_dpe::{DpeContents, ExternalDocument, SourceDocument};
use a2c_protocol::uri::DpeDocumentUri;

fn uri(text: &str) -> DpeDocumentUri {
    DpeDocumentUri::parse(text).unwrap().uri
}

pub(crate) fn inline(text: &str, json: &str) -> SourceDocument {
    SourceDocument::new(uri(text), DpeContents::Inline(json.to_owned().into()))
}

pub(crate) fn external(text: &str, at: &str) -> SourceDocument {
    SourceDocument::new(uri(text), DpeContents::External(ExternalDocument::new(at)))
}

/// A client for plain HTTP.
#[cfg(feature = "object-store")]
pub(crate) fn client() -> reqwest::Client {
    a2c_net::http_client(a2c_net::tls::without_trust().unwrap()).build().unwrap()
}
