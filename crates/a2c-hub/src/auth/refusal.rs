//! Why a client was not let in.

use std::borrow::Cow;

/// Why a client was not let in: for the log and the audit of the hub, never for the client.
///
/// No variant holds a credential or a part of one. Errors of the parsers are not kept as sources for that reason: they
/// quote what they could not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthRefusal {
    /// There was no credential in any of the places it may be in.
    #[error("no credential was given")]
    Missing,
    /// The credential is not one of ours.
    #[error("the credential is not one that this hub knows")]
    Wrong,
    /// Longer than any credential we give out.
    #[error("the credential is longer than {limit} bytes")]
    TooLong {
        /// What is read at most.
        limit: usize,
    },
    /// A token that cannot be read.
    #[error("the token is malformed: {what}")]
    Malformed {
        /// Which part, and what it should have been.
        what: &'static str,
    },
    /// The token says it is signed in a way that no key of the hub is for.
    #[error("the token is signed with an algorithm that no key of this hub is for")]
    Algorithm,
    /// No key of the hub made the signature.
    #[error("the signature of the token was not made with a key of this hub")]
    Signature,
    /// The token's time is over.
    #[error("the token has expired")]
    Expired,
    /// The token's time has not come.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// A claim that the hub insists on is not there.
    #[error("the token has no claim `{claim}`")]
    MissingClaim {
        /// Its name.
        claim: &'static str,
    },
    /// The token comes from somebody else.
    #[error("the token is from another issuer than the one this hub trusts")]
    Issuer,
    /// The token is for somebody else.
    #[error("the token is meant for another audience than this hub")]
    Audience,
    /// Nobody showed a client certificate.
    #[error("no verified client certificate was shown")]
    NoCertificate,
    /// A rule of an implementation of one's own; the text must not hold the credential.
    #[error("{0}")]
    Other(Cow<'static, str>),
}

impl AuthRefusal {
    /// Whether it may be an attempt to guess: a credential that was good once, or none at all, is not.
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

    /// One word, the same for every refusal of this kind: for metrics and the audit.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Wrong => "wrong",
            Self::TooLong { .. } => "too_long",
            Self::Malformed { .. } => "malformed",
            Self::Algorithm => "algorithm",
            Self::Signature => "signature",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::MissingClaim { .. } => "missing_claim",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::NoCertificate => "no_certificate",
            Self::Other(_) => "other",
        }
    }
}
