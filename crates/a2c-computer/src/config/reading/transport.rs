//! How a server is reached: a command or a URL, and what belongs to it.

use std::collections::BTreeMap;
use std::fmt;

use a2c_protocol::config::{
    EncodingErrors, IsoDuration, McpTransport, OAuthParameters, SseParameters, StdioParameters, StreamableParameters,
};
use a2c_settings::{Field, Node, Object, Report, spelling};
use url::Url;

use super::Shape;
use crate::config::keys;

/// The transports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TransportKind {
    Stdio,
    Streamable,
    Sse,
}

impl TransportKind {
    /// The transport that `type` names.
    pub(super) fn named(item: &Field<'_>, shape: Shape, report: &mut Report<'_>) -> Option<Self> {
        let name = item.string(report)?;
        match name.as_str() {
            "stdio" => Some(Self::Stdio),
            "streamable" | "http" => Some(Self::Streamable),
            "sse" => Some(Self::Sse),
            "streamable-http" | "streamableHttp" | "streamable_http" if shape == Shape::Hosts => Some(Self::Streamable),
            _ => {
                let remedy = spelling::remedy(&name, ["stdio", "streamable", "http", "sse"]);
                item.problem(format!("unknown type `{name}`: {remedy}"), report);
                None
            }
        }
    }

    /// The transport that the keys belong to.
    pub(super) fn guessed(fields: &Object<'_>) -> Option<Self> {
        match (fields.has("command"), fields.has("url")) {
            (true, _) => Some(Self::Stdio),
            (false, true) => Some(Self::Streamable),
            (false, false) => None,
        }
    }

    pub(super) fn is_stdio(self) -> bool {
        self == Self::Stdio
    }

    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Stdio => keys::STDIO,
            Self::Streamable => keys::STREAMABLE,
            Self::Sse => keys::SSE,
        }
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Streamable => "streamable",
            Self::Sse => "sse",
        })
    }
}

/// Reads the parameters from the object they stand in, which may hold other keys as well.
pub(super) fn read(kind: TransportKind, fields: &Object<'_>, report: &mut Report<'_>) -> Option<McpTransport> {
    match kind {
        TransportKind::Stdio => stdio(fields, report).map(McpTransport::Stdio),
        TransportKind::Streamable => streamable(fields, report).map(McpTransport::Streamable),
        TransportKind::Sse => sse(fields, report).map(McpTransport::Sse),
    }
}

fn stdio(fields: &Object<'_>, report: &mut Report<'_>) -> Option<StdioParameters> {
    let command = fields.require("command", "name the program to run", report);
    let command = command.and_then(|item| {
        let command = item.string(report)?;
        if command.trim().is_empty() {
            item.problem("is empty: name the program to run", report);
        }
        Some(command)
    });
    if let Some(item) = fields.get("encoding")
        && let Some(encoding) = item.string(report)
        && !["utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str())
    {
        item.problem("MCP on standard streams is UTF-8: leave it out or write `utf-8`", report);
    }
    Some(StdioParameters {
        args: fields.get("args").and_then(|args| args.strings(report)).unwrap_or_default(),
        env: fields.get("env").and_then(|env| environment(&env, report)),
        cwd: fields.get("cwd").and_then(|cwd| cwd.string(report)),
        encoding: "utf-8".into(),
        encoding_error_handler: fields
            .get("encoding_error_handler")
            .and_then(|item| encoding_errors(&item, report))
            .unwrap_or_default(),
        command: command?,
    })
}

fn encoding_errors(item: &Field<'_>, report: &mut Report<'_>) -> Option<EncodingErrors> {
    let choices =
        [("strict", EncodingErrors::Strict), ("ignore", EncodingErrors::Ignore), ("replace", EncodingErrors::Replace)];
    item.choice(&choices, report)
}

fn environment(item: &Field<'_>, report: &mut Report<'_>) -> Option<BTreeMap<String, String>> {
    let mut env = BTreeMap::new();
    for (key, value) in item.string_map(report)? {
        if key.name.is_empty() || key.name.contains(['=', '\0']) {
            report.problem(key.offset, &key.field.path, "is not a name of an environment variable");
        }
        if value.contains('\0') {
            key.field.problem("an environment variable cannot hold the character 0: leave it out", report);
        }
        env.insert(key.name.to_owned(), value);
    }
    Some(env)
}

fn streamable(fields: &Object<'_>, report: &mut Report<'_>) -> Option<StreamableParameters> {
    let url = url(fields, report);
    let headers = headers(fields, report);
    let duration = |key: &str, default: f64, report: &mut Report<'_>| {
        let seconds = fields.get(key).and_then(|item| duration(&item, report)).unwrap_or(default);
        IsoDuration::from_seconds(seconds)
    };
    Some(StreamableParameters {
        headers,
        timeout: duration("timeout", 30.0, report)?,
        sse_read_timeout: duration("sse_read_timeout", 300.0, report)?,
        terminate_on_close: fields.get("terminate_on_close").and_then(|flag| flag.boolean(report)).unwrap_or(true),
        oauth: fields.get("oauth").and_then(|item| oauth(&item, report)),
        url: url?,
    })
}

