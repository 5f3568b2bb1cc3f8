//! `a2c server`: a hub.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use a2c_hub::auth::{Anybody, ApiKey, Authenticate, Key};
use a2c_hub::{Hub, HubConfig, Limits};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::{output, stop};

/// Run a hub.
///
/// Prints `ready http://ADDR:PORT` on standard output once clients can connect, logs to standard error, and stops
/// cleanly on SIGINT, SIGTERM and SIGHUP.
#[derive(Args)]
pub(crate) struct ServerArgs {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, env = "A2C_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDR:PORT")]
    listen: SocketAddr,

    /// Who may connect. Without this: `token` where a token is set, otherwise `none`.
    #[arg(long, value_enum)]
    auth: Option<AuthArg>,

    /// The token clients have to show. Prefer the environment variable: arguments are visible to other users.
    #[arg(long, env = "A2C_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,

    /// A name under which clients may ask for a hub that listens on a loopback address, behind a proxy for example, and
    /// whose web pages may use it. Can be given several times.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,

    /// How often clients are pinged, in seconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    ping_interval: u64,

    /// How long a client may take to answer a ping, in seconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    ping_timeout: u64,

    /// How long a request that names no limit of its own may take, in seconds.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    call_timeout: u64,

    /// The largest request or answer that is passed on, in bytes.
    #[arg(long, default_value_t = Limits::DEFAULT_MAX_PAYLOAD as u64, value_parser = clap::value_parser!(u64).range(1024..=1 << 30), value_name = "BYTES")]
    max_payload: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuthArg {
    /// Everybody; on a loopback address only.
    None,
    /// Whoever shows the token.
    Token,
}

pub(crate) async fn run(args: ServerArgs) -> Result<ExitCode> {
    let stop = stop::requested()?;
    let config = config(args)?;
    let auth = config.auth.kind();
    let hub = Hub::start(config).await?;
    tracing::info!(address = %hub.address(), auth, "hub listening");
    output::line(&format!("ready {}", hub.url()));
    stop.await;
    tracing::info!("stopping");
    hub.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

fn config(args: ServerArgs) -> Result<HubConfig> {
    if args.token.as_deref() == Some("") {
        bail!("the token is empty: set A2C_TOKEN (or --token) to a secret, or leave it out");
    }
    let auth: Arc<dyn Authenticate> = match (args.auth, args.token) {
        (Some(AuthArg::None), _) | (None, None) => Arc::new(Anybody),
        (Some(AuthArg::Token) | None, Some(token)) => Arc::new(ApiKey::new(Key::new(&token)?)),
        (Some(AuthArg::Token), None) => bail!("--auth token needs a token: set A2C_TOKEN"),
    };
    if auth.is_open() && !args.listen.ip().is_loopback() {
        bail!(
            "refusing to listen on {} without authentication: set A2C_TOKEN, or listen on a loopback address",
            args.listen
        );
    }
    let mut config = HubConfig::on(args.listen);
    config.auth = auth;
    config.allowed_hosts = args.allow_host;
    config.ping_interval = Duration::from_secs(args.ping_interval);
    config.ping_timeout = Duration::from_secs(args.ping_timeout);
    config.call_timeout = Duration::from_secs(args.call_timeout);
    config.limits.max_payload = usize::try_from(args.max_payload)?;
    Ok(config)
}
