//! Documents to publish, and a client to fetch them with.

use a2c_dpe::{Document, DpeContents, ExternalDocument};
use a2c_protocol::uri::DpeDocumentUri;

fn uri(text: &str) -> DpeDocumentUri {
    DpeDocumentUri::parse(text).unwrap().uri
}

pub(crate) fn inline(text: &str, json: &str) -> Document {
    Document::new(uri(text), DpeContents::Inline(json.to_owned().into()))
}

pub(crate) fn external(text: &str, at: &str) -> Document {
    Document::new(uri(text), DpeContents::External(ExternalDocument::new(at)))
}

/// A client for plain HTTP. TLS has to be set up all the same: it trusts nothing.
#[cfg(feature = "object-store")]
pub(crate) fn client() -> reqwest::Client {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap()
}
