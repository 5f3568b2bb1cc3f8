//! Why `get_dpe` has no answer, and the error that says so to the Agent.

use a2c_protocol::error::{ErrorBody, ErrorCode, ResolutionFailure};

use crate::read_answer::InvalidAnswer;
use crate::reader::ReadError;

/// Why a document was not resolved. Every request that waited for the resolution gets the same error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GetDpeError {
    /// The owner has chosen no resolver.
    #[error("this Computer publishes no documents: its owner can choose how with --dpe-resolver")]
    NoResolver,
    /// The MCP server says that there is no such document, page or element.
    #[error(transparent)]
    Missing(Box<ErrorBody>),
    /// The document could not be read or published.
    #[error("{message}")]
    Failed {
        /// What kind of failure it is.
        category: ResolutionFailure,
        /// What happened, for the Agent.
        message: String,
    },
}

impl GetDpeError {
    pub(crate) fn failed(category: ResolutionFailure, message: impl Into<String>) -> Self {
        Self::Failed { category, message: message.into() }
    }

    /// The refusal of a document that is larger than `limit` bytes.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the document is larger than this Computer publishes ({} MiB)", limit >> 20);
        Self::failed(ResolutionFailure::ResolverError, message)
    }

    /// The error of the protocol. This is the only place where failures of `get_dpe` get their codes.
    pub fn into_body(self, uri: &str) -> ErrorBody {
        let message = self.to_string();
        match self {
            Self::NoResolver => ErrorBody::new(ErrorCode::NoDpeResolver, message).with("uri", uri),
            Self::Missing(body) => *body,
            Self::Failed { category, .. } => {
                let category = serde_json::to_value(category).expect("a name is always JSON");
                ErrorBody::new(ErrorCode::DpeResolutionFailed, message).with("uri", uri).with("category", category)
            }
        }
    }
}

impl From<ReadError> for GetDpeError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Missing(body) => Self::Missing(body),
            ReadError::Unavailable(reason) => Self::failed(ResolutionFailure::UpstreamUnavailable, reason),
        }
    }
}

impl From<InvalidAnswer> for GetDpeError {
    fn from(invalid: InvalidAnswer) -> Self {
        Self::failed(ResolutionFailure::InvalidDpeMime, invalid.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_failure_has_its_code_and_fields() {
        let body = GetDpeError::NoResolver.into_body("dpe://h/d");
        assert_eq!((body.code, &body.fields["uri"]), (ErrorCode::NoDpeResolver, &json!("dpe://h/d")));
        for (category, name) in [
            (ResolutionFailure::UpstreamUnavailable, "upstream_unavailable"),
            (ResolutionFailure::InvalidDpeMime, "invalid_dpe_mime"),
            (ResolutionFailure::ResolverError, "resolver_error"),
            (ResolutionFailure::ResolverReturnedInvalid, "resolver_returned_invalid"),
        ] {
            let body = GetDpeError::failed(category, "why").into_body("dpe://h/d");
            assert_eq!((body.code, body.message.as_str()), (ErrorCode::DpeResolutionFailed, "why"));
            assert_eq!((&body.fields["uri"], &body.fields["category"]), (&json!("dpe://h/d"), &json!(name)));
        }
        let missing = ErrorBody::new(ErrorCode::DocumentNotFound, "no such document").with("doc_ref", "d");
        assert_eq!(GetDpeError::Missing(Box::new(missing.clone())).into_body("dpe://h/d"), missing);
    }
}
