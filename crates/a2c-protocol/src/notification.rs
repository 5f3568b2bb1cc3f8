//! Notifications of the hub to the members of an office.

use serde::{Deserialize, Serialize};

use crate::event;
use crate::office::Role;
use crate::request::Request;

/// `notify:enter_office` and `notify:leave_office`: the member that joined or left. One of `computer` and `agent` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfficeChange {
    /// Which office.
    pub office_id: String,
    /// The Computer that joined or left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// The Agent that joined or left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl OfficeChange {
    /// The change that a member of this role and name makes.
    pub fn of(office_id: &str, role: Role, name: &str) -> Self {
        let name = Some(name.to_owned());
        let (computer, agent) = match role {
            Role::Computer => (name, None),
            Role::Agent => (None, name),
        };
        Self { office_id: office_id.to_owned(), computer, agent }
    }
}

/// `server:update_*` and `notify:update_*`: something of a Computer changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputerUpdate {
    /// Which Computer.
    pub computer: String,
}

/// `server:tool_call_cancel` and `notify:tool_call_cancel`: an Agent gave up a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallCancel {
    /// Which Agent; the hub stamps it from the session.
    pub agent: String,
    /// The key of the call.
    pub req_id: String,
}

impl Request for ToolCallCancel {
    const EVENT: &'static str = event::TOOL_CALL_CANCEL;
}

/// A notification by its event name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notification {
    /// A member joined the office.
    EnterOffice(OfficeChange),
    /// A member left the office.
    LeaveOffice(OfficeChange),
    /// An Agent cancelled a call.
    ToolCallCancel(ToolCallCancel),
    /// A Computer's configuration changed.
    UpdateConfig(ComputerUpdate),
    /// A Computer's tools changed.
    UpdateToolList(ComputerUpdate),
    /// A Computer's Desktop changed.
    UpdateDesktop(ComputerUpdate),
    /// A Computer's Finder changed.
    UpdateFinder(ComputerUpdate),
}

impl Notification {
    /// Decodes a notification by its event name; `None` for events this version does not know.
    pub fn decode(event: &str, json: &str) -> Option<Result<Self, serde_json::Error>> {
        let decoded = match event {
            event::NOTIFY_ENTER_OFFICE => serde_json::from_str(json).map(Self::EnterOffice),
            event::NOTIFY_LEAVE_OFFICE => serde_json::from_str(json).map(Self::LeaveOffice),
            event::NOTIFY_TOOL_CALL_CANCEL => serde_json::from_str(json).map(Self::ToolCallCancel),
            event::NOTIFY_UPDATE_CONFIG => serde_json::from_str(json).map(Self::UpdateConfig),
            event::NOTIFY_UPDATE_TOOL_LIST => serde_json::from_str(json).map(Self::UpdateToolList),
            event::NOTIFY_UPDATE_DESKTOP => serde_json::from_str(json).map(Self::UpdateDesktop),
            event::NOTIFY_UPDATE_FINDER => serde_json::from_str(json).map(Self::UpdateFinder),
            _ => return None,
        };
        Some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_absent_one_of_computer_and_agent_is_left_out() {
        let change = OfficeChange::of("o", Role::Computer, "c");
        assert_eq!(serde_json::to_value(&change).unwrap(), json!({"office_id": "o", "computer": "c"}));
        let null: OfficeChange =
            serde_json::from_value(json!({"office_id": "o", "agent": "a", "computer": null})).unwrap();
        assert_eq!(null, OfficeChange::of("o", Role::Agent, "a"));
    }

    #[test]
    fn notifications_are_sorted_by_event() {
        let update = Notification::decode("notify:update_desktop", r#"{"computer": "c", "later": 1}"#);
        assert_eq!(update.unwrap().unwrap(), Notification::UpdateDesktop(ComputerUpdate { computer: "c".into() }));
        assert!(Notification::decode("notify:update_skills", "{}").is_none());
        assert!(Notification::decode("notify:update_desktop", "[]").unwrap().is_err());
    }
}
