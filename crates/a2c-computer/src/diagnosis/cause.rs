//! What is behind the reason of a failure. Pure.
//!
//! Reasons are sentences for people, put together where things go wrong; this is the one place that reads them. The tests
//! of the program hold both sides together.

/// What usually is behind a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// An input or a variable has no value.
    Value,
    /// The program cannot be started as it is written.
    Program,
    /// Its parameters cannot be used.
    Parameters,
    /// Somebody has to sign in, or show other credentials.
    Access,
    /// Something answers that is no MCP server.
    NotMcp,
    /// The address leads to something else.
    WrongAddress,
    /// The certificate is not trusted.
    Distrust,
    /// Nobody answers.
    Unreachable,
    /// It takes too long.
    Slow,
    /// It ends by itself.
    Ends,
    /// Anything else.
    Other,
}

impl Cause {
    pub(super) fn of(reason: &str) -> Self {
        let first = reason.lines().next().unwrap_or_default();
        let has = |part: &str| first.contains(part);
        let begins = |part: &str| first.starts_with(part);
        if begins("input '") || begins("${") || begins("server_parameters.") {
            Self::Value
        } else if begins("cannot start '") {
            // A machine that is short of something may have it again.
            let passes = has("temporarily unavailable") || has("Cannot allocate") || has("Too many open files");
            if passes { Self::Other } else { Self::Program }
        } else if begins("its `") || has(" in its `headers`") || has("its encoding") {
            Self::Parameters
        } else if has("asks for authorisation") || has("refuses access") || has("sign-in") {
            Self::Access
        } else if has("HTTP 404") || has("HTTP 405") || has("redirects to another place") {
            Self::WrongAddress
        } else if has("ertificate") || has("UnknownIssuer") || has("InvalidContentType") {
            Self::Distrust
        } else if has("cannot be reached") {
            Self::Unreachable
        } else if has("did not start within") || has("did not answer within") {
            Self::Slow
        } else if has("it ended with") || has("it hung up") || has("connection closed") {
            Self::Ends
        } else if has("does not answer as an MCP server") {
            Self::NotMcp
        } else {
            Self::Other
        }
    }

    /// Whether nothing gets better without one.
    pub(super) fn needs_a_person(self) -> bool {
        matches!(
            self,
            Self::Value | Self::Program | Self::Parameters | Self::Access | Self::WrongAddress | Self::Distrust
        )
    }

    /// What to do, where the reason does not say so itself.
    pub(super) fn advice(self, server: &str) -> String {
        match self {
            Self::Value => "see that it has a value".into(),
            Self::Program => "correct `command`, `cwd` or `env` in the configuration, or install the program".into(),
            Self::Parameters => "correct it in the configuration".into(),
            Self::Access => format!("check the credentials in its `headers`, or sign in: a2c computer login {server}"),
            Self::NotMcp => "check that `command` and `args` start an MCP server on its standard streams, or that `url` is its MCP endpoint; what it prints beside MCP belongs on standard error".into(),
            Self::WrongAddress => "check the path of its `url`; for an older server, \"type\": \"sse\" may be right".into(),
            Self::Distrust => "check the name in `url` and the server's certificate; a server without TLS needs http://".into(),
            Self::Unreachable => "check that the server runs, and the host and port of its `url`".into(),
            Self::Slow => format!("look at what it says (a2c computer logs {server}); the first start of npx or uvx downloads its package: try again, or allow more with --start-timeout"),
            Self::Ends => format!("look at what it says: a2c computer logs {server}; run its command by hand to see more"),
            Self::Other => format!("look at what it says: a2c computer logs {server}"),
        }
    }
}

/// What to do about a value that is not there.
pub(super) fn value_advice(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    let between = |start: &str, end: &str| first.split_once(start).and_then(|(_, rest)| rest.split_once(end));
    if let Some((variable, _)) = between("${env:", "}") {
        return format!("export {variable} before starting the Computer");
    }
    match between("input '", "'") {
        Some((id, rest)) if rest.contains("is not declared") => format!("declare '{id}' in `inputs`"),
        Some((id, rest)) if rest.contains(": its command '") || rest.contains(": its `args`") => {
            format!("mend its command: that of '{id}' in `inputs`")
        }
        Some((id, _)) => format!("or give it to the Computer that runs: a2c computer input set {id}"),
        None => "correct it in the configuration".to_owned(),
    }
}

/// Whether a server refused the request as such.
pub(super) fn is_http_4xx(reason: &str) -> bool {
    reason.lines().next().is_some_and(|first| first.contains("HTTP 4"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_missing_value_is_named() {
        for (reason, expected) in [
            ("input 'key' (Key) has no value: set A2C_INPUT_KEY", "a2c computer input set key"),
            ("${env:X}: the environment variable X is not set, or is not text", "export X before"),
            ("input 'k': its command 'false' failed (exit status: 1)", "mend its command"),
            ("input 'k' is not declared: add it to `inputs`", "declare 'k'"),
            ("server_parameters.url: input 'u' has 1 as its value", "input set u"),
        ] {
            assert!(value_advice(reason).contains(expected), "{}", value_advice(reason));
        }
    }

    use super::*;

    #[test]
    fn reasons_are_recognised() {
        for (reason, expected) in [
            ("input 'key' (Key) has no value: set A2C_INPUT_KEY", Cause::Value),
            ("${env:X}: the environment variable X is not set, or is not text", Cause::Value),
            ("cannot start 'npx': No such file or directory (os error 2) (install Node.js)", Cause::Program),
            ("cannot start 'x': Resource temporarily unavailable (os error 11)", Cause::Other),
            ("its `url` must start with http:// or https://, not with ftp:", Cause::Parameters),
            ("'x y' in its `headers` is no name of a header", Cause::Parameters),
            ("the server asks for authorisation; sign in on the computer: a2c computer login s", Cause::Access),
            ("the server refuses access; it does not allow this", Cause::Access),
            ("it does not answer as an MCP server: the server answered HTTP 404", Cause::WrongAddress),
            ("it does not answer as an MCP server: the server cannot be reached: refused", Cause::Unreachable),
            ("it does not answer as an MCP server: invalid peer certificate: UnknownIssuer", Cause::Distrust),
            ("it does not answer as an MCP server: connection closed: initialize (exit status: 0)", Cause::Ends),
            ("it did not start within 60 s", Cause::Slow),
            ("it ended with exit status: 1; it wrote:\ninput 'x' is missing", Cause::Ends),
            ("it does not answer as an MCP server: unexpected message", Cause::NotMcp),
            ("it is unwell", Cause::Other),
        ] {
            assert_eq!(Cause::of(reason), expected, "{reason}");
        }
    }
}
