//! The TOML file: the same settings as the flags, in tables.
//!
//! Mistakes are told (by `reading`) with the line they are in and what to write instead. The text of the line is not
//! repeated, and neither is a value: both may be secrets.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use a2c_agent::Secret;
use serde::Deserialize;

use super::value::{
    AuthKind, BacklogBytes, Cap, Count, CountOrNone, MessageBytes, OneOrMore, Ratio, Seconds, SecondsOrNone, address,
    log_level, secret,
};
use crate::logging::LogFormat;

/// The file as it is written.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FileSettings {
    #[serde(deserialize_with = "address")]
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) allow_hosts: Option<Vec<String>>,
    pub(crate) ping_interval: Option<Seconds>,
    pub(crate) ping_timeout: Option<Seconds>,
    pub(crate) call_timeout: Option<Seconds>,
    pub(crate) drain: Option<SecondsOrNone>,
    pub(crate) auth: Auth,
    pub(crate) tls: Tls,
    pub(crate) limits: Limits,
    pub(crate) audit: Audit,
    pub(crate) traces: Traces,
    pub(crate) admin: Admin,
    pub(crate) log: Log,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Auth {
    pub(crate) kind: Option<AuthKind>,
    #[serde(deserialize_with = "secret")]
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) jwt_secret_file: Option<PathBuf>,
    pub(crate) jwt_public_key: Option<OneOrMore<PathBuf>>,
    pub(crate) jwt_issuer: Option<String>,
    pub(crate) jwt_audience: Option<String>,
    pub(crate) jwt_leeway: Option<SecondsOrNone>,
}

/// One of several tokens.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Token {
    pub(crate) label: Option<String>,
    #[serde(deserialize_with = "secret")]
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tls {
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) client_ca: Option<PathBuf>,
    pub(crate) reload: Option<SecondsOrNone>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Audit {
    pub(crate) file: Option<PathBuf>,
    pub(crate) values: Option<bool>,
}

#[derive(Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
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

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Admin {
    #[serde(deserialize_with = "secret")]
    pub(crate) token: Option<Secret>,
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Log {
    #[serde(deserialize_with = "log_level")]
    pub(crate) level: Option<String>,
    pub(crate) format: Option<LogFormat>,
}

impl FileSettings {
    /// Whether a secret itself is in the file, and not only where it is.
    pub(crate) fn holds_secrets(&self) -> bool {
        self.auth.token.is_some()
            || self.auth.tokens.iter().any(|token| token.token.is_some())
            || self.admin.token.is_some()
            || !self.traces.headers.is_empty()
    }

    /// Makes paths start at a folder.
    pub(crate) fn start_paths_at(&mut self, folder: &Path) {
        let auth = &mut self.auth;
        let paths = [
            &mut auth.token_file,
            &mut auth.jwt_secret_file,
            &mut self.tls.cert,
            &mut self.tls.key,
            &mut self.tls.client_ca,
            &mut self.audit.file,
            &mut self.admin.token_file,
        ];
        let keys = match &mut auth.jwt_public_key {
            Some(OneOrMore::One(one)) => std::slice::from_mut(one),
            Some(OneOrMore::More(more)) => more,
            None => &mut [],
        };
        let tokens = auth.tokens.iter_mut().filter_map(|token| token.token_file.as_mut());
        for path in paths.into_iter().flatten().chain(keys).chain(tokens) {
            *path = folder.join(&*path);
        }
    }
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
        let keys = settings.auth.jwt_public_key.unwrap().into_list();
        assert_eq!(keys, [Path::new("/srv/hub/c"), Path::new("/srv/hub/d")]);
    }
}
