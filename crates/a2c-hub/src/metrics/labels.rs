//! The labels of the metrics: closed lists, so that no label value comes from a client.

use a2c_protocol::event::{self, Inbound};
use a2c_protocol::{ErrorCode, Role};

/// A label with a fixed list of values.
pub trait Label: Copy + 'static {
    /// Its name in the exposition.
    const NAME: &'static str;
    /// Every value, in the order of [`Label::index`].
    const ALL: &'static [Self];
    /// The position of the value in the list.
    fn index(self) -> usize;
    /// The value in the exposition.
    fn value(self) -> &'static str;
}

macro_rules! label {
    ($(#[$about:meta])* $name:ident($label:literal) { $($(#[$doc:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl Label for $name {
            const NAME: &'static str = $label;
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn index(self) -> usize {
                self as usize
            }

            fn value(self) -> &'static str {
                match self {
                    $(Self::$variant => $value,)*
                }
            }
        }
    };
}

label! {
    /// Why a connection was refused.
    RefusalReason("reason") {
        /// Its `Host` or `Origin` may not use this hub.
        Origin = "origin",
        /// It speaks no version that the hub speaks.
        Version = "version",
        /// It showed no valid credential.
        Auth = "auth",
        /// There are too many connections.
        Limit = "limit",
        /// Its header of the PROXY protocol is missing, wrong, or not a proxy's.
        ProxyHeader = "proxy_header",
        /// It speaks no HTTP, or no TLS where the hub does.
        NotHttp = "not_http",
    }
}

label! {
    /// The kind of a request.
    RequestKind("kind") {
        /// `client:tool_call`.
        ToolCall = "tool_call",
        /// `client:get_tools`.
        GetTools = "get_tools",
        /// `client:get_config`.
        GetConfig = "get_config",
        /// `client:get_desktop`.
        GetDesktop = "get_desktop",
        /// `client:get_finder`.
        GetFinder = "get_finder",
        /// `client:get_resources`.
        GetResources = "get_resources",
        /// `client:get_dpe`.
        GetDpe = "get_dpe",
        /// `client:read_resource`.
        ReadResource = "read_resource",
        /// Any other `client:` event; the hub passes it on as well.
        Other = "other",
        /// `server:join_office`.
        JoinOffice = "join_office",
        /// `server:leave_office`.
        LeaveOffice = "leave_office",
        /// `server:list_room`.
        ListRoom = "list_room",
        /// `server:tool_call_cancel`.
        ToolCallCancel = "tool_call_cancel",
        /// Any `server:update_` event.
        Update = "update",
        /// An event outside the protocol, or a packet that is no event.
        Unknown = "unknown",
    }
}

impl RequestKind {
    /// The kind of an event, by its name.
    pub fn of(event: &str) -> Self {
        match Inbound::of(event) {
            Inbound::Client(event::TOOL_CALL) => Self::ToolCall,
            Inbound::Client(event::GET_TOOLS) => Self::GetTools,
            Inbound::Client(event::GET_CONFIG) => Self::GetConfig,
            Inbound::Client(event::GET_DESKTOP) => Self::GetDesktop,
            Inbound::Client(event::GET_FINDER) => Self::GetFinder,
            Inbound::Client(event::GET_RESOURCES) => Self::GetResources,
            Inbound::Client(event::GET_DPE) => Self::GetDpe,
            Inbound::Client(event::READ_RESOURCE) => Self::ReadResource,
            Inbound::Client(_) => Self::Other,
            Inbound::JoinOffice => Self::JoinOffice,
            Inbound::LeaveOffice => Self::LeaveOffice,
            Inbound::ListRoom => Self::ListRoom,
            Inbound::ToolCallCancel => Self::ToolCallCancel,
            Inbound::Update(_) => Self::Update,
            Inbound::Unknown => Self::Unknown,
        }
    }

    /// The histogram of this kind of call.
    pub(super) fn timed(self) -> DurationKind {
        if self == Self::ToolCall { DurationKind::ToolCall } else { DurationKind::Other }
    }
}

