//! Error codes of the A2C protocol in the errors of MCP servers. Pure.

use a2c_mcp::model::ErrorData;
use a2c_protocol::ErrorCode;

/// MCP: there is no such resource.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;

/// The code of the protocol in the `data` of a server's error, if it is one that a server may use.
pub(crate) fn protocol_code(error: &ErrorData) -> Option<ErrorCode> {
    let code = ErrorCode::from_number(error.data.as_ref()?.get("code")?.as_i64()?);
    let is_for_servers = matches!(
        code,
        ErrorCode::DocumentNotFound | ErrorCode::PageOutOfRange | ErrorCode::ElementNotFound | ErrorCode::DpeUriRule
    );
    is_for_servers.then_some(code)
}

/// Whether a server says that the resource does not exist.
pub(crate) fn is_missing(error: &ErrorData) -> bool {
    error.code.0 == RESOURCE_NOT_FOUND || matches!(protocol_code(error), Some(ErrorCode::DocumentNotFound))
}
