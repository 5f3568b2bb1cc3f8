//! A configuration as JSON text, in our shape and without default values.

use std::collections::BTreeMap;

use a2c_protocol::config::{EncodingErrors, Input, IsoDuration, McpServerConfig, McpTransport, OAuthParameters};
use a2c_protocol::tool::ToolMeta;
use serde::Serialize;
use serde_json::Value;

use super::ComputerConfig;

impl ComputerConfig {
    /// The configuration as JSON text, secrets included: reading it gives the same configuration again.
    pub fn to_json(&self) -> String {
        let servers = self.servers.iter().map(|(name, server)| (name.as_str(), Server::of(server))).collect();
        json(&File { inputs: &self.inputs, servers })
    }
}

/// One server as JSON text.
pub(super) fn server(server: &McpServerConfig) -> String {
    json(&Server::of(server))
}

/// One input as JSON text.
pub(super) fn input(input: &Input) -> String {
    json(input)
}

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with texts for keys becomes JSON");
    text.push('\n');
    text
}

// The order of fields is the order in the text.

#[derive(Serialize)]
struct File<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    inputs: &'a [Input],
    servers: BTreeMap<&'a str, Server<'a>>,
}

#[derive(Serialize)]
struct Server<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    server_parameters: Parameters<'a>,
    #[serde(skip_serializing_if = "is_default")]
    disabled: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    forbidden_tools: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tool_meta: BTreeMap<&'a str, Meta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_tool_meta: Option<Meta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vrl: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    Stdio {
        command: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        args: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        env: Option<&'a BTreeMap<String, String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<&'a str>,
        #[serde(skip_serializing_if = "is_default")]
        encoding_error_handler: EncodingErrors,
    },
    Http {
        url: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        headers: Option<&'a BTreeMap<String, String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sse_read_timeout: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        terminate_on_close: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        oauth: Option<&'a OAuthParameters>,
    },
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_apply: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ret_object_mapper: Option<&'a Value>,
}

impl<'a> Server<'a> {
    fn of(server: &'a McpServerConfig) -> Self {
        let (kind, server_parameters) = match &server.transport {
            McpTransport::Stdio(stdio) => (
                "stdio",
                Parameters::Stdio {
                    command: &stdio.command,
                    args: &stdio.args,
                    env: stdio.env.as_ref(),
                    cwd: stdio.cwd.as_deref(),
                    encoding_error_handler: stdio.encoding_error_handler,
                },
            ),
            McpTransport::Streamable(http) => (
                "streamable",
                Parameters::Http {
                    url: &http.url,
                    headers: http.headers.as_ref(),
                    timeout: unless(IsoDuration::seconds(http.timeout), 30.0),
                    sse_read_timeout: unless(IsoDuration::seconds(http.sse_read_timeout), 300.0),
                    terminate_on_close: unless(http.terminate_on_close, true),
                    oauth: http.oauth.as_ref(),
                },
            ),
            McpTransport::Sse(sse) => (
                "sse",
                Parameters::Http {
                    url: &sse.url,
                    headers: sse.headers.as_ref(),
                    timeout: unless(sse.timeout, 5.0),
                    sse_read_timeout: unless(sse.sse_read_timeout, 300.0),
                    terminate_on_close: None,
                    oauth: None,
                },
            ),
        };
        Self {
            kind,
            server_parameters,
            disabled: server.disabled,
            forbidden_tools: &server.forbidden_tools,
            tool_meta: server.tool_meta.iter().map(|(tool, meta)| (tool.as_str(), Meta::of(meta))).collect(),
            default_tool_meta: server.default_tool_meta.as_ref().map(Meta::of),
            vrl: server.vrl.as_deref(),
        }
    }
}

impl<'a> Meta<'a> {
    fn of(meta: &'a ToolMeta) -> Self {
        Self {
            auto_apply: meta.auto_apply,
            alias: meta.alias.as_deref(),
            tags: meta.tags.as_deref(),
            ret_object_mapper: meta.ret_object_mapper.as_ref(),
        }
    }
}

fn unless<T: Copy + PartialEq>(value: T, default: T) -> Option<T> {
    (value != default).then_some(value)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
