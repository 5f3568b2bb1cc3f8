//! How a server is reached: a command or a URL, and what belongs to it.

use std::collections::BTreeMap;
use std::fmt;

use a2c_protocol::config::{
    EncodingErrors, IsoDuration, McpTransport, SseParameters, StdioParameters, StreamableParameters,
};
use url::Url;

use super::fields::{Fields, Item, Problems};
use super::{Shape, spelling};
use crate::config::keys;
use crate::config::spanned::Node;

/// The transports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stdio,
    Streamable,
    Sse,
}

impl Kind {
    /// What `type` says.
    pub(super) fn named(item: &Item<'_>, shape: Shape, problems: &mut Problems<'_>) -> Option<Self> {
        let name = item.text(problems)?;
        match name.as_str() {
            "stdio" => Some(Self::Stdio),
            "streamable" | "http" => Some(Self::Streamable),
            "sse" => Some(Self::Sse),
            "streamable-http" | "streamableHttp" | "streamable_http" if shape == Shape::Hosts => Some(Self::Streamable),
            _ => {
                let remedy = spelling::remedy(&name, ["stdio", "streamable", "http", "sse"].into_iter());
                item.wrong(format!("unknown type `{name}`: {remedy}"), problems);
                None
            }
        }
    }

    /// What the keys say.
    pub(super) fn guessed(fields: &Fields<'_>) -> Option<Self> {
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Streamable => "streamable",
            Self::Sse => "sse",
        })
    }
}

/// Reads the parameters from the object they stand in, which may hold other keys as well.
pub(super) fn read(kind: Kind, fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<McpTransport> {
    match kind {
        Kind::Stdio => stdio(fields, problems).map(McpTransport::Stdio),
        Kind::Streamable => streamable(fields, problems).map(McpTransport::Streamable),
        Kind::Sse => sse(fields, problems).map(McpTransport::Sse),
    }
}

fn stdio(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<StdioParameters> {
    let command = fields.need("command", "name the program to run", problems);
    let command = command.and_then(|item| {
        let command = item.text(problems)?;
        if command.trim().is_empty() {
            item.wrong("is empty: name the program to run", problems);
        }
        Some(command)
    });
    if let Some(item) = fields.get("encoding")
        && let Some(encoding) = item.text(problems)
        && !["utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str())
    {
        item.wrong("MCP on standard streams is UTF-8: leave it out or write `utf-8`", problems);
    }
    Some(StdioParameters {
        args: fields.get("args").and_then(|args| args.texts(problems)).unwrap_or_default(),
        env: fields.get("env").and_then(|env| environment(&env, problems)),
        cwd: fields.get("cwd").and_then(|cwd| cwd.text(problems)),
        encoding: "utf-8".into(),
        encoding_error_handler: fields
            .get("encoding_error_handler")
            .and_then(|item| encoding_errors(&item, problems))
            .unwrap_or_default(),
        command: command?,
    })
}

fn encoding_errors(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<EncodingErrors> {
    match item.text(problems)?.as_str() {
        "strict" => Some(EncodingErrors::Strict),
        "ignore" => Some(EncodingErrors::Ignore),
        "replace" => Some(EncodingErrors::Replace),
        other => {
            let remedy = spelling::remedy(other, ["strict", "ignore", "replace"].into_iter());
            item.wrong(format!("unknown: {remedy}"), problems);
            None
        }
    }
}

fn environment(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<BTreeMap<String, String>> {
    let mut env = BTreeMap::new();
    for (name, at, item, value) in item.named_texts(problems)? {
        if name.is_empty() || name.contains(['=', '\0']) {
            problems.tell(at, &item.path, |_| "is no name of an environment variable");
        }
        if value.contains('\0') {
            item.wrong("an environment variable cannot hold the character 0: leave it out", problems);
        }
        env.insert(name.to_owned(), value);
    }
    Some(env)
}

fn streamable(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<StreamableParameters> {
    let url = url(fields, problems);
    let headers = headers(fields, problems);
    let duration = |key: &str, default: f64, problems: &mut Problems<'_>| {
        let seconds = fields.get(key).and_then(|item| duration(&item, problems)).unwrap_or(default);
        IsoDuration::from_seconds(seconds)
    };
    Some(StreamableParameters {
        headers,
        timeout: duration("timeout", 30.0, problems)?,
        sse_read_timeout: duration("sse_read_timeout", 300.0, problems)?,
        terminate_on_close: fields.get("terminate_on_close").and_then(|flag| flag.flag(problems)).unwrap_or(true),
        url: url?,
    })
}

fn sse(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<SseParameters> {
    let url = url(fields, problems);
    let headers = headers(fields, problems);
    let seconds = |key: &str, default: f64, problems: &mut Problems<'_>| {
        fields.get(key).and_then(|item| duration(&item, problems)).unwrap_or(default)
    };
    Some(SseParameters {
        headers,
        timeout: seconds("timeout", 5.0, problems),
        sse_read_timeout: seconds("sse_read_timeout", 300.0, problems),
        url: url?,
    })
}

/// A year. Nobody waits longer, and larger numbers stop being times.
const LONGEST_SECONDS: f64 = 31_536_000.0;

/// A number of seconds, or an ISO 8601 duration.
fn duration(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<f64> {
    let seconds = match &item.value.node {
        Node::Number(seconds) => seconds.as_f64(),
        Node::Text(text) => IsoDuration::parse(text).map(IsoDuration::seconds),
        _ => None,
    };
    let Some(seconds) = seconds else {
        item.wrong("is no duration: write a number of seconds, or one such as \"PT30S\"", problems);
        return None;
    };
    if !(seconds > 0.0 && seconds <= LONGEST_SECONDS) {
        item.wrong(format!("write more than 0 and at most {LONGEST_SECONDS} seconds"), problems);
        return None;
    }
    Some(seconds)
}

fn url(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<String> {
    let item = fields.need("url", "write where the server listens, such as \"https://example.org/mcp\"", problems)?;
    let url = item.text(problems)?;
    if !is_http(&url) {
        item.wrong("is no address of an MCP server: write one such as \"https://example.org/mcp\"", problems);
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
    // The parser forgives what a person did not mean: blanks, and any number of slashes.
    let lower = filled.to_ascii_lowercase();
    let Some(rest) = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://")) else { return false };
    !rest.starts_with('/')
        && !filled.contains(|c: char| c.is_whitespace() || c.is_control())
        && Url::parse(&filled).is_ok()
}

fn headers(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    for (name, at, item, value) in fields.get("headers")?.named_texts(problems)? {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            problems.tell(at, &item.path, |_| "is no name of an HTTP header");
        }
        if value.contains(|c: char| c.is_control() && c != '\t') {
            item.wrong("a header is one line without control characters", problems);
        }
        headers.insert(name.to_owned(), value);
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
