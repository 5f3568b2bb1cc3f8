//! The configuration of a Computer, as its owner writes it and as `client:get_config` shows it.
//!
//! Secrets never travel: [`McpServerConfig::redacted`] keeps placeholders and hides literal values.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use crate::event;
use crate::request::Request;
use crate::tool::ToolMeta;

/// What a literal value of `env` or `headers` reads where others can see it.
pub const REDACTED: &str = "***";

/// `client:get_config`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetConfigReq {
    /// The Agent that asks; the hub stamps it from the session.
    pub agent: String,
    /// The caller's key for this request: the answer repeats it, a cancellation names it.
    pub req_id: String,
    /// The Computer that is asked.
    pub computer: String,
}

impl Request for GetConfigReq {
    const EVENT: &'static str = event::GET_CONFIG;
}

/// The answer to `client:get_config`. Servers in the field leave `req_id` out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetConfigRet {
    /// The inputs that server parameters may refer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<Input>>,
    /// The MCP servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
    /// The key of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub req_id: Option<String>,
}

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServerConfig {
    /// Its name; the key of the map where left out.
    #[serde(default)]
    pub name: String,
    /// Whether it is switched off.
    #[serde(default)]
    pub disabled: bool,
    /// Tools that are neither listed nor callable.
    #[serde(default)]
    pub forbidden_tools: Vec<String>,
    /// What the owner says about single tools.
    #[serde(default)]
    pub tool_meta: BTreeMap<String, ToolMeta>,
    /// What the owner says about all the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_tool_meta: Option<ToolMeta>,
    /// A Vector Remap Language program over each result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vrl: Option<String>,
    /// How it is reached.
    #[serde(flatten)]
    pub transport: McpTransport,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "server_parameters", rename_all = "lowercase")]
pub enum McpTransport {
    /// A child process that speaks MCP on its standard streams.
    Stdio(StdioParameters),
    /// Streamable HTTP.
    #[serde(alias = "http")]
    Streamable(StreamableParameters),
    /// The older HTTP with server-sent events.
    Sse(SseParameters),
}

/// A child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StdioParameters {
    /// The program.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables it gets beside a minimal default.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    /// Where it runs.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The encoding of its streams.
    #[serde(default = "StdioParameters::default_encoding")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[uU][tT][fF]-?8$")))]
    pub encoding: String,
    /// What to do with bytes that are not in that encoding.
    #[serde(default)]
    pub encoding_error_handler: EncodingErrors,
}

impl StdioParameters {
    fn default_encoding() -> String {
        "utf-8".into()
    }
}

/// What to do with bytes outside the encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EncodingErrors {
    /// They are an error.
    #[default]
    Strict,
    /// They are left out.
    Ignore,
    /// They become a replacement character.
    Replace,
}

/// A streamable HTTP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamableParameters {
    /// Its endpoint.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(\$\{|[hH][tT][tT][pP][sS]?://[^/\s])")))]
    pub url: String,
    /// Headers of every request.
    #[serde(default)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Limit of ordinary requests.
    #[serde(default = "IsoDuration::thirty_seconds")]
    pub timeout: IsoDuration,
    /// Limit of waiting on an event stream.
    #[serde(default = "IsoDuration::five_minutes")]
    pub sse_read_timeout: IsoDuration,
    /// End the session when the connection closes.
    #[serde(default = "yes")]
    pub terminate_on_close: bool,
    /// What the owner knows about signing in; most servers say everything themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthParameters>,
}

/// How to sign in to a server, where its own word is not enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct OAuthParameters {
    /// The client that the owner registered with the authorisation server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub client_id: Option<String>,
    /// The secret of that client, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub client_secret: Option<String>,
    /// The address of a document that describes the client, for servers that take it in place of a registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(\$\{|[hH][tT][tT][pP][sS]://[^/\s]+/[^\s])")))]
    pub client_metadata_url: Option<String>,
    /// The issuer that the client is registered with: nobody else gets its id and its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(\$\{|[hH][tT][tT][pP][sS]?://[^/\s])")))]
    pub issuer: Option<String>,
    /// Scopes to ask for beside those that the server names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// The port that the browser comes back to, where the registration names one; else any that is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub callback_port: Option<u16>,
}

/// A legacy SSE server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SseParameters {
    /// Its endpoint.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(\$\{|[hH][tT][tT][pP][sS]?://[^/\s])")))]
    pub url: String,
    /// Headers of every request.
    #[serde(default)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Limit of ordinary requests, in seconds.
    #[serde(default = "SseParameters::default_timeout")]
    #[cfg_attr(feature = "schema", schemars(with = "IsoDuration"))]
    pub timeout: f64,
    /// Limit of waiting on the event stream, in seconds.
    #[serde(default = "SseParameters::default_read_timeout")]
    #[cfg_attr(feature = "schema", schemars(with = "IsoDuration"))]
    pub sse_read_timeout: f64,
}

