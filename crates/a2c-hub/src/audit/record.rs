//! What a record says: plain data, cheap to make where things happen.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::{ErrorCode, Role};
use serde::Serialize;

/// Arguments above this are not looked at.
pub const MAX_ARGUMENTS: usize = 64 << 10;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    /// The hub listens.
    HubStarted,
    /// The hub ends.
    HubStopped,
    /// A client was let in.
    Connected,
    /// A client was not let in; `reason` says why, without the credential.
    Refused,
    /// A client is gone.
    Disconnected,
    /// A member took a seat in an office.
    Joined,
    /// It was not given one.
    JoinRefused,
    /// A member left its office.
    Left,
    /// A routed request has come to its end, whichever.
    Call,
    /// A limit was hit; `reason` says which.
    Limit,
    /// Somebody used the admin API; `request` says for what.
    Admin,
    /// `count` records could not be written. Written by the log itself.
    Lost,
    /// The file ended within a line, as after a crash; `count` bytes were set aside. Written by the log itself.
    Recovered,
    /// The file before this one was moved away. Written by the log itself.
    Rotated,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It was permitted.
    Allowed,
    /// The hub said no.
    Refused,
    /// The Computer answered.
    Answered,
    /// The answer was an error, or could not be passed on.
    Failed,
    /// The Computer did not answer in time.
    TimedOut,
    /// The Computer or the Agent went away.
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
    /// What happened.
    pub event: AuditEvent,
    /// Whom the authentication found behind the connection.
    pub subject: Option<Arc<str>>,
    /// Where the connection comes from.
    pub address: Option<SocketAddr>,
    /// The session.
    pub sid: Option<Arc<str>>,
    /// Agent or Computer.
    pub role: Option<Role>,
    /// The member's name.
    pub name: Option<Arc<str>>,
    /// The office.
    pub office: Option<Arc<str>>,
    /// The Computer a request was for.
    pub computer: Option<Arc<str>>,
    /// The tool that was called.
    pub tool: Option<Arc<str>>,
    /// The event name of the request, such as `client:tool_call`; the action of an [`AuditEvent::Admin`].
    pub request: Option<Arc<str>>,
    /// The Agent's key for the request.
    pub req_id: Option<Arc<str>>,
    /// How it ended.
    pub decision: Option<Decision>,
    /// The code of the error, where it ended in one.
    pub code: Option<ErrorCode>,
    /// Why, in words. Never a credential.
    pub reason: Option<Arc<str>>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// The size of the request.
    pub request_bytes: Option<u64>,
    /// The size of the answer.
    pub answer_bytes: Option<u64>,
    /// What the tool was given.
    pub arguments: Option<Arguments>,
    /// How many: records of an [`AuditEvent::Lost`], bytes of an [`AuditEvent::Recovered`].
    pub count: Option<u64>,
}

impl Record {
    /// A record with nothing in it yet.
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

    /// About how much memory the record holds while it waits.
    pub(crate) fn weight(&self) -> usize {
        let texts = [&self.subject, &self.sid, &self.name, &self.office, &self.computer, &self.tool, &self.request];
        let texts = texts.into_iter().chain([&self.req_id, &self.reason]).flatten().map(|text| text.len());
        size_of::<Self>() + texts.sum::<usize>() + self.arguments.as_ref().map_or(0, Arguments::len)
    }
}

/// The arguments of a call on their way to the log, which writes their shape.
///
/// They are copied, up to 64 KiB: a slice would keep all of a request alive for as long as the record waits.
#[derive(Clone)]
pub struct Arguments(Option<Arc<str>>);

impl Arguments {
    /// The arguments as the Agent sent them, in JSON.
    pub fn of(raw: &str) -> Self {
        Self((raw.len() <= MAX_ARGUMENTS).then(|| raw.into()))
    }

    /// The JSON, unless it was too large to be kept.
    pub(crate) fn json(&self) -> Option<&str> {
        self.0.as_deref()
    }

    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |raw| raw.len())
    }
}

/// The values stay out of it.
impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(raw) => write!(f, "Arguments({} bytes)", raw.len()),
            None => f.write_str("Arguments(over 64 KiB)"),
        }
    }
}
