//! The parts of `a2c server --help` that are not about one flag.

/// The groups of flags.
pub(crate) const NETWORK: &str = "Network";
pub(crate) const AUTH: &str = "Authentication";
pub(crate) const TLS: &str = "TLS";
pub(crate) const LIMITS: &str = "Limits (0 or off switches a rate off)";
pub(crate) const RECORDS: &str = "Audit and traces";
pub(crate) const ADMIN: &str = "Administration";

/// After the flags in `-h`.
pub(crate) const SHORT: &str = "\
A flag beats the environment, which beats the file, which beats the default.
Examples and more about each flag: a2c server --help";

/// After the flags in `--help`.
pub(crate) const LONG: &str = "\
Where settings come from:
  A flag beats its environment variable, which beats the TOML file (--config), which beats the default. The file has the
  same settings in tables: listen, allow_hosts, ping_interval, … at its top, then [auth], [tls], [limits], [audit],
  [traces], [admin] and [log]. See what came of it, and from where, with --check.

  An empty variable counts as not set; an empty secret is an error.

  On a loopback address with --auth none, rates are off unless they are set.

Secrets:
  Give them in files (--token-file, --jwt-secret-file, --admin-token-file) or in the environment (A2C_TOKEN,
  A2C_JWT_SECRET, A2C_ADMIN_TOKEN, A2C_OTLP_HEADERS): arguments are visible to other users of the machine. Several
  tokens, each with a label, go into the file as [[auth.tokens]].

Signals:
  SIGINT, SIGTERM  stop: refuse new clients and wait for calls in flight (--drain); a second one ends the wait
  SIGHUP           read the TLS files, tokens and keys again; clients that are connected stay
  SIGUSR1          reopen the audit log after it was moved away

Examples:
  Try it on this machine, without authentication:
    a2c server --auth none

  A hub with a token that it makes up and prints:
    a2c server

  A hub on the internet:
    openssl rand -hex 32 > token && chmod 600 token
    a2c server --listen 0.0.0.0:443 --tls-cert hub.pem --tls-key hub.key --token-file token --audit audit.jsonl

  Signed tokens that say which offices they are for:
    a2c server --jwt-public-key issuer.pem --jwt-audience a2c

  Settings from a file, checked first:
    a2c server --config hub.toml --check && a2c server --config hub.toml";