impl SseParameters {
    fn default_timeout() -> f64 {
        5.0
    }

    fn default_read_timeout() -> f64 {
        300.0
    }
}

/// A duration that is written as ISO 8601 (`PT30S`) and read from that or from plain seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String")]
pub struct IsoDuration {
    seconds: f64,
}

impl IsoDuration {
    /// A duration of so many seconds; negative or infinite ones do not exist.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        (seconds.is_finite() && seconds >= 0.0).then_some(Self { seconds })
    }

    /// The length in seconds.
    pub fn seconds(self) -> f64 {
        self.seconds
    }

    fn thirty_seconds() -> Self {
        Self { seconds: 30.0 }
    }

    fn five_minutes() -> Self {
        Self { seconds: 300.0 }
    }

    /// Reads `PnDTnHnMnS`. Months and years have no fixed length and are refused.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('P')?;
        let (days, time) = match rest.split_once('T') {
            Some((_, "")) => return None,
            Some((days, time)) => (days, time),
            None => (rest, ""),
        };
        if days.is_empty() && time.is_empty() {
            return None;
        }
        let days = components(days, &[('W', 604_800.0), ('D', 86_400.0)])?;
        let time = components(time, &[('H', 3_600.0), ('M', 60.0), ('S', 1.0)])?;
        Self::from_seconds(days + time)
    }
}

/// Adds up `<number><unit>` parts whose units come in the given order, each at most once.
fn components(mut text: &str, units: &[(char, f64)]) -> Option<f64> {
    let mut total = 0.0;
    for &(unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(unit) {
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
                return None;
            }
            total += number.parse::<f64>().ok()? * seconds;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

impl From<IsoDuration> for String {
    fn from(duration: IsoDuration) -> Self {
        format!("PT{}S", duration.seconds)
    }
}

impl<'de> Deserialize<'de> for IsoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parsed = match Value::deserialize(deserializer)? {
            Value::Number(seconds) => seconds.as_f64().and_then(Self::from_seconds),
            Value::String(text) => Self::parse(&text),
            _ => None,
        };
        parsed.ok_or_else(|| de::Error::custom("expected a duration such as \"PT30S\", or a number of seconds"))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for IsoDuration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number of seconds, or an ISO 8601 duration such as PT30S.",
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": 31_536_000},
                {"type": "string", "pattern": "^P(([0-9.]+[WD])+(T([0-9.]+[HMS])+)?|T([0-9.]+[HMS])+)$"}
            ]
        })
    }
}

/// A value that the owner supplies at run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Input {
    /// Typed in.
    PromptString {
        /// What placeholders name.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        id: String,
        /// What to ask for.
        #[serde(default)]
        description: String,
        /// Taken when nothing is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        /// Not shown while typing, never logged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        password: Option<bool>,
    },
    /// Picked from a list.
    PickString {
        /// What placeholders name.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        id: String,
        /// What to ask for.
        #[serde(default)]
        description: String,
        /// The choices.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        options: Vec<String>,
        /// Taken when nothing is picked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// What a program prints.
    Command {
        /// What placeholders name.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        id: String,
        /// What it is for.
        #[serde(default)]
        description: String,
        /// The program.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        command: String,
        /// Its arguments; peers in the field write an object, owners a list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
        /// Whether the program is a line for the shell, where the arguments are `$1` and so on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell: Option<bool>,
    },
}

impl Input {
    /// What placeholders name.
    pub fn id(&self) -> &str {
        match self {
            Self::PromptString { id, .. } | Self::PickString { id, .. } | Self::Command { id, .. } => id,
        }
    }

    /// The input as others may see it: the default of a password is hidden.
    pub fn redacted(&self) -> Self {
        let mut seen = self.clone();
        if let Self::PromptString { default: Some(default), password: Some(true), .. } = &mut seen {
            *default = REDACTED.into();
        }
        seen
    }
}

