//! The TOML file: the same settings as the flags, in tables.
//!
//! A value that cannot be used is reported and left out, so that the settings are those of the file without its
//! mistakes. No message repeats a value: it may be a secret.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use a2c_agent::Secret;
use a2c_settings::{Field, Node, Object, Report};

use super::names;
use super::value::{
    AuthKind, BacklogBytes, Bounded, Cap, Count, CountOrNone, ForwardedBy, MessageBytes, PositiveSeconds, Ratio,
    SecondsOrNone, listen_address,
};
use crate::logging::{self, LogFormat};

/// The settings of the file.
#[derive(Debug, Default, Clone)]
pub(crate) struct FileSettings {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) allow_hosts: Option<Vec<String>>,
    pub(crate) trusted_proxies: Option<Vec<String>>,
    pub(crate) forwarded_header: Option<ForwardedBy>,
    pub(crate) proxy_protocol: Option<bool>,
    pub(crate) ping_interval: Option<PositiveSeconds>,
    pub(crate) ping_timeout: Option<PositiveSeconds>,
    pub(crate) call_timeout: Option<PositiveSeconds>,
    pub(crate) drain: Option<SecondsOrNone>,
    pub(crate) auth: Auth,
    pub(crate) tls: Tls,
    pub(crate) limits: Limits,
    pub(crate) audit: Audit,
    pub(crate) traces: Traces,
    pub(crate) admin: Admin,
    pub(crate) log: Log,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Auth {
    pub(crate) kind: Option<AuthKind>,
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) tokens: Vec<TokenEntry>,
    pub(crate) jwt_secret_file: Option<PathBuf>,
    pub(crate) jwt_public_key: Option<Vec<PathBuf>>,
    pub(crate) jwt_jwks_file: Option<PathBuf>,
    pub(crate) jwt_jwks_url: Option<String>,
    pub(crate) jwt_issuer: Option<String>,
    pub(crate) jwt_audience: Option<String>,
    pub(crate) jwt_leeway: Option<SecondsOrNone>,
}

/// One of several tokens.
#[derive(Debug, Default, Clone)]
pub(crate) struct TokenEntry {
    pub(crate) label: Option<String>,
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Tls {
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) client_ca: Option<PathBuf>,
    pub(crate) reload: Option<SecondsOrNone>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Limits {
    pub(crate) max_payload: Option<MessageBytes>,
    pub(crate) max_attachments: Option<CountOrNone>,
    pub(crate) max_calls: Option<Count>,
    pub(crate) max_backlog: Option<BacklogBytes>,
    pub(crate) max_memory: Option<BacklogBytes>,
    pub(crate) connections_per_address: Option<Cap>,
    pub(crate) requests_per_second: Option<Cap>,
    pub(crate) joins_per_minute: Option<Cap>,
    pub(crate) failed_connects_per_minute: Option<Cap>,
    pub(crate) deliveries_per_second: Option<Cap>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Audit {
    pub(crate) file: Option<PathBuf>,
    pub(crate) values: Option<bool>,
}

#[derive(Default, Clone)]
pub(crate) struct Traces {
    pub(crate) endpoint: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) ratio: Option<Ratio>,
}

/// Without headers and endpoint: keys of collectors are in there.
impl std::fmt::Debug for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traces").field("ratio", &self.ratio).finish_non_exhaustive()
    }
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Admin {
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Log {
    pub(crate) level: Option<String>,
    pub(crate) format: Option<LogFormat>,
}

impl FileSettings {
    /// Reads the top of the file.
    pub(crate) fn read(top: &Object<'_>, report: &mut Report<'_>) -> Self {
        only_known("", top, report);
        let table = |name: &str, report: &mut Report<'_>| {
            let table = top.get(name)?.object(report)?;
            only_known(name, &table, report);
            Some(table)
        };
        Self {
            auth: table("auth", report).map(|table| Auth::read(&table, report)).unwrap_or_default(),
            tls: table("tls", report).map(|table| Tls::read(&table, report)).unwrap_or_default(),
            limits: table("limits", report).map(|table| Limits::read(&table, report)).unwrap_or_default(),
            audit: table("audit", report).map(|table| Audit::read(&table, report)).unwrap_or_default(),
            traces: table("traces", report).map(|table| Traces::read(&table, report)).unwrap_or_default(),
            admin: table("admin", report).map(|table| Admin::read(&table, report)).unwrap_or_default(),
            log: table("log", report).map(|table| Log::read(&table, report)).unwrap_or_default(),
            listen: top.get("listen").and_then(|field| field.parse(listen_address, report)),
            allow_hosts: top.get("allow_hosts").and_then(|field| field.strings(report)),
            trusted_proxies: top.get("trusted_proxies").and_then(|field| field.strings(report)),
            forwarded_header: top.get("forwarded_header").and_then(|field| field.choice(&ForwardedBy::NAMES, report)),
            proxy_protocol: top.get("proxy_protocol").and_then(|field| field.boolean(report)),
            ping_interval: number(top, "ping_interval", report),
            ping_timeout: number(top, "ping_timeout", report),
            call_timeout: number(top, "call_timeout", report),
            drain: number(top, "drain", report),
        }
    }

    /// Whether a secret itself is in the file, and not only where it is.
    pub(crate) fn holds_secrets(&self) -> bool {
        self.auth.token.is_some()
            || self.auth.tokens.iter().any(|token| token.token.is_some())
            || self.admin.token.is_some()
            || !self.traces.headers.is_empty()
    }

    /// Makes relative paths start at a folder.
    pub(crate) fn start_paths_at(&mut self, folder: &Path) {
        let auth = &mut self.auth;
        let paths = [
            &mut auth.token_file,
            &mut auth.jwt_secret_file,
            &mut auth.jwt_jwks_file,
            &mut self.tls.cert,
            &mut self.tls.key,
            &mut self.tls.client_ca,
            &mut self.audit.file,
            &mut self.admin.token_file,
        ];
        let keys = auth.jwt_public_key.iter_mut().flatten();
        let tokens = auth.tokens.iter_mut().filter_map(|token| token.token_file.as_mut());
        for path in paths.into_iter().flatten().chain(keys).chain(tokens) {
            *path = folder.join(&*path);
        }
    }
}

