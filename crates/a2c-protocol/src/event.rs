//! Event names, and what the hub does with each of them.

/// Agent → Computer: run a tool.
pub const TOOL_CALL: &str = "client:tool_call";
/// Agent → Computer: list the tools.
pub const GET_TOOLS: &str = "client:get_tools";
/// Agent → Computer: the configuration, secrets redacted.
pub const GET_CONFIG: &str = "client:get_config";
/// Agent → Computer: the Desktop.
pub const GET_DESKTOP: &str = "client:get_desktop";
/// Agent → Computer: a page of the Finder.
pub const GET_FINDER: &str = "client:get_finder";
/// Agent → Computer: one MCP server's resources.
pub const GET_RESOURCES: &str = "client:get_resources";
/// Agent → Computer: resolve a document to a URL.
pub const GET_DPE: &str = "client:get_dpe";
/// Agent → Computer: read one resource.
pub const READ_RESOURCE: &str = "client:read_resource";

/// Member → hub: take a seat in an office.
pub const JOIN_OFFICE: &str = "server:join_office";
/// Member → hub: give the seat up.
pub const LEAVE_OFFICE: &str = "server:leave_office";
/// Member → hub: list the members of my office.
pub const LIST_ROOM: &str = "server:list_room";
/// Agent → hub: cancel a running call.
pub const TOOL_CALL_CANCEL: &str = "server:tool_call_cancel";
/// Computer → hub: the configuration changed.
pub const UPDATE_CONFIG: &str = "server:update_config";
/// Computer → hub: the tools changed.
pub const UPDATE_TOOL_LIST: &str = "server:update_tool_list";
/// Computer → hub: the Desktop changed.
pub const UPDATE_DESKTOP: &str = "server:update_desktop";
/// Computer → hub: the Finder changed.
pub const UPDATE_FINDER: &str = "server:update_finder";

/// Hub → others in the office: a member joined.
pub const NOTIFY_ENTER_OFFICE: &str = "notify:enter_office";
/// Hub → others in the office: a member left.
pub const NOTIFY_LEAVE_OFFICE: &str = "notify:leave_office";
/// Hub → others in the office: an Agent cancelled a call.
pub const NOTIFY_TOOL_CALL_CANCEL: &str = "notify:tool_call_cancel";
/// Hub → others in the office: a Computer's configuration changed.
pub const NOTIFY_UPDATE_CONFIG: &str = "notify:update_config";
/// Hub → others in the office: a Computer's tools changed.
pub const NOTIFY_UPDATE_TOOL_LIST: &str = "notify:update_tool_list";
/// Hub → others in the office: a Computer's Desktop changed.
pub const NOTIFY_UPDATE_DESKTOP: &str = "notify:update_desktop";
/// Hub → others in the office: a Computer's Finder changed.
pub const NOTIFY_UPDATE_FINDER: &str = "notify:update_finder";

/// What the hub has to do with an event it receives.
///
/// `client:*` and `server:update_*` are open sets: members with later events work through a hub that has never
/// heard of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inbound<'a> {
    /// Forward to the Computer that the payload names, and its answer back.
    Client(&'a str),
    /// Take a seat.
    JoinOffice,
    /// Give a seat up.
    LeaveOffice,
    /// List the members of the caller's office.
    ListRoom,
    /// Announce that a call was given up.
    ToolCallCancel,
    /// Announce to the others of the office as `notify:update_<what>`.
    Update(&'a str),
    /// Nothing the hub knows; answered with 400.
    Unknown,
}

impl<'a> Inbound<'a> {
    /// Sorts an event by its name.
    pub fn of(event: &'a str) -> Self {
        match event {
            JOIN_OFFICE => Self::JoinOffice,
            LEAVE_OFFICE => Self::LeaveOffice,
            LIST_ROOM => Self::ListRoom,
            TOOL_CALL_CANCEL => Self::ToolCallCancel,
            _ => match (event.strip_prefix("client:"), event.strip_prefix("server:update_")) {
                (Some(name), _) if !name.is_empty() => Self::Client(event),
                (_, Some(what)) if !what.is_empty() => Self::Update(what),
                _ => Self::Unknown,
            },
        }
    }
}

/// The notification a `server:update_<what>` becomes.
pub fn notify_update(what: &str) -> String {
    format!("notify:update_{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sorted_by_name() {
        let check = |event, expected| assert_eq!(Inbound::of(event), expected, "{event}");
        check(TOOL_CALL, Inbound::Client(TOOL_CALL));
        check("client:get_skills", Inbound::Client("client:get_skills"));
        check(JOIN_OFFICE, Inbound::JoinOffice);
        check(LEAVE_OFFICE, Inbound::LeaveOffice);
        check(LIST_ROOM, Inbound::ListRoom);
        check(TOOL_CALL_CANCEL, Inbound::ToolCallCancel);
        check(UPDATE_FINDER, Inbound::Update("finder"));
        check("server:update_skills", Inbound::Update("skills"));
        for event in [
            "",
            "client:",
            "server:update_",
            "server:",
            "server:shutdown",
            "notify:update_config",
            "message",
            "CLIENT:tool_call",
        ] {
            check(event, Inbound::Unknown);
        }
        assert_eq!(notify_update("tool_list"), NOTIFY_UPDATE_TOOL_LIST);
    }
}