impl McpServerConfig {
    /// The configuration as others may see it: literal values of `env` and `headers` and the secret of an OAuth client
    /// are hidden, placeholders stay.
    pub fn redacted(&self) -> Self {
        let mut seen = self.clone();
        let (values, secret) = match &mut seen.transport {
            McpTransport::Stdio(p) => (p.env.as_mut(), None),
            McpTransport::Streamable(p) => {
                (p.headers.as_mut(), p.oauth.as_mut().and_then(|oauth| oauth.client_secret.as_mut()))
            }
            McpTransport::Sse(p) => (p.headers.as_mut(), None),
        };
        for value in values.into_iter().flat_map(BTreeMap::values_mut).chain(secret) {
            if !is_placeholder(value) {
                *value = REDACTED.into();
            }
        }
        if let McpTransport::Streamable(StreamableParameters { url, .. })
        | McpTransport::Sse(SseParameters { url, .. }) = &mut seen.transport
        {
            *url = redact_url(url);
        }
        if let McpTransport::Streamable(StreamableParameters { oauth: Some(oauth), .. }) = &mut seen.transport
            && let Some(url) = &mut oauth.client_metadata_url
        {
            *url = redact_url(url);
        }
        seen
    }
}

/// Whether a value is nothing but one placeholder, `${…}`.
pub fn is_placeholder(value: &str) -> bool {
    value.strip_prefix("${").and_then(|v| v.strip_suffix('}')).is_some_and(|inner| !inner.contains(['$', '{', '}']))
}

/// Hides the user information and the query of a URL: both are customary places for keys.
pub fn redact_url(url: &str) -> String {
    let (head, query) = match url.split_once('?') {
        Some((head, _)) => (head, format!("?{REDACTED}")),
        None => (url, String::new()),
    };
    let head = match head.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            match authority.rsplit_once('@') {
                Some((_, host)) => format!("{scheme}://{REDACTED}@{host}{path}"),
                None => head.to_owned(),
            }
        }
        None => head.to_owned(),
    };
    head + &query
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_transport_round_trips() {
        for (given, kind) in [
            (json!({"type": "stdio", "server_parameters": {"command": "x"}}), "stdio"),
            (json!({"type": "http", "server_parameters": {"url": "http://h"}}), "streamable"),
            (json!({"type": "streamable", "server_parameters": {"url": "http://h", "timeout": 5}}), "streamable"),
            (json!({"type": "sse", "server_parameters": {"url": "http://h"}}), "sse"),
        ] {
            let config: McpServerConfig = serde_json::from_value(given).unwrap();
            let written = serde_json::to_value(&config).unwrap();
            assert_eq!(written["type"], kind);
            assert_eq!(serde_json::from_value::<McpServerConfig>(written).unwrap(), config);
        }
    }

    #[test]
    fn durations_are_iso_or_seconds() {
        let read = |value: Value| serde_json::from_value::<IsoDuration>(value).map(IsoDuration::seconds);
        for (value, seconds) in [
            (json!("PT30S"), 30.0),
            (json!("PT1M30S"), 90.0),
            (json!("PT0.5S"), 0.5),
            (json!("P1DT1H"), 90_000.0),
            (json!("P1W"), 604_800.0),
            (json!(12), 12.0),
            (json!(1.5), 1.5),
        ] {
            assert_eq!(read(value.clone()).unwrap(), seconds, "{value}");
        }
        for value in [
            json!("30"),
            json!("P"),
            json!("PT"),
            json!("P1Y"),
            json!("PT1S1M"),
            json!("PTS"),
            json!(-1),
            json!(null),
            json!("P1H"),
        ] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
        assert_eq!(serde_json::to_value(IsoDuration::thirty_seconds()).unwrap(), "PT30S");
    }

    #[test]
    fn redaction_hides_literals_and_keeps_placeholders() {
        let config: McpServerConfig = serde_json::from_value(json!({
            "type": "stdio",
            "server_parameters": {"command": "x", "env": {"A": "s3cret", "B": "${input:key}", "C": "Bearer ${input:key}", "D": "${env:X} s3cret ${env:Y}"}}
        }))
        .unwrap();
        let seen = serde_json::to_value(config.redacted()).unwrap();
        assert_eq!(seen["server_parameters"]["env"], json!({"A": "***", "B": "${input:key}", "C": "***", "D": "***"}));
        let http: McpServerConfig = serde_json::from_value(json!({
            "type": "streamable", "server_parameters": {"url": "https://u:s3cret@h/mcp?key=s3cret", "headers": {"authorization": "Bearer s3cret"},
                "oauth": {"client_id": "me", "client_secret": "s3cret", "client_metadata_url": "https://u:s3cret@h/c?k=s3cret"}}
        }))
        .unwrap();
        assert!(!serde_json::to_string(&http.redacted()).unwrap().contains("s3cret"));
    }

    #[test]
    fn the_default_of_a_password_is_hidden() {
        let input: Input = serde_json::from_value(
            json!({"type": "promptString", "id": "k", "description": "Key", "default": "s3cret", "password": true}),
        )
        .unwrap();
        assert!(!serde_json::to_string(&input.redacted()).unwrap().contains("s3cret"));
        assert_eq!(input.redacted().id(), "k");
    }
}
