//! The content of an audit record: plain data that is cheap to make.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::{ErrorCode, Role};
use serde::Serialize;

/// Larger arguments are not recorded, in bytes.
pub const MAX_ARGUMENTS: usize = 64 << 10;

/// The event of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    /// The hub started.
    HubStarted,
    /// The hub stopped.
    HubStopped,
    /// The hub admitted a client.
    Connected,
    /// The hub refused a client; `reason` says why, without the credential.
    Refused,
    /// A client disconnected.
    Disconnected,
    /// A member joined an office.
    Joined,
    /// The hub refused a join.
    JoinRefused,
    /// A member left its office.
    Left,
    /// A routed request ended.
    Call,
    /// A client hit a limit; `reason` names it.
    Limit,
    /// A client used the admin API; `request` names the action.
    Admin,
    /// `count` records could not be written. Written by the log itself.
    Lost,
    /// The file ended within a line, as after a crash; `count` bytes were moved away. Written by the log itself.
    Recovered,
    /// The file before this one was moved away. Written by the log itself.
    Rotated,
}

/// The outcome of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The hub permitted it.
    Allowed,
    /// The hub refused it.
    Refused,
    /// The Computer answered.
    Answered,
    /// It ended in an error, or its answer could not be passed on.
    Failed,
    /// The Computer did not answer in time.
    TimedOut,
    /// The Computer or the Agent left.
    Gone,
}

/// One record. Fields that do not apply stay `None` and are not written.
///
/// ```
/// use a2c_hub::audit::{Arguments, Decision, AuditEvent, Record};
///
/// let record = Record {
///     office: Some("demo".into()),
///     computer: Some("desk".into()),
///     tool: Some("echo".into()),
///     decision: Some(Decision::Answered),
///     arguments: Some(Arguments::of(r#"{"text":"hello"}"#)),
///     ..Record::of(AuditEvent::Call)
/// };
/// # let _ = record;
/// ```
#[derive(Debug, Clone)]
pub struct Record {
    /// The event.
    pub event: AuditEvent,
    /// The authenticated subject of the client.
    pub subject: Option<Arc<str>>,
    /// The address of the client.
    pub address: Option<SocketAddr>,
    /// The session id of the client.
    pub sid: Option<Arc<str>>,
    /// Agent or Computer.
    pub role: Option<Role>,
    /// The member's name.
    pub name: Option<Arc<str>>,
    /// The office.
    pub office: Option<Arc<str>>,
    /// The Computer of a request.
    pub computer: Option<Arc<str>>,
    /// The called tool.
    pub tool: Option<Arc<str>>,
    /// The event name of the request, such as `client:tool_call`; the action of an [`AuditEvent::Admin`].
    pub request: Option<Arc<str>>,
    /// The Agent's key for the request.
    pub req_id: Option<Arc<str>>,
    /// The outcome.
    pub decision: Option<Decision>,
    /// The code of the error, where there was one.
    pub code: Option<ErrorCode>,
    /// The reason as text; never a credential.
    pub reason: Option<Arc<str>>,
    /// The duration.
    pub duration: Option<Duration>,
    /// The size of the request.
    pub request_bytes: Option<u64>,
    /// The size of the answer.
    pub answer_bytes: Option<u64>,
    /// The arguments of the tool.
    pub arguments: Option<Arguments>,
    /// The number of lost records of an [`AuditEvent::Lost`], or of bytes of an [`AuditEvent::Recovered`].
    pub count: Option<u64>,
}

impl Record {
    /// A record without further fields.
    pub const fn of(event: AuditEvent) -> Self {
        Self {
            event,
            subject: None,
            address: None,
            sid: None,
            role: None,
            name: None,
            office: None,
            computer: None,
            tool: None,
            request: None,
            req_id: None,
            decision: None,
            code: None,
            reason: None,
            duration: None,
            request_bytes: None,
            answer_bytes: None,
            arguments: None,
            count: None,
        }
    }

    pub(crate) fn counting(event: AuditEvent, count: u64) -> Self {
        Self { count: Some(count), ..Self::of(event) }
    }

    /// An estimate of the memory that the record holds while it waits.
    pub(crate) fn weight(&self) -> usize {
        let texts = [&self.subject, &self.sid, &self.name, &self.office, &self.computer, &self.tool, &self.request];
        let texts = texts.into_iter().chain([&self.req_id, &self.reason]).flatten().map(|text| text.len());
        size_of::<Self>() + texts.sum::<usize>() + self.arguments.as_ref().map_or(0, Arguments::len)
    }
}

/// The arguments of a call, of which the log writes the types.
///
/// They are copied, up to 64 KiB: a slice would keep the whole request in memory while the record waits.
#[derive(Clone)]
pub struct Arguments(Option<Arc<str>>);

impl Arguments {
    /// The arguments as the Agent sent them, as JSON.
    pub fn of(raw: &str) -> Self {
        Self((raw.len() <= MAX_ARGUMENTS).then(|| raw.into()))
    }

    /// The JSON, unless it was too large.
    pub(crate) fn json(&self) -> Option<&str> {
        self.0.as_deref()
    }

    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |raw| raw.len())
    }
}

/// Without the values.
impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(raw) => write!(f, "Arguments({} bytes)", raw.len()),
            None => f.write_str("Arguments(over 64 KiB)"),
        }
    }
}