impl Auth {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        Self {
            kind: table.get("kind").and_then(|field| field.choice(&AuthKind::NAMES, report)),
            token: secret(table, report),
            token_file: path(table, "token_file", report),
            tokens: table.get("tokens").map(|field| tokens(&field, report)).unwrap_or_default(),
            jwt_secret_file: path(table, "jwt_secret_file", report),
            jwt_public_key: table.get("jwt_public_key").and_then(|field| paths(&field, report)),
            jwt_jwks_file: path(table, "jwt_jwks_file", report),
            jwt_jwks_url: table.get("jwt_jwks_url").and_then(|field| field.string(report)),
            jwt_issuer: table.get("jwt_issuer").and_then(|field| field.string(report)),
            jwt_audience: table.get("jwt_audience").and_then(|field| field.string(report)),
            jwt_leeway: number(table, "jwt_leeway", report),
        }
    }
}

impl Tls {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        Self {
            cert: path(table, "cert", report),
            key: path(table, "key", report),
            client_ca: path(table, "client_ca", report),
            reload: number(table, "reload", report),
        }
    }
}

impl Limits {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        let cap = |key, report: &mut Report<'_>| table.get(key).and_then(|field| cap(&field, report));
        Self {
            max_payload: number(table, "max_payload", report),
            max_attachments: number(table, "max_attachments", report),
            max_calls: number(table, "max_calls", report),
            max_backlog: number(table, "max_backlog", report),
            max_memory: number(table, "max_memory", report),
            connections_per_address: cap("connections_per_address", report),
            requests_per_second: cap("requests_per_second", report),
            joins_per_minute: cap("joins_per_minute", report),
            failed_connects_per_minute: cap("failed_connects_per_minute", report),
            deliveries_per_second: cap("deliveries_per_second", report),
        }
    }
}

impl Audit {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        Self { file: path(table, "file", report), values: table.get("values").and_then(|field| field.boolean(report)) }
    }
}

impl Traces {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        let headers = table.get("headers").and_then(|field| field.string_map(report)).unwrap_or_default();
        let ratio = table.get("ratio").and_then(|field| field.number(Ratio::RANGE, report));
        Self {
            endpoint: table.get("endpoint").and_then(|field| field.string(report)),
            headers: headers.into_iter().map(|(key, value)| (key.name.to_owned(), value)).collect(),
            ratio: ratio.and_then(|share| Ratio::try_from(share).ok()),
        }
    }
}

