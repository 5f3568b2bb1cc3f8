//! How a role reaches its hub: the options that Agent and Computer share.

use a2c_agent::{ConnectError, LinkOptions, Secret, SocketError, Transport};
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct HubArgs {
    /// The hub, such as http://127.0.0.1:7420.
    #[arg(long, env = "A2C_URL", value_name = "URL", value_parser = hub_url)]
    pub(crate) url: String,

    /// The office to join.
    #[arg(long, env = "A2C_OFFICE", value_name = "ID")]
    pub(crate) office: String,

    /// The hub's token. Prefer the environment variable: arguments are visible to other users of this machine.
    #[arg(long, env = "A2C_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,

    /// The HTTP path of the hub; other implementations often use /socket.io.
    #[arg(long, default_value = a2c_protocol::DEFAULT_PATH, value_name = "PATH")]
    path: String,

    /// How to talk to the hub.
    #[arg(long, value_enum, default_value = "auto")]
    transport: TransportArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportArg {
    /// HTTP polling first, then websocket.
    Auto,
    /// Websocket from the start.
    Websocket,
    /// HTTP polling only.
    Polling,
}

/// Finds the usual mistakes in a URL before anything is connected.
fn hub_url(text: &str) -> Result<String, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(format!("write it with its scheme, such as http://{text}"));
    };
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
        return Err(format!("{scheme}:// is none of http://, https://, ws://, wss://"));
    }
    match rest.trim_end_matches('/').split_once('/') {
        Some((authority, path)) => Err(format!("give the path apart: --url {scheme}://{authority} --path /{path}")),
        None => Ok(text.trim_end_matches('/').to_owned()),
    }
}

/// Adds what usually is behind a failed connection.
pub(crate) fn explain(error: ConnectError) -> anyhow::Error {
    let hint = match &error {
        ConnectError::Unreachable { source, .. } => match &**source {
            SocketError::Http(refusal) if refusal.status.as_u16() == 404 => "is this its --path?",
            SocketError::Http(_) => "is this an A2C hub?",
            SocketError::Transport(_) | SocketError::Timeout(_) => "is the hub running? Start one with: a2c server",
            _ => return error.into(),
        },
        ConnectError::Unauthorized => "set A2C_TOKEN to it",
        _ => return error.into(),
    };
    anyhow::anyhow!("{error} ({hint})")
}

impl HubArgs {
    pub(crate) fn options(&self) -> LinkOptions {
        let mut options = LinkOptions::new(&self.url);
        options.path.clone_from(&self.path);
        options.token = self.token.as_deref().map(Secret::new);
        options.transport = match self.transport {
            TransportArg::Auto => Transport::PollingThenWebsocket,
            TransportArg::Websocket => Transport::Websocket,
            TransportArg::Polling => Transport::Polling,
        };
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_a_url_are_named() {
        assert_eq!(hub_url("http://h:1/").as_deref(), Ok("http://h:1"));
        assert_eq!(hub_url("https://[::1]:1").as_deref(), Ok("https://[::1]:1"));
        assert!(hub_url("127.0.0.1:7420").unwrap_err().contains("http://127.0.0.1:7420"));
        assert!(hub_url("ftp://h").unwrap_err().contains("ftp://"));
        assert!(hub_url("http://h:1/smcp").unwrap_err().contains("--url http://h:1 --path /smcp"));
    }
}