fn oauth(item: &Field<'_>, report: &mut Report<'_>) -> Option<OAuthParameters> {
    let fields = item.object(report)?;
    fields.only_besides(keys::HOST_OAUTH, &[keys::OAUTH], report);
    let either = |key: &str, of_hosts: &str| fields.get(key).or_else(|| fields.get(of_hosts));
    let text = |field: Option<Field<'_>>, report: &mut Report<'_>| {
        let field = field?;
        let text = field.string(report)?;
        if text.trim().is_empty() {
            field.problem("is empty: leave it out, or write what the authorisation server gave you", report);
        }
        Some(text)
    };
    let client_id = text(either("client_id", "clientId"), report);
    let client_secret = text(either("client_secret", "clientSecret"), report);
    if let Some(secret) = either("client_secret", "clientSecret")
        && client_id.is_none()
    {
        secret.problem("is the secret of no client: write its `client_id` beside it", report);
    }
    let client_metadata_url = fields.get("client_metadata_url").and_then(|field| {
        let url = field.string(report)?;
        let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        let has_path = url.get(8..).and_then(|rest| rest.split_once('/')).is_some_and(|(_, path)| !path.is_empty());
        let is_document = url.starts_with("${") || (is_http(&url) && is_https && has_path);
        if !is_document {
            field.problem(
                "is not the https address of a document: write one such as \"https://example.org/client.json\"",
                report,
            );
        }
        Some(url)
    });
    let issuer = fields.get("issuer").and_then(|field| {
        let issuer = field.string(report)?;
        if !is_http(&issuer) {
            field.problem("is not the address of an issuer: write one such as \"https://login.example.org\"", report);
        }
        Some(issuer)
    });
    Some(OAuthParameters {
        client_id,
        client_secret,
        client_metadata_url,
        issuer,
        scopes: fields.get("scopes").and_then(|field| scopes(&field, report)),
        callback_port: either("callback_port", "callbackPort").and_then(|port| port.integer(1..=u16::MAX, report)),
    })
}

/// Blanks stand between scopes where they are sent: one with a blank in it would be two.
fn scopes(field: &Field<'_>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let scopes = field.strings(report)?;
    if scopes.iter().any(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
        field.problem("write each scope as a string of its own, without blanks", report);
    }
    Some(scopes)
}

fn sse(fields: &Object<'_>, report: &mut Report<'_>) -> Option<SseParameters> {
    let url = url(fields, report);
    let headers = headers(fields, report);
    let seconds = |key: &str, default: f64, report: &mut Report<'_>| {
        fields.get(key).and_then(|item| duration(&item, report)).unwrap_or(default)
    };
    Some(SseParameters {
        headers,
        timeout: seconds("timeout", 5.0, report),
        sse_read_timeout: seconds("sse_read_timeout", 300.0, report),
        url: url?,
    })
}

/// A year: a longer wait is a mistake.
const MAX_SECONDS: f64 = 31_536_000.0;

/// A number of seconds, or an ISO 8601 duration.
fn duration(item: &Field<'_>, report: &mut Report<'_>) -> Option<f64> {
    let seconds = match &item.value.node {
        Node::Number(seconds) => seconds.as_f64(),
        Node::String(text) => IsoDuration::parse(text).map(IsoDuration::seconds),
        _ => None,
    };
    let Some(seconds) = seconds else {
        item.problem("is not a duration: write a number of seconds, or one such as \"PT30S\"", report);
        return None;
    };
    if !(seconds > 0.0 && seconds <= MAX_SECONDS) {
        item.problem(format!("write more than 0 and at most {MAX_SECONDS} seconds"), report);
        return None;
    }
    Some(seconds)
}

fn url(fields: &Object<'_>, report: &mut Report<'_>) -> Option<String> {
    let item = fields.require("url", "write where the server listens, such as \"https://example.org/mcp\"", report)?;
    let url = item.string(report)?;
    if !is_http(&url) {
        item.problem("is not the address of an MCP server: write one such as \"https://example.org/mcp\"", report);
    }
    Some(url)
}

/// Whether a URL is http or https and names a host. A placeholder may stand for any part of it.
fn is_http(url: &str) -> bool {
    if url.starts_with("${") {
        return true;
    }
    let mut filled = String::new();
    let mut rest = url;
    while let Some((before, placeholder)) = rest.split_once("${") {
        filled.push_str(before);
        filled.push('1');
        rest = placeholder.split_once('}').map_or("", |(_, after)| after);
    }
    filled.push_str(rest);
    // The parser accepts blanks and any number of slashes, which are mistakes here.
    let lower = filled.to_ascii_lowercase();
    let Some(rest) = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://")) else { return false };
    !rest.starts_with('/')
        && !filled.contains(|c: char| c.is_whitespace() || c.is_control())
        && Url::parse(&filled).is_ok()
}

fn headers(fields: &Object<'_>, report: &mut Report<'_>) -> Option<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    for (key, value) in fields.get("headers")?.string_map(report)? {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if key.name.is_empty() || !key.name.chars().all(is_token) {
            report.problem(key.offset, &key.field.path, "is not a name of an HTTP header");
        }
        if value.contains(|c: char| c.is_control() && c != '\t') {
            key.field.problem("a header is one line without control characters", report);
        }
        headers.insert(key.name.to_owned(), value);
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_host_and_may_have_placeholders() {
        for (url, ok) in [
            ("http://127.0.0.1:8000/mcp", true),
            ("HTTPS://example.org", true),
            ("https://[::1]:1/x?y=z", true),
            ("https://user:pw@h/mcp", true),
            ("${input:base}/mcp", true),
            ("https://${input:host}:${input:port}/mcp", true),
            ("http://", false),
            ("http:///x", false),
            ("https://:80/", false),
            ("ftp://h/", false),
            ("ws://h/", false),
            ("example.org/mcp", false),
            ("http://a b/", false),
            ("http://h:99999/", false),
            ("", false),
        ] {
            assert_eq!(is_http(url), ok, "{url}");
        }
    }
}
