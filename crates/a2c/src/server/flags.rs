//! The flags of `a2c server`.

use std::net::SocketAddr;
use std::path::PathBuf;

use a2c_agent::Secret;
use clap::Args;
use clap::builder::BoolishValueParser;

use super::help;
use super::value::{
    AuthKind, BacklogBytes, Cap, Count, CountOrNone, ForwardedBy, MessageBytes, PositiveSeconds, Ratio, SecondsOrNone,
    listen_address,
};

// Every setting is optional: what is not given here may be in the file. Defaults are stated in the text for that reason.
// (No documentation comment: it would become the help of the command.)
#[derive(Args, Clone, Default)]
pub(crate) struct Flags {
    /// Read settings from this TOML file.
    #[arg(long, env = "A2C_HUB_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Check all settings, show them and where they come from, and end without listening.
    #[arg(long)]
    pub(crate) check: bool,

    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7420].
    #[arg(
        long,
        env = "A2C_LISTEN",
        value_parser = listen_address,
        value_name = "ADDR:PORT",
        help_heading = help::NETWORK
    )]
    pub(crate) listen: Option<SocketAddr>,

    /// A name under which clients may ask for a hub on a loopback address, and whose web pages may use it.
    ///
    /// Behind a proxy, for example. Can be given several times, or separated by commas.
    #[arg(long, env = "A2C_HUB_ALLOW_HOSTS", value_delimiter = ',', value_name = "HOST", help_heading = help::NETWORK)]
    pub(crate) allow_host: Option<Vec<String>>,

    /// A proxy in front of this hub, as an address or a network (10.0.0.0/8), that may say whose address a client has.
    ///
    /// Limits, log and audit then count the client and not the proxy. Can be given several times, or separated by commas.
    #[arg(
        long,
        env = "A2C_HUB_TRUSTED_PROXIES",
        value_delimiter = ',',
        value_name = "NETWORK",
        help_heading = help::NETWORK
    )]
    pub(crate) trusted_proxy: Option<Vec<String>>,

    /// The header in which trusted proxies say it; all others are not believed [default: x-forwarded-for].
    #[arg(long, env = "A2C_HUB_FORWARDED_HEADER", value_name = "HEADER", help_heading = help::NETWORK)]
    pub(crate) forwarded_header: Option<ForwardedBy>,

    /// Trusted proxies pass on TCP and say it in the PROXY protocol (version 1 or 2), before TLS.
    ///
    /// The hub then closes connections of trusted proxies that do not begin with it, and others that do, and believes no
    /// header of HTTP.
    #[arg(
        long,
        env = "A2C_HUB_PROXY_PROTOCOL",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        help_heading = help::NETWORK
    )]
    pub(crate) proxy_protocol: Option<bool>,

    /// How often clients are pinged, in seconds [default: 5].
    #[arg(long, env = "A2C_HUB_PING_INTERVAL", value_name = "SECONDS", help_heading = help::NETWORK)]
    pub(crate) ping_interval: Option<PositiveSeconds>,

    /// How long a client may take to answer a ping, in seconds [default: 5].
    #[arg(long, env = "A2C_HUB_PING_TIMEOUT", value_name = "SECONDS", help_heading = help::NETWORK)]
    pub(crate) ping_timeout: Option<PositiveSeconds>,

    /// How long a request that names no limit of its own may take, in seconds [default: 30].
    #[arg(long, env = "A2C_HUB_CALL_TIMEOUT", value_name = "SECONDS", help_heading = help::NETWORK)]
    pub(crate) call_timeout: Option<PositiveSeconds>,

    /// How long a stopping hub waits for calls in flight, in seconds [default: 10].
    ///
    /// Meanwhile the hub refuses new clients. A second SIGINT or SIGTERM ends the wait.
    #[arg(long, env = "A2C_HUB_DRAIN", value_name = "SECONDS", help_heading = help::NETWORK)]
    pub(crate) drain: Option<SecondsOrNone>,

    /// How clients prove who they are.
    ///
    /// Without this it follows from what else is set: tokens, JWT keys, or else --client-ca. If none of them is, the hub
    /// makes up a token and prints it after the ready line.
    #[arg(long, env = "A2C_HUB_AUTH", value_enum, value_name = "KIND", help_heading = help::AUTH)]
    pub(crate) auth: Option<AuthKind>,

    /// The token clients have to show. Prefer A2C_TOKEN or --token-file: arguments are visible to other users.
    #[arg(long, env = "A2C_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = help::AUTH)]
    pub(crate) token: Option<Secret>,

    /// A file with the token; white space around it is ignored.
    #[arg(long, env = "A2C_HUB_TOKEN_FILE", value_name = "FILE", help_heading = help::AUTH)]
    pub(crate) token_file: Option<PathBuf>,

    /// A file with the secret of HS256 tokens, at least 32 bytes; also A2C_JWT_SECRET.
    #[arg(long, env = "A2C_HUB_JWT_SECRET_FILE", value_name = "FILE", help_heading = help::AUTH)]
    pub(crate) jwt_secret_file: Option<PathBuf>,

    /// The public key of the issuer in PEM: RSA for RS256, Ed25519 for EdDSA, P-256 for ES256.
    ///
    /// Can be given several times, or separated by commas, while one key follows another.
    #[arg(long, env = "A2C_HUB_JWT_PUBLIC_KEY", value_delimiter = ',', value_name = "FILE", help_heading = help::AUTH)]
    pub(crate) jwt_public_key: Option<Vec<PathBuf>>,

    /// A file with the public keys of the issuer as a JSON Web Key Set; tokens may name the key that signed them (`kid`).
    #[arg(long, env = "A2C_HUB_JWT_JWKS_FILE", value_name = "FILE", help_heading = help::AUTH)]
    pub(crate) jwt_jwks_file: Option<PathBuf>,

    /// The URL at which the issuer publishes such a set: https://, or http:// on this machine.
    ///
    /// The hub fetches it when it starts, again after an hour or when its server says (Cache-Control), and when a token
    /// names a key that is not among those of the hub.
    #[arg(
        long,
        env = "A2C_HUB_JWT_JWKS_URL",
        hide_env_values = true,
        value_name = "URL",
        help_heading = help::AUTH
    )]
    pub(crate) jwt_jwks_url: Option<String>,

    /// Take tokens of this issuer (`iss`) only.
    #[arg(long, env = "A2C_HUB_JWT_ISSUER", value_name = "TEXT", help_heading = help::AUTH)]
    pub(crate) jwt_issuer: Option<String>,

    /// Take tokens for this audience (`aud`) only; without it, tokens that name one are refused.
    #[arg(long, env = "A2C_HUB_JWT_AUDIENCE", value_name = "TEXT", help_heading = help::AUTH)]
    pub(crate) jwt_audience: Option<String>,

    /// How far the clock of the issuer may be off, in seconds [default: 0].
    #[arg(long, env = "A2C_HUB_JWT_LEEWAY", value_name = "SECONDS", help_heading = help::AUTH)]
    pub(crate) jwt_leeway: Option<SecondsOrNone>,

    /// The certificate of the hub and those between it and its root, in PEM. Makes it speak https://.
    #[arg(long, env = "A2C_HUB_TLS_CERT", value_name = "FILE", help_heading = help::TLS)]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, in PEM and not encrypted.
    #[arg(long, env = "A2C_HUB_TLS_KEY", value_name = "FILE", help_heading = help::TLS)]
    pub(crate) tls_key: Option<PathBuf>,

    /// Let in only clients with a certificate of these CAs.
    #[arg(long, env = "A2C_HUB_CLIENT_CA", value_name = "FILE", help_heading = help::TLS)]
    pub(crate) client_ca: Option<PathBuf>,

    /// How often the TLS files are looked at for changes, in seconds; 0 for only on SIGHUP [default: 60].
    #[arg(long, env = "A2C_HUB_TLS_RELOAD", value_name = "SECONDS", help_heading = help::TLS)]
    pub(crate) tls_reload: Option<SecondsOrNone>,

    /// The largest request or answer that is passed on, in bytes [default: 16842752].
    #[arg(long, env = "A2C_HUB_MAX_PAYLOAD", value_name = "BYTES", help_heading = help::LIMITS)]
    pub(crate) max_payload: Option<MessageBytes>,

    /// How many binary attachments one packet may have; Node's client reads no more than ten [default: 10].
    #[arg(long, env = "A2C_HUB_MAX_ATTACHMENTS", value_name = "COUNT", help_heading = help::LIMITS)]
    pub(crate) max_attachments: Option<CountOrNone>,

    /// How many calls of one Agent may wait for their answers [default: 4096].
    #[arg(long, env = "A2C_HUB_MAX_CALLS", value_name = "COUNT", help_heading = help::LIMITS)]
    pub(crate) max_calls: Option<Count>,

    /// How many bytes may wait for a member that reads slowly [default: 33554432].
    #[arg(long, env = "A2C_HUB_MAX_BACKLOG", value_name = "BYTES", help_heading = help::LIMITS)]
    pub(crate) max_backlog: Option<BacklogBytes>,

    /// How many bytes of large messages are held over all connections before the next ones have to wait; one office may
    /// hold a quarter of them [default: 536870912].
    #[arg(long, env = "A2C_HUB_MAX_MEMORY", value_name = "BYTES", help_heading = help::LIMITS)]
    pub(crate) max_memory: Option<BacklogBytes>,

    /// How many connections may come from one address [default: 512].
    #[arg(long, env = "A2C_HUB_CONNECTIONS_PER_ADDRESS", value_name = "COUNT|off", help_heading = help::LIMITS)]
    pub(crate) connections_per_address: Option<Cap>,

    /// How many requests a connection may make per second [default: 500].
    #[arg(long, env = "A2C_HUB_REQUESTS_PER_SECOND", value_name = "COUNT|off", help_heading = help::LIMITS)]
    pub(crate) requests_per_second: Option<Cap>,

    /// How many times a connection may try to join an office per minute [default: 60].
    #[arg(long, env = "A2C_HUB_JOINS_PER_MINUTE", value_name = "COUNT|off", help_heading = help::LIMITS)]
    pub(crate) joins_per_minute: Option<Cap>,

    /// How many wrong credentials may come from one address per minute [default: 20].
    #[arg(long, env = "A2C_HUB_FAILED_CONNECTS_PER_MINUTE", value_name = "COUNT|off", help_heading = help::LIMITS)]
    pub(crate) failed_connects_per_minute: Option<Cap>,

    /// How many announcements one office may cause per second, counted for each receiver; beyond it they wait, and
    /// repeated ones are delivered once [default: 20000].
    #[arg(long, env = "A2C_HUB_DELIVERIES_PER_SECOND", value_name = "COUNT|off", help_heading = help::LIMITS)]
    pub(crate) deliveries_per_second: Option<Cap>,

    /// Append who did what to this file; reopened on SIGUSR1.
    #[arg(long, env = "A2C_HUB_AUDIT", value_name = "FILE", help_heading = help::RECORDS)]
    pub(crate) audit: Option<PathBuf>,

    /// Write the arguments of calls to the audit log too, not only their shape.
    ///
    /// The log then holds every secret that was ever passed to a tool.
    #[arg(
        long,
        env = "A2C_HUB_AUDIT_VALUES",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        help_heading = help::RECORDS
    )]
    pub(crate) audit_values: Option<bool>,

    /// Send traces to this OpenTelemetry collector, OTLP over HTTP; its headers come from A2C_OTLP_HEADERS.
    #[arg(long, env = "A2C_HUB_OTLP_ENDPOINT", hide_env_values = true, value_name = "URL", help_heading = help::RECORDS)]
    pub(crate) otlp_endpoint: Option<String>,

    /// How much of what begins at the hub is traced, from 0 to 1 [default: 1].
    #[arg(long, env = "A2C_HUB_TRACE_RATIO", value_name = "SHARE", help_heading = help::RECORDS)]
    pub(crate) trace_ratio: Option<Ratio>,

    /// A file with the token for /admin and /metrics; also A2C_ADMIN_TOKEN.
    ///
    /// Without one, both are open to the users of this machine, as long as the hub listens on a loopback address.
    #[arg(long, env = "A2C_HUB_ADMIN_TOKEN_FILE", value_name = "FILE", help_heading = help::ADMIN)]
    pub(crate) admin_token_file: Option<PathBuf>,
}