label! {
    /// The outcome of a request.
    RequestOutcome("outcome") {
        /// The Computer answered, or the hub carried the request out. The hub does not read the answer.
        Ok = "ok",
        /// The request is malformed.
        Malformed = "malformed",
        /// The role, the office or the grant of the sender does not permit the request.
        Forbidden = "forbidden",
        /// The office of the sender has no Computer of this name.
        NotFound = "not_found",
        /// The request hit a limit of the hub.
        Limited = "limited",
        /// The Computer did not answer in time.
        TimedOut = "timed_out",
        /// The Computer left before it answered.
        ComputerLeft = "computer_left",
        /// The Agent left before the answer came.
        AgentLeft = "agent_left",
        /// The answer could not be passed on, or the hub failed.
        Failed = "failed",
    }
}

impl RequestOutcome {
    /// The outcome of a request that the hub answers with an error code. The code does not show that a Computer or an
    /// Agent left; the hub sets these outcomes where they happen.
    pub fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::BadRequest => Self::Malformed,
            ErrorCode::Unauthorized
            | ErrorCode::Forbidden
            | ErrorCode::OfficeFull
            | ErrorCode::NotInOffice
            | ErrorCode::OtherOffice => Self::Forbidden,
            ErrorCode::NotFound | ErrorCode::OfficeNotFound => Self::NotFound,
            ErrorCode::LimitExceeded => Self::Limited,
            ErrorCode::Timeout => Self::TimedOut,
            _ => Self::Failed,
        }
    }
}

label! {
    /// A limit of the hub.
    LimitKind("limit") {
        /// Connections from one address.
        ConnectionsPerAddress = "connections_per_address",
        /// Requests per second of one connection.
        RequestsPerSecond = "requests_per_second",
        /// The size of a request or an answer.
        Payload = "payload",
        /// Calls of one Agent that wait for an answer.
        CallsInFlight = "calls_in_flight",
        /// Binary attachments of one packet.
        Attachments = "attachments",
        /// Attempts to join an office.
        Joins = "joins",
        /// Bytes that wait for a slow member.
        Backlog = "backlog",
        /// Announcements of one member that its office has not taken.
        Announcements = "announcements",
        /// Wrong credentials from one address.
        FailedConnects = "failed_connects",
    }
}

label! {
    /// The histogram of a call.
    DurationKind("kind") {
        /// Tool calls, which may run as long as their Agent allows.
        ToolCall = "tool_call",
        /// All other calls, which a Computer answers from its own state.
        Other = "other",
    }
}

impl Label for Role {
    const NAME: &'static str = "role";
    const ALL: &'static [Self] = &[Self::Agent, Self::Computer];

    fn index(self) -> usize {
        match self {
            Self::Agent => 0,
            Self::Computer => 1,
        }
    }

    fn value(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Computer => "computer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_outside_the_protocol_share_one_label() {
        assert_eq!(RequestKind::of("client:tool_call"), RequestKind::ToolCall);
        assert_eq!(RequestKind::of("client:read_resource"), RequestKind::ReadResource);
        assert_eq!(RequestKind::of("client:get_skills"), RequestKind::Other);
        assert_eq!(RequestKind::of("client:{\"x\"}\n"), RequestKind::Other);
        assert_eq!(RequestKind::of("server:join_office"), RequestKind::JoinOffice);
        assert_eq!(RequestKind::of("server:update_anything"), RequestKind::Update);
        assert_eq!(RequestKind::of("whatever"), RequestKind::Unknown);
    }

    #[test]
    fn every_value_stands_where_its_index_says() {
        fn check<L: Label>() {
            assert!(L::ALL.iter().enumerate().all(|(place, label)| label.index() == place));
        }
        check::<RefusalReason>();
        check::<RequestKind>();
        check::<RequestOutcome>();
        check::<LimitKind>();
        check::<DurationKind>();
        check::<Role>();
    }

    #[test]
    fn codes_have_their_outcome() {
        assert_eq!(RequestOutcome::of(ErrorCode::BadRequest), RequestOutcome::Malformed);
        assert_eq!(RequestOutcome::of(ErrorCode::NotInOffice), RequestOutcome::Forbidden);
        assert_eq!(RequestOutcome::of(ErrorCode::Timeout), RequestOutcome::TimedOut);
        assert_eq!(RequestOutcome::of(ErrorCode::Other(7)), RequestOutcome::Failed);
    }
}
