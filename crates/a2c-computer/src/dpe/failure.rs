//! Why `get_dpe` has no answer, and the error that says so to the Agent.

use a2c_protocol::error::{ErrorBody, ErrorCode, ResolutionFailure};

/// Why a document was not resolved. Everybody who waited for it gets the same.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum DpeFailure {
    /// The owner has chosen no resolver.
    #[error("this Computer publishes no documents: its owner can choose how with --dpe-resolver")]
    NoResolver,
    /// The MCP server says that there is no such document, page or element.
    #[error(transparent)]
    Missing(Box<ErrorBody>),
    /// Anything else.
    #[error("{message}")]
    Failed { category: ResolutionFailure, message: String },
}

impl DpeFailure {
    pub(super) fn failed(category: ResolutionFailure, message: impl Into<String>) -> Self {
        Self::Failed { category, message: message.into() }
    }

    /// The one place where failures of `get_dpe` become errors of the protocol.
    pub(crate) fn into_body(self, uri: &str) -> ErrorBody {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_failure_has_its_code_and_fields() {
        let body = DpeFailure::NoResolver.into_body("dpe://h/d");
        assert_eq!((body.code, &body.fields["uri"]), (ErrorCode::NoDpeResolver, &json!("dpe://h/d")));
        for (category, name) in [
            (ResolutionFailure::UpstreamUnavailable, "upstream_unavailable"),
            (ResolutionFailure::InvalidDpeMime, "invalid_dpe_mime"),
            (ResolutionFailure::ResolverError, "resolver_error"),
            (ResolutionFailure::ResolverReturnedInvalid, "resolver_returned_invalid"),
        ] {
            let body = DpeFailure::failed(category, "why").into_body("dpe://h/d");
            assert_eq!((body.code, body.message.as_str()), (ErrorCode::DpeResolutionFailed, "why"));
            assert_eq!((&body.fields["uri"], &body.fields["category"]), (&json!("dpe://h/d"), &json!(name)));
        }
        let missing = ErrorBody::new(ErrorCode::DocumentNotFound, "no such document").with("doc_ref", "d");
        assert_eq!(DpeFailure::Missing(Box::new(missing.clone())).into_body("dpe://h/d"), missing);
    }
}
