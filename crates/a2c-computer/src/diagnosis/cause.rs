//! What is behind a failure of a server, and what to do about it. Pure.

use a2c_mcp::http::Credentials;
use a2c_mcp::stdio::StdioStartError;
use a2c_mcp::{SessionError, SessionErrorKind};
use a2c_process::SpawnErrorKind;
use a2c_protocol::config::McpTransport;

use crate::inputs::{InputFailure, InputFailureKind};
use crate::servers::{FailureCause, ServerFailure};

/// What usually is behind a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// An input or a variable has no value.
    Value,
    /// The program cannot be started as it is written.
    Program,
    /// The parameters cannot be used.
    Parameters,
    /// The server wants a sign-in, or other credentials.
    Access,
    /// What answers is not an MCP server.
    NotMcp,
    /// The address leads to something else.
    WrongAddress,
    /// The certificate is not trusted.
    Certificate,
    /// The server cannot be reached.
    Unreachable,
    /// The server takes too long.
    Slow,
    /// The server ends by itself.
    Ends,
    /// Anything else.
    Other,
}

impl Cause {
    pub(super) fn of(failure: &ServerFailure) -> Self {
        match &failure.cause {
            FailureCause::Input(_) => Self::Value,
            FailureCause::Spawn(StdioStartError::Encoding { .. }) => Self::Parameters,
            FailureCause::Spawn(StdioStartError::Spawn { error, .. }) => Self::of_spawn(error.kind()),
            FailureCause::Session(error) => Self::of_session(error.kind()),
            FailureCause::Exited(_) => Self::Ends,
            _ => Self::Other,
        }
    }

    fn of_spawn(kind: SpawnErrorKind) -> Self {
        match kind {
            // A machine that is short of something may have it again.
            SpawnErrorKind::Refused | SpawnErrorKind::Io | SpawnErrorKind::Streams => Self::Other,
            _ => Self::Program,
        }
    }

    fn of_session(kind: SessionErrorKind) -> Self {
        match kind {
            SessionErrorKind::Parameters => Self::Parameters,
            SessionErrorKind::Access(_) | SessionErrorKind::SignIn => Self::Access,
            SessionErrorKind::Tls => Self::Certificate,
            SessionErrorKind::Status(404 | 405) | SessionErrorKind::Redirected => Self::WrongAddress,
            SessionErrorKind::Status(_) | SessionErrorKind::NotMcp => Self::NotMcp,
            SessionErrorKind::Unreachable => Self::Unreachable,
            SessionErrorKind::Slow => Self::Slow,
            SessionErrorKind::Closed => Self::Ends,
            _ => Self::Other,
        }
    }

    /// Whether it does not get better until a person does something.
    pub(super) fn needs_a_person(self) -> bool {
        matches!(
            self,
            Self::Value | Self::Program | Self::Parameters | Self::Access | Self::WrongAddress | Self::Certificate
        )
    }

    /// What to do, where the failure does not say so itself.
    pub(super) fn advice(self, server: &str) -> String {
        match self {
            Self::Value => "see that it has a value".into(),
            Self::Program => "correct `command`, `cwd` or `env` in the configuration, or install the program".into(),
            Self::Parameters => "correct it in the configuration".into(),
            Self::Access => format!("check the credentials in its `headers`, or sign in: a2c computer login {server}"),
            Self::NotMcp => "check that `command` and `args` start an MCP server on its standard streams, or that `url` is its MCP endpoint; what it prints beside MCP belongs on standard error".into(),
            Self::WrongAddress => "check the path of its `url`; for an older server, \"type\": \"sse\" may be right".into(),
            Self::Certificate => "check the name in `url` and the server's certificate; a server without TLS needs http://".into(),
            Self::Unreachable => "check that the server runs, and the host and port of its `url`".into(),
            Self::Slow => format!("look at what it says (a2c computer logs {server}); the first start of npx or uvx downloads its package: try again, or allow more with --start-timeout"),
            Self::Ends => format!("look at what it says: a2c computer logs {server}; run its command by hand to see more"),
            Self::Other => format!("look at what it says: a2c computer logs {server}"),
        }
    }
}

/// What to do about a failed server.
pub(super) fn advice(failure: &ServerFailure, server: &str, transport: &McpTransport) -> String {
    let cause = Cause::of(failure);
    match (&failure.cause, transport) {
        (FailureCause::Input(failure), _) => value_advice(failure),
        (FailureCause::Session(SessionError::Access(error)), _) => access_advice(&error.credentials, server, transport),
        (FailureCause::Session(error), McpTransport::Sse(_)) if cause != Cause::Access && is_http_4xx(error.kind()) => {
            "check its `url`; a newer server wants \"type\": \"streamable\"".into()
        }
        // A process has no address: it closed its standard input, or is about to end.
        (_, McpTransport::Stdio(_)) if cause == Cause::Unreachable => Cause::Ends.advice(server),
        _ => cause.advice(server),
    }
}

/// What to do about credentials that a server does not accept.
fn access_advice(credentials: &Credentials, server: &str, transport: &McpTransport) -> String {
    match (credentials, transport) {
        (Credentials::SignIn { .. }, _) => format!("sign in: a2c computer login {server}"),
        (Credentials::Headers, McpTransport::Streamable(_)) => format!(
            "check the credentials in its `headers`, or sign in to it at a running Computer that keeps its state: \
             a2c computer login {server}"
        ),
        (Credentials::Headers, _) => "check the credentials in its `headers`".into(),
    }
}

