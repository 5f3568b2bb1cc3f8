//! How a role reaches its hub: the options that Agent and Computer share.

use std::ffi::OsStr;
use std::path::PathBuf;

use a2c_agent::{
    CertificateProblem, ClientCertificate, ConnectError, LinkOptions, Secret, SocketConnectError, TlsFiles, Token,
    Transport,
};
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

/// What the help calls these options. It is said for each of them: a heading for all would go on to what follows them.
pub(crate) const CONNECTION: &str = "Connection";

// All of them can be given before and after a subcommand. That is why the parser requires none of them: it cannot have
// both. (No documentation comment: it would become the help of the command.)
#[derive(Args)]
pub(crate) struct HubArgs {
    /// The hub, such as http://127.0.0.1:7420. Required.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_URL", value_name = "URL", value_parser = hub_url)]
    url: Option<String>,

    /// The office to join. Required.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_OFFICE", value_name = "ID")]
    office: Option<String>,

    /// The hub's token. Prefer the environment variable: arguments are visible to other users of this machine.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,

    /// A file with the hub's token in it. It is read again for every connection, so the token can be renewed while this
    /// runs.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The HTTP path of the hub; other implementations often use /socket.io.
    #[arg(long, global = true, help_heading = CONNECTION, default_value = a2c_protocol::DEFAULT_PATH, value_name = "PATH")]
    path: String,

    /// How to talk to the hub.
    #[arg(long, global = true, help_heading = CONNECTION, value_enum, default_value = "auto")]
    transport: TransportArg,

    /// For https://: trust the CAs in this PEM file too, besides those of the system. Of a hub whose certificate signed
    /// itself, that certificate.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// For https://: show this certificate to a hub that asks who we are. A PEM file, with the certificates between it
    /// and its root.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_CLIENT_CERT", value_name = "FILE")]
    client_cert: Option<PathBuf>,

    /// The private key of --client-cert, a PEM file. Without this it is sought in the file of the certificate.
    #[arg(long, global = true, help_heading = CONNECTION, env = "A2C_CLIENT_KEY", value_name = "FILE")]
    client_key: Option<PathBuf>,

    /// An HTTP header to send with every request, for a proxy in front of the hub for example. Can be given several
    /// times; in the environment variable, one per line. Prefer that one for secrets.
    #[arg(
        long,
        global = true, help_heading = CONNECTION,
        env = "A2C_HEADER",
        hide_env_values = true,
        value_delimiter = '\n',
        value_name = "NAME=VALUE"
    )]
    header: Vec<String>,
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

/// What usually is behind a hub that cannot be reached.
fn unreachable(url: &str, source: &SocketConnectError, has_certificate: bool) -> Option<&'static str> {
    Some(match source {
        SocketConnectError::Http(refusal) if refusal.status.as_u16() == 404 => "is this its --path?",
        SocketConnectError::Http(_) => "is this an A2C hub?",
        SocketConnectError::Untrusted { why, .. } => certificate_hint(why),
        SocketConnectError::ClientCertificate { .. } if has_certificate => {
            "show another with --client-cert FILE and --client-key FILE"
        }
        SocketConnectError::ClientCertificate { .. } => "show one with --client-cert FILE and --client-key FILE",
        SocketConnectError::NotTls(_) => "write http:// instead of https://, or have the hub speak TLS",
        SocketConnectError::NotHttp(_) if url.starts_with("http://") => {
            "if the hub speaks TLS, write https:// instead of http://"
        }
        SocketConnectError::ClosedEarly(_) if url.starts_with("https://") => {
            "if the hub asks for a client certificate, show one with --client-cert FILE and --client-key FILE"
        }
        SocketConnectError::Transport(_)
        | SocketConnectError::NotHttp(_)
        | SocketConnectError::ClosedEarly(_)
        | SocketConnectError::Timeout(_) => "is the hub running? Start one with: a2c server",
        _ => return None,
    })
}

fn certificate_hint(why: &CertificateProblem) -> &'static str {
    match why {
        CertificateProblem::Expired => "have the hub's certificate renewed",
        CertificateProblem::NotYetValid => "check the clocks of both machines",
        CertificateProblem::WrongName => "write a name in --url that is in the hub's certificate",
        _ => "if this is your hub, trust the CA of its certificate with --ca-file FILE",
    }
}

