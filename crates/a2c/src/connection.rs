//! How a role reaches its hub: the options that Agent and Computer share.

use a2c_agent::{LinkOptions, Secret, Transport};
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct HubArgs {
    /// The hub, such as http://127.0.0.1:7420.
    #[arg(long, env = "A2C_URL", value_name = "URL")]
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
