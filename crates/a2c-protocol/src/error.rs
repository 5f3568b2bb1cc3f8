//! Error codes and the one shape in which an error travels.
//!
//! On the wire an error is flat, `{"code", "message", <extra fields>, "details"?}`, plus a mirror of the essentials
//! under `"error"` for older clients. [`ErrorBody::decode`] reads flat and nested alike.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Every code of the protocol; a code we do not know is kept as [`ErrorCode::Other`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
            /// A code that this version of the protocol does not define.
            Other(i64),
        }

        impl ErrorCode {
            /// All codes the protocol defines.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The number on the wire.
            pub const fn number(self) -> i64 {
                match self {
                    $(Self::$name => $code,)*
                    Self::Other(code) => code,
                }
            }

            /// The code for a number.
            pub const fn from_number(number: i64) -> Self {
                match number {
                    $($code => Self::$name,)*
                    other => Self::Other(other),
                }
            }
        }
    };
}

codes! {
    /// The request is malformed; the message says which field.
    BadRequest = 400,
    /// Not authenticated.
    Unauthorized = 401,
    /// Not allowed.
    Forbidden = 403,
    /// No such Computer (or MCP server, or resource).
    NotFound = 404,
    /// The Computer did not answer in time.
    Timeout = 408,
    /// A rate or size limit was met.
    LimitExceeded = 429,
    /// Something failed inside.
    Internal = 500,
    /// The Computer has no such tool.
    ToolNotFound = 4001,
    /// The tool is forbidden or its server disabled.
    ToolForbidden = 4002,
    /// The tool failed.
    ToolFailed = 4003,
    /// The tool ran into its time limit.
    ToolTimeout = 4004,
    /// The tool needs a confirmation that was not given.
    ToolNeedsConfirmation = 4005,
    /// The MCP upstream wants an authorisation.
    UpstreamAuthorizationRequired = 4006,
    /// The MCP upstream refused the authorisation.
    UpstreamAuthorizationFailed = 4007,
    /// The two sides speak incompatible versions (HTTP only).
    VersionMismatch = 4008,
    /// The Computer has no DPE resolver.
    NoDpeResolver = 4011,
    /// The URI handed to `get_dpe` is invalid.
    InvalidDpeUri = 4012,
    /// The document could not be resolved.
    DpeResolutionFailed = 4013,
    /// No such MCP server, or no MCP server serves that URI host.
    McpServerNotFound = 4014,
    /// The MCP server lacks the capability.
    McpCapabilityMissing = 4015,
    /// The office has an Agent already.
    OfficeFull = 4101,
    /// No such office.
    OfficeNotFound = 4102,
    /// The caller is in no office.
    NotInOffice = 4103,
    /// The request is about an office the caller is not in.
    OtherOffice = 4104,
    /// The document does not exist.
    DocumentNotFound = 4201,
    /// The document has no such page.
    PageOutOfRange = 4202,
    /// The document has no such element.
    ElementNotFound = 4203,
    /// The `dpe://` URI breaks a rule.
    DpeUriRule = 4204,
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::from_number)
    }
}

/// Why a resolution failed: the `category` of a 4013.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResolutionFailure {
    /// The MCP server is down or slow.
    UpstreamUnavailable,
    /// The server's answer is none of the accepted kinds.
    InvalidDpeMime,
    /// The resolver failed.
    ResolverError,
    /// The resolver's result has no usable URI.
    ResolverReturnedInvalid,
}

/// An error as it travels.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorBody {
    /// What kind of error.
    pub code: ErrorCode,
    /// What happened, for a person.
    pub message: String,
    /// The fields that belong to the code, such as `computer` of a 404.
    pub fields: Map<String, Value>,
    /// For logs only: never a secret, a stack trace or an internal address.
    pub details: Option<Map<String, Value>>,
}

impl ErrorBody {
    /// An error with a code and a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fields: Map::new(), details: None }
    }

    /// Adds a field that belongs to the code.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    /// Adds something for the log.
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.get_or_insert_with(Map::new).insert(key.to_owned(), value.into());
        self
    }

    /// A malformed request.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// No Computer of that name in the caller's office. The same words whether it is elsewhere or nowhere.
    pub fn computer_not_found(computer: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("Computer with name '{computer}' not found"))
            .with("computer", computer)
            .with_detail("computer_name", computer)
    }

    /// Reads an error out of the value of an acknowledgement, if it is one.
    ///
    /// An object is an error if it carries an integer `code` with a string `message`, at the top or under `error`.
    pub fn decode(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let essentials = |o: &Map<String, Value>| {
            Some((ErrorCode::from_number(o.get("code")?.as_i64()?), o.get("message")?.as_str()?.to_owned()))
        };
        let nested = object.get("error").and_then(Value::as_object);
        let (code, message) = essentials(object).or_else(|| nested.and_then(essentials))?;
        let details =
            object.get("details").or_else(|| nested.and_then(|n| n.get("details"))).and_then(Value::as_object).cloned();
        let of_the_code = |o: &Map<String, Value>| {
            o.iter()
                .filter(|(key, _)| !matches!(key.as_str(), "code" | "message" | "details" | "error"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect::<Vec<_>>()
        };
        let mut fields: Map<String, Value> = nested.map(of_the_code).unwrap_or_default().into_iter().collect();
        fields.extend(of_the_code(object));
        Some(Self { code, message, fields, details })
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorBody {}

impl Serialize for ErrorBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut essentials = Map::new();
        essentials.insert("code".into(), self.code.number().into());
        essentials.insert("message".into(), self.message.clone().into());
        if let Some(details) = &self.details {
            essentials.insert("details".into(), details.clone().into());
        }
        let mut body = self.fields.clone();
        body.extend(essentials.clone());
        body.insert("error".into(), essentials.into());
        body.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ErrorBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::decode(&value).ok_or_else(|| de::Error::custom("an error needs an integer `code` and a string `message`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_code_round_trips_and_unknown_codes_are_kept() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_number(code.number()), *code);
        }
        assert_eq!(ErrorCode::from_number(4018), ErrorCode::Other(4018));
        assert_eq!(ErrorCode::Other(4018).number(), 4018);
    }

    #[test]
    fn an_error_is_flat_with_a_mirror() {
        let error = ErrorBody::computer_not_found("desk");
        let expected = json!({
            "code": 404, "message": "Computer with name 'desk' not found", "computer": "desk",
            "details": {"computer_name": "desk"},
            "error": {"code": 404, "message": "Computer with name 'desk' not found", "details": {"computer_name": "desk"}}
        });
        assert_eq!(serde_json::to_value(&error).unwrap(), expected);
        assert_eq!(ErrorBody::decode(&expected), Some(error));
    }

    #[test]
    fn flat_and_nested_decode_alike() {
        let flat = ErrorBody::decode(&json!({"code": 4014, "message": "m", "mcp_server_name": "s"}));
        let nested = ErrorBody::decode(&json!({"error": {"code": 4014, "message": "m", "mcp_server_name": "s"}}));
        assert!(flat.is_some());
        assert_eq!(flat, nested);
    }

    #[test]
    fn what_only_looks_like_an_error_is_none() {
        for value in [
            json!(null),
            json!([]),
            json!("code"),
            json!({"code": "400", "message": "m"}),
            json!({"code": 400}),
            json!({"message": "m"}),
            json!({"error": "boom"}),
            json!({"tools": [], "req_id": "1"}),
        ] {
            assert_eq!(ErrorBody::decode(&value), None, "{value}");
        }
    }
}
