//! Offices: joining, leaving, and the list of members.

use serde::{Deserialize, Serialize};

use crate::event;
use crate::request::{FieldError, Request};
use crate::version::Version;

/// The longest name or office id, in bytes.
pub const MAX_NAME: usize = 256;

/// What a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Role {
    /// Calls tools and reads context; at most one per office.
    Agent,
    /// Hosts MCP servers; any number per office.
    Computer,
}

impl Role {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Computer => "computer",
        }
    }
}

/// A word that is no role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown role: use agent or computer")]
pub struct UnknownRole;

/// Only a string is a role: serde would read `{"agent": null}` as one too.
impl TryFrom<String> for Role {
    type Error = UnknownRole;

    fn try_from(word: String) -> Result<Self, UnknownRole> {
        [Self::Agent, Self::Computer].into_iter().find(|role| role.as_str() == word).ok_or(UnknownRole)
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `server:join_office`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinOfficeReq {
    /// What the caller is.
    pub role: Role,
    /// Under which name; unique per role within the office.
    pub name: String,
    /// Which office.
    pub office_id: String,
}

impl Request for JoinOfficeReq {
    const EVENT: &'static str = event::JOIN_OFFICE;

    fn validate(&self) -> Result<(), FieldError> {
        check_name("name", &self.name)?;
        check_name("office_id", &self.office_id)
    }
}

/// `server:leave_office`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveOfficeReq {
    /// Which office; it has to be the caller's.
    pub office_id: String,
}

impl Request for LeaveOfficeReq {
    const EVENT: &'static str = event::LEAVE_OFFICE;

    fn validate(&self) -> Result<(), FieldError> {
        check_name("office_id", &self.office_id)
    }
}

/// `server:list_room`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRoomReq {
    /// Who asks.
    pub agent: String,
    /// The caller's key for this request.
    pub req_id: String,
    /// Which office; it has to be the caller's.
    pub office_id: String,
}

impl Request for ListRoomReq {
    const EVENT: &'static str = event::LIST_ROOM;
}

/// The answer to `server:list_room`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRoomRet {
    /// All members of the office, the caller included.
    pub sessions: Vec<SessionInfo>,
    /// The key of the request.
    pub req_id: String,
}

/// One member of an office.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// The member's session id; it identifies, it does not authorise.
    pub sid: String,
    /// The member's name.
    pub name: String,
    /// What the member is.
    pub role: Role,
    /// The office.
    pub office_id: String,
    /// The protocol version the member speaks; servers in the field may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a2c_version: Option<Version>,
}

/// A name or office id is neither empty nor longer than [`MAX_NAME`] bytes.
pub fn check_name(field: &'static str, value: &str) -> Result<(), FieldError> {
    if value.is_empty() {
        return Err(FieldError { field, problem: "must not be empty".into() });
    }
    if value.len() > MAX_NAME {
        let problem = format!("is {} bytes long: at most {MAX_NAME} are allowed", value.len());
        return Err(FieldError { field, problem });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_in_bytes() {
        assert!(check_name("name", "n").is_ok());
        assert!(check_name("name", &"n".repeat(256)).is_ok());
        assert!(check_name("name", "").is_err());
        assert!(check_name("name", &"n".repeat(257)).is_err());
        assert!(check_name("name", &"名".repeat(86)).is_err(), "86 × 3 bytes");
    }
}