/// What to do about a value that is missing.
fn value_advice(failure: &InputFailure) -> String {
    match &failure.kind {
        InputFailureKind::NoVariable { variable } => format!("export {variable} before starting the Computer"),
        InputFailureKind::Undeclared { id } => format!("declare '{id}' in `inputs`"),
        InputFailureKind::Command { id } => format!("correct the command of '{id}' in `inputs`"),
        InputFailureKind::NoValue { id } | InputFailureKind::NotAnOption { id } | InputFailureKind::Unfit { id } => {
            format!("or give it to the Computer that runs: a2c computer input set {id}")
        }
        _ => "correct it in the configuration".to_owned(),
    }
}

/// Whether the server refused the request as such.
fn is_http_4xx(kind: SessionErrorKind) -> bool {
    matches!(kind, SessionErrorKind::Status(400..=499))
}

#[cfg(test)]
mod tests {
    use a2c_mcp::http::{AccessError, AccessReason, Credentials};
    use a2c_mcp::{CallFailure, SessionError};
    use serde_json::json;

    use super::*;

    fn transport(kind: &str) -> McpTransport {
        let parameters = match kind {
            "stdio" => json!({"command": "x"}),
            _ => json!({"url": "http://127.0.0.1/mcp"}),
        };
        serde_json::from_value(json!({"type": kind, "server_parameters": parameters})).unwrap()
    }

    #[test]
    fn a_program_that_does_not_start_needs_a_person_unless_the_machine_is_short_of_something() {
        use SpawnErrorKind as Kind;
        for (kind, expected, needs_a_person) in [
            (Kind::WorkingDirectory, Cause::Program, true),
            (Kind::ProgramNotFound, Cause::Program, true),
            (Kind::InterpreterNotFound, Cause::Program, true),
            (Kind::NotExecutable, Cause::Program, true),
            (Kind::ProgramIsDirectory, Cause::Program, true),
            (Kind::UnknownFormat, Cause::Program, true),
            (Kind::ArgumentsTooLong, Cause::Program, true),
            (Kind::NulCharacter, Cause::Program, true),
            (Kind::Refused, Cause::Other, false),
            (Kind::Io, Cause::Other, false),
            (Kind::Streams, Cause::Other, false),
        ] {
            let cause = Cause::of_spawn(kind);
            assert_eq!((cause, cause.needs_a_person()), (expected, needs_a_person), "{kind:?}");
            assert!(!(kind.is_temporary() && needs_a_person), "{kind:?}");
        }
    }

    #[test]
    fn refused_credentials_need_a_person() {
        for reason in [AccessReason::Required, AccessReason::Forbidden, AccessReason::NotRenewed, AccessReason::Expired]
        {
            for credentials in [Credentials::Headers, Credentials::SignIn { server: "s".into() }] {
                let failure =
                    ServerFailure::from(SessionError::Access(AccessError { reason, credentials: credentials.clone() }));
                let cause = Cause::of(&failure);
                assert_eq!((cause, cause.needs_a_person()), (Cause::Access, true), "{failure}");
                let can_sign_in = credentials != Credentials::Headers;
                let told = advice(&failure, "s", &transport("sse"));
                assert_eq!(told.contains("a2c computer login s"), can_sign_in, "{failure}: {told}");
                assert!(advice(&failure, "s", &transport("streamable")).contains("a2c computer login s"), "{failure}");
            }
        }
    }

    #[test]
    fn only_a_server_with_an_address_is_looked_for_there() {
        let failure = ServerFailure::from(SessionError::Unreachable(CallFailure::WentAway));
        for (kind, has_address) in [("stdio", false), ("streamable", true), ("sse", true)] {
            let advice = advice(&failure, "s", &transport(kind));
            assert_eq!(advice.contains("`url`"), has_address, "{kind}: {advice}");
            assert_eq!(advice.contains("a2c computer logs s"), !has_address, "{kind}: {advice}");
        }
    }

    #[test]
    fn every_kind_of_failure_of_a_session_has_its_cause() {
        use SessionErrorKind as Kind;
        for (kind, expected) in [
            (Kind::Parameters, Cause::Parameters),
            (Kind::Setup, Cause::Other),
            (Kind::SignIn, Cause::Access),
            (Kind::Tls, Cause::Certificate),
            (Kind::Status(404), Cause::WrongAddress),
            (Kind::Status(405), Cause::WrongAddress),
            (Kind::Status(500), Cause::NotMcp),
            (Kind::Redirected, Cause::WrongAddress),
            (Kind::Unreachable, Cause::Unreachable),
            (Kind::Slow, Cause::Slow),
            (Kind::Closed, Cause::Ends),
            (Kind::NotMcp, Cause::NotMcp),
            (Kind::Listing, Cause::Other),
            (Kind::Unanswered, Cause::Other),
        ] {
            assert_eq!(Cause::of_session(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_missing_value_is_named() {
        let id = || "key".to_owned();
        for (kind, expected) in [
            (InputFailureKind::NoValue { id: id() }, "a2c computer input set key"),
            (InputFailureKind::NotAnOption { id: id() }, "a2c computer input set key"),
            (InputFailureKind::Unfit { id: id() }, "a2c computer input set key"),
            (InputFailureKind::NoVariable { variable: "X".into() }, "export X before"),
            (InputFailureKind::Command { id: id() }, "correct the command of 'key'"),
            (InputFailureKind::Undeclared { id: id() }, "declare 'key'"),
            (InputFailureKind::Parameters, "in the configuration"),
        ] {
            let failure = ServerFailure::from(FailureCause::Input(InputFailure::of_test(kind)));
            let advice = advice(&failure, "s", &transport("stdio"));
            assert!(advice.contains(expected), "{advice}");
            assert_eq!(Cause::of(&failure), Cause::Value);
        }
    }
}