impl Admin {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        Self { token: secret(table, report), token_file: path(table, "token_file", report) }
    }
}

impl Log {
    fn read(table: &Object<'_>, report: &mut Report<'_>) -> Self {
        let level = |text: &str| logging::objection(text).map_or_else(|| Ok(text.to_owned()), Err);
        Self {
            level: table.get("level").and_then(|field| field.parse(level, report)),
            format: table.get("format").and_then(|field| field.choice(&LogFormat::NAMES, report)),
        }
    }
}

/// Reports keys that a table does not have. Some of them are flags, or keys of another table.
fn only_known(name: &str, table: &Object<'_>, report: &mut Report<'_>) {
    let known = names::keys_of_table(name);
    for key in table.unknown(&[&known]) {
        report.problem(key.offset, &key.field.path, names::unknown_key(key.name, &known));
    }
}

fn number<const MIN: u64, const MAX: u64>(
    table: &Object<'_>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<Bounded<MIN, MAX>> {
    let number = table.get(key)?.integer(MIN..=MAX, report)?;
    number.try_into().ok()
}

fn cap(field: &Field<'_>, report: &mut Report<'_>) -> Option<Cap> {
    let cap = match &field.value.node {
        Node::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()).map(Cap::from),
        Node::String(text) => text.parse().ok(),
        _ => None,
    };
    if cap.is_none() {
        field.problem("write a whole number, or \"off\"", report);
    }
    cap
}

fn path(table: &Object<'_>, key: &str, report: &mut Report<'_>) -> Option<PathBuf> {
    table.get(key)?.string(report).map(PathBuf::from)
}

/// One path, or a list of them.
fn paths(field: &Field<'_>, report: &mut Report<'_>) -> Option<Vec<PathBuf>> {
    match &field.value.node {
        Node::String(path) => Some(vec![path.into()]),
        Node::List(_) => field.strings(report).map(|paths| paths.into_iter().map(PathBuf::from).collect()),
        _ => {
            field.unexpected("a string, or a list of strings", report);
            None
        }
    }
}

fn secret(table: &Object<'_>, report: &mut Report<'_>) -> Option<Secret> {
    table.get("token")?.string(report).map(Secret::new)
}

fn tokens(field: &Field<'_>, report: &mut Report<'_>) -> Vec<TokenEntry> {
    let mut tokens = Vec::new();
    for element in field.list(report).unwrap_or_default() {
        let Some(table) = element.object(report) else { continue };
        table.only(&[&["label", "token", "token_file"]], report);
        tokens.push(TokenEntry {
            label: table.get("label").and_then(|field| field.string(report)),
            token: secret(&table, report),
            token_file: path(&table, "token_file", report),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::reading::parse;

    #[test]
    fn what_is_in_the_file_is_not_shown() {
        let text = "[auth]\ntoken = \"s3cret\"\n[[auth.tokens]]\nlabel = \"a\"\ntoken = \"s3cret\"\n\
                    [admin]\ntoken = \"s3cret\"\n[traces]\nendpoint = \"http://s3cret@h\"\nheaders = {key = \"s3cret\"}";
        let settings = parse(text).settings;
        assert!(settings.holds_secrets() && !format!("{settings:?}").contains("s3cret"), "{settings:?}");
        assert!(!parse("[auth]\ntoken_file = \"x\"").settings.holds_secrets());
    }

    #[test]
    fn paths_start_where_the_file_is() {
        let text = "[tls]\ncert = \"a.pem\"\nkey = \"/etc/b.pem\"\n[auth]\njwt_public_key = [\"c\", \"d\"]\n\
                    [[auth.tokens]]\ntoken_file = \"e\"\n[audit]\nfile = \"../f\"";
        let mut settings = parse(text).settings;
        settings.start_paths_at(Path::new("/srv/hub"));
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        assert_eq!(shown(&settings.tls.cert), "/srv/hub/a.pem");
        assert_eq!(shown(&settings.tls.key), "/etc/b.pem");
        assert_eq!(shown(&settings.auth.tokens[0].token_file), "/srv/hub/e");
        assert_eq!(shown(&settings.audit.file), "/srv/hub/../f");
        let keys = settings.auth.jwt_public_key.unwrap();
        assert_eq!(keys, [Path::new("/srv/hub/c"), Path::new("/srv/hub/d")]);
    }
}
