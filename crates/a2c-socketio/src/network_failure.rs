//! Classifies failures of the network during a handshake: failures of TLS have their own remedies.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use crate::error::{BoxError, CertificateProblem, DisconnectReason, SocketConnectError};

impl From<&CertificateError> for CertificateProblem {
    fn from(error: &CertificateError) -> Self {
        use CertificateError as E;
        match error {
            E::UnknownIssuer => Self::UnknownIssuer,
            E::Expired | E::ExpiredContext { .. } => Self::Expired,
            E::NotValidYet | E::NotValidYetContext { .. } => Self::NotYetValid,
            E::NotValidForName | E::NotValidForNameContext { .. } => Self::WrongName,
            other => Self::Other(other.to_string()),
        }
    }
}

/// A link that ended during its handshake: the attempt to connect failed.
impl From<DisconnectReason> for SocketConnectError {
    fn from(reason: DisconnectReason) -> Self {
        match reason {
            DisconnectReason::Http(refusal) => SocketConnectError::Http(refusal),
            DisconnectReason::Transport(source) => classify(source),
            other => SocketConnectError::Lost(other),
        }
    }
}

/// Classifies an error of the network during a handshake.
fn classify(source: BoxError) -> SocketConnectError {
    let root: &(dyn Error + 'static) = &*source;
    let tls_error = causes(root).find_map(|cause| cause.downcast_ref::<rustls::Error>());
    match tls_error {
        Some(rustls::Error::InvalidCertificate(error)) => {
            SocketConnectError::Untrusted { why: CertificateProblem::from(error), source }
        }
        Some(rustls::Error::AlertReceived(alert)) => match about_our_certificate(*alert) {
            Some(why) => SocketConnectError::ClientCertificate { why, source },
            None => SocketConnectError::Transport(source),
        },
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => SocketConnectError::NotTls(source),
        Some(_) => SocketConnectError::Transport(source),
        None if causes(root).any(is_not_http) => SocketConnectError::NotHttp(source),
        None if causes(root).any(is_early_end) => SocketConnectError::ClosedEarly(source),
        None => SocketConnectError::Transport(source),
    }
}

/// An error and everything that it wraps.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // `source` of an I/O error skips the error that it wraps.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The server answered with bytes that are not HTTP.
fn is_not_http(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
}

/// The server ended the connection before it answered; `is_canceled` where it did so before the request was sent.
fn is_early_end(cause: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
        || cause.downcast_ref::<hyper::Error>().is_some_and(|e| e.is_incomplete_message() || e.is_canceled())
}

/// What the alert of a server says about the client certificate.
fn about_our_certificate(alert: AlertDescription) -> Option<&'static str> {
    match alert {
        AlertDescription::CertificateRequired => Some("the server asks for a client certificate"),
        AlertDescription::UnknownCA => Some("the server does not know the CA of the client certificate"),
        AlertDescription::CertificateExpired => Some("the client certificate has expired"),
        AlertDescription::CertificateRevoked => Some("the client certificate has been revoked"),
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => Some("the server refuses the client certificate"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: rustls::Error) -> SocketConnectError {
        // As deep as the HTTP stack buries it.
        classify(Box::new(io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error))))
    }

    #[test]
    fn failures_of_tls_are_found_and_told() {
        let check = |error, expected: &str| {
            let message = told(error).to_string();
            assert!(message.contains(expected), "{expected:?} is not in: {message}");
        };
        let certificate = rustls::Error::InvalidCertificate;
        check(certificate(CertificateError::UnknownIssuer), "not trusted: it was signed by an unknown CA");
        check(certificate(CertificateError::Expired), "has expired");
        check(certificate(CertificateError::NotValidYet), "not valid yet");
        check(certificate(CertificateError::NotValidForName), "other names");
        check(certificate(CertificateError::Revoked), "Revoked");
        let alert = rustls::Error::AlertReceived;
        check(alert(AlertDescription::CertificateRequired), "asks for a client certificate");
        check(alert(AlertDescription::UnknownCA), "does not know the CA");
        check(alert(AlertDescription::CertificateExpired), "client certificate has expired");
        check(alert(AlertDescription::ProtocolVersion), "could not be reached");
        check(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType), "does not speak TLS");
        assert!(matches!(classify(io::Error::other("x").into()), SocketConnectError::Transport(_)));
        let reset = classify(io::Error::from(io::ErrorKind::ConnectionReset).into());
        assert!(matches!(reset, SocketConnectError::ClosedEarly(_)));
    }

    #[test]
    fn trying_again_may_help() {
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert!(!told(unknown).is_final());
        assert!(!told(rustls::Error::AlertReceived(AlertDescription::CertificateExpired)).is_final());
    }
}
