//! Why a client was refused.

use std::borrow::Cow;

/// Why a client was refused: for the log and the audit log of the hub, never for the client.
///
/// No variant holds a credential or a part of one. For that reason no variant keeps the error of a parser as its source:
/// parsers quote what they could not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthRefusal {
    /// The client sent no credential.
    #[error("no credential was given")]
    Missing,
    /// The hub does not know the credential.
    #[error("the credential is not one that this hub knows")]
    Wrong,
    /// The credential is longer than the hub reads.
    #[error("the credential is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The token cannot be read.
    #[error("the token is malformed: {what}")]
    Malformed {
        /// The malformed part.
        what: &'static str,
    },
    /// The header of the token names an algorithm that no key of the hub is for.
    #[error("the token is signed with an algorithm that no key of this hub is for")]
    Algorithm,
    /// The token names a key (`kid`) that is not among the keys of the hub.
    #[error("the token names a key that this hub does not have")]
    UnknownKey,
    /// No key of the hub verifies the signature.
    #[error("the signature of the token was not made with a key of this hub")]
    Signature,
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// The token lacks a claim that the hub requires.
    #[error("the token has no claim `{claim}`")]
    MissingClaim {
        /// The name of the claim.
        claim: &'static str,
    },
    /// Another issuer made the token.
    #[error("the token is from another issuer than the one this hub trusts")]
    Issuer,
    /// The token is for another audience.
    #[error("the token is meant for another audience than this hub")]
    Audience,
    /// The client has no verified certificate.
    #[error("no verified client certificate was shown")]
    NoCertificate,
    /// The refusal of another implementation of `Authenticate`; the text must not contain the credential.
    #[error("{0}")]
    Other(Cow<'static, str>),
}

impl AuthRefusal {
    /// Whether the client may be guessing: an expired credential, or none at all, is no guess. Neither is a token of an
    /// unknown key, since all clients of an issuer have one while the hub cannot fetch its new key.
    pub fn is_guess(&self) -> bool {
        matches!(
            self,
            Self::Wrong
                | Self::TooLong { .. }
                | Self::Malformed { .. }
                | Self::Algorithm
                | Self::Signature
                | Self::Other(_)
        )
    }
}
