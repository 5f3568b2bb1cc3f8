//! The HTTP client of this crate: TLS trusts what the system trusts, and no proxy is taken from the environment.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::Verifier;

/// A client with the settings that all clients share. Loading the system's certificates takes a while, so a client that
/// only speaks plain HTTP leaves `tls` out.
pub(crate) fn builder(tls: bool) -> Result<reqwest::ClientBuilder, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let mut config = if tls {
        let verifier = Arc::new(Verifier::new(provider)?);
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(config)
        .user_agent(concat!("a2c/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(60)))
}