impl HubArgs {
    /// The office to join.
    pub(crate) fn office(&self) -> Result<&str> {
        self.office.as_deref().context("which office? Give --office ID, or set A2C_OFFICE")
    }

    /// Adds what usually is behind a failed connection, and what to do.
    pub(crate) fn explain(&self, error: &ConnectError) -> anyhow::Error {
        match self.hint(error) {
            Some(hint) => anyhow::anyhow!("{error} ({hint})"),
            None => anyhow::anyhow!("{error}"),
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self, error: &ConnectError) -> Option<&'static str> {
        Some(match error {
            ConnectError::Unreachable { source, url } => return unreachable(url, source, self.client_cert.is_some()),
            ConnectError::TokenNeeded => "set A2C_TOKEN, or give --token-file FILE",
            ConnectError::Unauthorized if matches!(self.token(), Ok(Some(Token::File(_)))) => {
                "write it into the file of --token-file"
            }
            ConnectError::Unauthorized => "set A2C_TOKEN to it, or give --token-file FILE",
            ConnectError::NotNow(_) => "wait, then try again",
            _ => return None,
        })
    }

    /// What is typed is stronger than the environment; two in the same place would leave it to chance.
    fn token(&self) -> Result<Option<Token>> {
        let is_typed = |value: &OsStr, variable| std::env::var_os(variable).as_deref() != Some(value);
        let token = self.token.as_deref().filter(|token| !token.is_empty());
        let file = self.token_file.as_deref().filter(|file| !file.as_os_str().is_empty());
        Ok(match (token, file) {
            (Some(token), Some(file)) => {
                match (is_typed(token.as_ref(), "A2C_TOKEN"), is_typed(file.as_ref(), "A2C_TOKEN_FILE")) {
                    (true, false) => Some(token.into()),
                    (false, true) => Some(Token::File(file.to_owned())),
                    _ => {
                        bail!("which token? Give A2C_TOKEN (or --token) or A2C_TOKEN_FILE (or --token-file), not both")
                    }
                }
            }
            (Some(token), None) => Some(token.into()),
            (None, file) => file.map(|file| Token::File(file.to_owned())),
        })
    }

    pub(crate) fn options(&self) -> Result<LinkOptions> {
        let url = self.url.as_deref();
        let mut options = LinkOptions::new(url.context("which hub? Give --url URL, or set A2C_URL")?);
        options.path.clone_from(&self.path);
        options.token = self.token()?;
        options.headers = self.header.iter().map(|text| header(text)).collect::<Result<_>>()?;
        options.tls = TlsFiles { ca: self.ca_file.clone(), client: self.client()? };
        options.transport = match self.transport {
            TransportArg::Auto => Transport::PollingThenWebsocket,
            TransportArg::Websocket => Transport::Websocket,
            TransportArg::Polling => Transport::Polling,
        };
        Ok(options)
    }

    fn client(&self) -> Result<Option<ClientCertificate>> {
        match (&self.client_cert, &self.client_key) {
            (None, None) => Ok(None),
            (Some(certificate), key) => {
                let key = key.as_ref().unwrap_or(certificate).clone();
                Ok(Some(ClientCertificate { certificate: certificate.clone(), key }))
            }
            (None, Some(_)) => bail!("--client-key needs its certificate: give --client-cert FILE too"),
        }
    }
}

/// As written by hand, or as copied from elsewhere: a name has neither sign in it. What is wrong is not repeated, since it
/// may be a secret.
fn header(text: &str) -> Result<(String, Secret)> {
    match text.split_once(['=', ':']) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), Secret::new(value.trim()))),
        _ => bail!("a --header is NAME=VALUE"),
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

    #[test]
    fn headers_are_taken_as_people_write_them() {
        for text in ["x-key=a=b:c", "x-key: a=b:c", " x-key = a=b:c "] {
            let (name, value) = header(text).ok().unwrap();
            assert_eq!((name.as_str(), value.expose()), ("x-key", "a=b:c"));
        }
        for text in ["s3cret", "=s3cret", ""] {
            let error = header(text).err().unwrap().to_string();
            assert!(error.contains("NAME=VALUE") && !error.contains("s3cret"), "{error}");
        }
    }
}
