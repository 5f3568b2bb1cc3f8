//! The TLS settings of a client that brought none of its own.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::error::ConnectError;

/// The system's idea of whom to trust, with ring underneath.
pub(crate) fn system() -> Result<ClientConfig, ConnectError> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map(|builder| builder.with_no_client_auth())
        .map_err(|error| ConnectError::Tls(error.into()))
}

/// Settings for a connection that never speaks TLS: building the HTTP client needs some, and
/// reading the system's certificates for nothing would be slow.
pub(crate) fn unused() -> Result<ClientConfig, ConnectError> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
        .map_err(|error| ConnectError::Tls(error.into()))
}
