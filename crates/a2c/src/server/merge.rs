//! Flag beats environment beats file beats default.
//!
//! [`Settings::merge`] only decides: it reads no file and no environment. The overview lists each decision and its origin.

use std::path::{Path, PathBuf};
use std::time::Duration;

use a2c_agent::Secret;
use a2c_hub::{HubLimits, Rate};
use a2c_settings::{Layers, Origin, Overview, Setting};

use super::args::GivenSettings;
use super::file::{self, FileSettings};
use super::names;
use super::problem::ServerProblem;
use super::secret::{HeaderText, SecretSource, SecretVariables};
use super::settings::{AuthSettings, Settings, TlsSettings, TraceSettings};
use super::value::{
    AuthKind, BacklogBytes, Bounded, Cap, Count, CountOrNone, ForwardedBy, MessageBytes, PositiveSeconds, Ratio,
    SecondsOrNone,
};
use crate::logging::LogFormat;

/// The one default that is not the hub's own.
const TLS_RELOAD: u64 = 60;

impl Settings {
    /// Flag beats environment beats file beats default.
    pub(crate) fn merge(given: &GivenSettings, variables: &SecretVariables, file: FileSettings) -> Self {
        let wrong = given.wrong.iter().map(|wrong| ServerProblem::Variable(wrong.variable.clone(), wrong.why.clone()));
        Merge { given, variables, overview: Overview::default(), problems: wrong.collect(), unusable: Vec::new() }
            .all(file)
    }
}

struct Merge<'a> {
    given: &'a GivenSettings,
    variables: &'a SecretVariables,
    overview: Overview,
    problems: Vec<ServerProblem>,
    /// Settings whose value cannot be used, and where that value comes from.
    unusable: Vec<(String, Origin)>,
}

impl Merge<'_> {
    fn all(mut self, file: FileSettings) -> Settings {
        let flags = &self.given.flags;
        let defaults = a2c_hub::HubConfig::on(([127, 0, 0, 1], 7420).into());
        let listen = self.pick("listen", flags.listen, file.listen, defaults.listen);
        let show = |hosts: &Vec<String>| hosts.join(", ");
        let hosts = self.layers("allow_hosts", flags.allow_host.clone(), file.allow_hosts);
        let allow_hosts = self.overview.pick_if_set("allow_hosts", hosts, show).unwrap_or_default();
        let proxies = self.layers("trusted_proxies", flags.trusted_proxy.clone(), file.trusted_proxies);
        let trusted_proxies = self.overview.pick_if_set("trusted_proxies", proxies, show).unwrap_or_default();
        let header = ForwardedBy::XForwardedFor;
        let forwarded_header = self.pick("forwarded_header", flags.forwarded_header, file.forwarded_header, header);
        let proxy_protocol = self.pick("proxy_protocol", flags.proxy_protocol, file.proxy_protocol, false);
        let second = |time: Duration| seconds::<1, 3600>(time.as_secs());
        let interval = self.pick::<PositiveSeconds>(
            "ping_interval",
            flags.ping_interval,
            file.ping_interval,
            second(defaults.ping_interval),
        );
        let timeout = self.pick::<PositiveSeconds>(
            "ping_timeout",
            flags.ping_timeout,
            file.ping_timeout,
            second(defaults.ping_timeout),
        );
        let call = self.pick::<PositiveSeconds>(
            "call_timeout",
            flags.call_timeout,
            file.call_timeout,
            second(defaults.call_timeout),
        );
        let drain = self.pick::<SecondsOrNone>("drain", flags.drain, file.drain, seconds(defaults.drain.as_secs()));
        let auth = self.auth(file.auth);
        let tls = self.tls(file.tls);
        // Clients of a proxy may be anywhere.
        let is_local = listen.ip().is_loopback() && auth.kind == Some(AuthKind::None) && trusted_proxies.is_empty();
        let limits = self.limits(&file.limits, if is_local { HubLimits::local() } else { HubLimits::public() });
        let audit = self.path("audit.file", flags.audit.clone(), file.audit.file);
        let values = self.pick("audit.values", flags.audit_values, file.audit.values, false);
        let traces = self.traces(file.traces);
        let admin = self.admin(file.admin);
        let (log, format) = (self.given.log.clone(), self.given.log_format);
        self.pick("log.level", log, file.log.level, "info".to_owned());
        self.pick("log.format", format, file.log.format, LogFormat::Text);
        for wrong in &self.given.wrong {
            self.overview.mark_unusable(names::row(names::key_of_flag(&wrong.flag)), Origin::Environment);
        }
        for (name, origin) in &self.unusable {
            self.overview.mark_unusable(names::row(name), *origin);
        }
        Settings {
            listen,
            allow_hosts,
            trusted_proxies,
            forwarded_header,
            proxy_protocol,
            ping_interval: interval.seconds(),
            ping_timeout: timeout.seconds(),
            call_timeout: call.seconds(),
            drain: drain.seconds(),
            auth,
            tls,
            limits,
            audit,
            audit_values: values,
            traces,
            admin,
            overview: self.overview,
            problems: self.problems,
        }
    }

    fn auth(&mut self, file: file::Auth) -> AuthSettings {
        let flags = &self.given.flags;
        let kind = self.layers("auth.kind", flags.auth, file.kind);
        let kind = self.overview.pick_if_set("auth.kind", kind, ToString::to_string);

        let literal = self.layers("auth.token", flags.token.clone(), None);
        let path = self.layers("auth.token_file", flags.token_file.clone(), None);
        let (tokens, origin) = match self.secret("auth.token", literal, path) {
            // A token from a flag or the environment replaces all tokens of the file.
            Some(Setting { value, origin }) => (vec![(None, value)], origin),
            None => (self.tokens_of(file.token, file.token_file, file.tokens), Origin::File),
        };
        let all: Vec<String> = tokens.iter().map(|(label, token)| shown_token(label.as_deref(), token)).collect();
        match &*all {
            [] => self.overview.add("auth.tokens", Overview::NOT_SET.to_owned(), Origin::Default),
            _ => self.overview.add("auth.tokens", all.join(", "), origin),
        }

        let literal = Layers { environment: self.variables.jwt_secret.clone(), ..Layers::default() };
        let path = self.layers("auth.jwt_secret_file", flags.jwt_secret_file.clone(), file.jwt_secret_file);
        let jwt_secret = self.secret("auth.jwt_secret", literal, path);
        self.add_secret("auth.jwt_secret_file", jwt_secret.as_ref());
        let keys = self.layers("auth.jwt_public_key", flags.jwt_public_key.clone(), file.jwt_public_key);
        let show = |paths: &Vec<PathBuf>| paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        let jwt_public_keys = self.overview.pick_if_set("auth.jwt_public_key", keys, show).unwrap_or_default();
        let jwt_jwks_file = self.path("auth.jwt_jwks_file", flags.jwt_jwks_file.clone(), file.jwt_jwks_file);
        let url = self.layers("auth.jwt_jwks_url", flags.jwt_jwks_url.clone(), file.jwt_jwks_url);
        let jwt_jwks_url = self.overview.pick_if_set("auth.jwt_jwks_url", url, |url| shown_url(url));
        let issuer = self.layers("auth.jwt_issuer", flags.jwt_issuer.clone(), file.jwt_issuer);
        let jwt_issuer = self.overview.pick_if_set("auth.jwt_issuer", issuer, Clone::clone);
        let audience = self.layers("auth.jwt_audience", flags.jwt_audience.clone(), file.jwt_audience);
        let jwt_audience = self.overview.pick_if_set("auth.jwt_audience", audience, Clone::clone);
        let leeway = self.pick::<SecondsOrNone>("auth.jwt_leeway", flags.jwt_leeway, file.jwt_leeway, seconds(0));
        AuthSettings {
            kind,
            tokens,
            jwt_secret: jwt_secret.map(|secret| secret.value),
            jwt_public_keys,
            jwt_jwks_file,
            jwt_jwks_url: jwt_jwks_url.map(Secret::new),
            jwt_issuer,
            jwt_audience,
            jwt_leeway: leeway.seconds(),
        }
    }

    fn tokens_of(
        &mut self,
        token: Option<Secret>,
        token_file: Option<PathBuf>,
        more: Vec<file::TokenEntry>,
    ) -> Vec<(Option<String>, SecretSource)> {
        let first = self.secret("auth.token", in_file(token), in_file(token_file)).map(|token| (None, token.value));
        let mut tokens: Vec<_> = first.into_iter().collect();
        for (index, entry) in more.into_iter().enumerate() {
            let place = match &entry.label {
                Some(label) => format!("auth.tokens[{index}] '{label}'"),
                None => format!("auth.tokens[{index}]"),
            };
            let is_empty = entry.token.is_none() && entry.token_file.is_none();
            match self.secret(&format!("{place}: token"), in_file(entry.token), in_file(entry.token_file)) {
                Some(token) => tokens.push((entry.label, token.value)),
                None if is_empty => self.problems.push(ServerProblem::Needs(place, "token or token_file")),
                None => {}
            }
        }
        tokens
    }

    fn tls(&mut self, file: file::Tls) -> TlsSettings {
        let flags = &self.given.flags;
        let cert = self.path("tls.cert", flags.tls_cert.clone(), file.cert);
        let key = self.path("tls.key", flags.tls_key.clone(), file.key);
        let client_ca = self.path("tls.client_ca", flags.client_ca.clone(), file.client_ca);
        let every = seconds::<0, 86_400>(TLS_RELOAD);
        let reload = self.pick("tls.reload", flags.tls_reload, file.reload, every).seconds();
        TlsSettings { cert, key, client_ca, reload }
    }

    fn limits(&mut self, file: &file::Limits, mut limits: HubLimits) -> HubLimits {
        let flags = &self.given.flags;
        let payload = bounded(limits.max_payload);
        let payload: MessageBytes = self.pick("limits.max_payload", flags.max_payload, file.max_payload, payload);
        limits.max_payload = payload.count();
        let attachments = bounded(limits.max_attachments);
        let attachments: CountOrNone =
            self.pick("limits.max_attachments", flags.max_attachments, file.max_attachments, attachments);
        limits.max_attachments = attachments.count();
        let calls: Count = self.pick("limits.max_calls", flags.max_calls, file.max_calls, bounded(limits.max_calls));
        limits.max_calls = calls.count();
        let backlog = bounded(limits.max_backlog);
        let backlog: BacklogBytes = self.pick("limits.max_backlog", flags.max_backlog, file.max_backlog, backlog);
        limits.max_backlog = backlog.count();
        let memory = bounded(limits.max_memory);
        let memory: BacklogBytes = self.pick("limits.max_memory", flags.max_memory, file.max_memory, memory);
        limits.max_memory = memory.count();
        let connections = self.pick(
            "limits.connections_per_address",
            flags.connections_per_address,
            file.connections_per_address,
            Cap(limits.connections_per_address.and_then(|count| count.try_into().ok())),
        );
        limits.connections_per_address = connections.0.map(|count| count as usize);
        let cap = |rate: Option<Rate>| Cap(rate.map(|rate| rate.count));
        let requests = self.pick(
            "limits.requests_per_second",
            flags.requests_per_second,
            file.requests_per_second,
            cap(limits.requests),
        );
        limits.requests = requests.0.map(Rate::per_second);
        let joins =
            self.pick("limits.joins_per_minute", flags.joins_per_minute, file.joins_per_minute, cap(limits.joins));
        limits.joins = joins.0.map(Rate::per_minute);
        let failed = self.pick(
            "limits.failed_connects_per_minute",
            flags.failed_connects_per_minute,
            file.failed_connects_per_minute,
            cap(limits.failed_connects),
        );
        limits.failed_connects = failed.0.map(Rate::per_minute);
        let deliveries = self.pick(
            "limits.deliveries_per_second",
            flags.deliveries_per_second,
            file.deliveries_per_second,
            cap(limits.deliveries),
        );
        limits.deliveries = deliveries.0.map(Rate::per_second);
        limits
    }

    fn traces(&mut self, file: file::Traces) -> TraceSettings {
        let flags = &self.given.flags;
        let endpoint = self.layers("traces.endpoint", flags.otlp_endpoint.clone(), file.endpoint);
        let endpoint = self.overview.pick_if_set("traces.endpoint", endpoint, |url| shown_url(url));
        let of_file: Vec<_> = file.headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
        let variables = self.variables;
        let environment = match variables.otlp_headers.as_ref().map(HeaderText::headers) {
            Some(Some(headers)) => Some(headers),
            Some(None) => {
                self.problems.push(ServerProblem::Header("A2C_OTLP_HEADERS"));
                self.unusable.push(("traces.headers".to_owned(), Origin::Environment));
                None
            }
            None => None,
        };
        let of_file = (!of_file.is_empty()).then_some(of_file);
        let show = |headers: &Vec<(String, Secret)>| {
            headers.iter().map(|(name, _)| format!("{name}=***")).collect::<Vec<_>>().join(", ")
        };
        let layers = Layers { flag: None, environment, file: of_file };
        let headers = self.overview.pick_if_set("traces.headers", layers, show).unwrap_or_default();
        let ratio = self.pick("traces.ratio", flags.trace_ratio, file.ratio, Ratio::ALL);
        TraceSettings { endpoint: endpoint.map(Secret::new), headers, ratio }
    }

    fn admin(&mut self, file: file::Admin) -> Option<SecretSource> {
        let literal = Layers { environment: self.variables.admin_token.clone(), file: file.token, flag: None };
        let path = self.layers("admin.token_file", self.given.flags.admin_token_file.clone(), file.token_file);
        let admin = self.secret("admin.token", literal, path);
        self.add_secret("admin.token", admin.as_ref());
        admin.map(|secret| secret.value)
    }

    /// What each source says about a setting. `given` comes from the flag or from its variable.
    fn layers<T>(&self, name: &str, given: Option<T>, file: Option<T>) -> Layers<T> {
        match self.given.origin(names::flag(name)) {
            Origin::Environment => Layers { flag: None, environment: given, file },
            _ => Layers { flag: given, environment: None, file },
        }
    }

    fn pick<T: std::fmt::Display>(&mut self, name: &'static str, flag: Option<T>, file: Option<T>, default: T) -> T {
        let layers = self.layers(name, flag, file);
        self.overview.pick(name, layers, default)
    }

    fn path(&mut self, name: &'static str, flag: Option<PathBuf>, file: Option<PathBuf>) -> Option<PathBuf> {
        let layers = self.layers(name, flag, file);
        self.overview.pick_if_set(name, layers, |path| shown(path))
    }

    /// A secret that is given itself or in a file of its own. Both at once, from the same source, is a mistake.
    fn secret(&mut self, name: &str, literal: Layers<Secret>, path: Layers<PathBuf>) -> Option<Setting<SecretSource>> {
        let file_name = format!("{name}_file");
        let given = |Setting { value: secret, origin }| Setting {
            value: SecretSource::GivenSettings { setting: names::as_given(name, origin), secret },
            origin,
        };
        let in_its_file = |Setting { value: path, origin }| Setting {
            value: SecretSource::File { setting: names::as_given(&file_name, origin), path },
            origin,
        };
        match (literal.strongest(), path.strongest()) {
            (Some(literal), Some(path)) if literal.origin == path.origin => {
                let names = (names::as_given(name, literal.origin), names::as_given(&file_name, path.origin));
                self.problems.push(ServerProblem::Both(names.0, names.1));
                self.unusable.push((name.to_owned(), literal.origin));
                None
            }
            (Some(literal), Some(path)) if path.origin > literal.origin => Some(in_its_file(path)),
            (Some(literal), _) => Some(given(literal)),
            (None, path) => path.map(in_its_file),
        }
    }

    fn add_secret(&mut self, name: &'static str, secret: Option<&Setting<SecretSource>>) {
        match secret {
            Some(secret) => self.overview.add(name, secret.value.shown(), secret.origin),
            None => self.overview.add(name, Overview::NOT_SET.to_owned(), Origin::Default),
        }
    }
}

fn in_file<T>(value: Option<T>) -> Layers<T> {
    Layers { file: value, ..Layers::default() }
}

fn seconds<const MIN: u64, const MAX: u64>(number: u64) -> Bounded<MIN, MAX> {
    number.try_into().expect("a default is within its bounds")
}

fn bounded<const MIN: u64, const MAX: u64>(number: usize) -> Bounded<MIN, MAX> {
    seconds(number as u64)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn shown_token(label: Option<&str>, token: &SecretSource) -> String {
    label.map_or_else(|| token.shown(), |label| format!("{label}={}", token.shown()))
}

/// An address may be mistyped with a credential in it: before its host, or as a parameter.
pub(crate) fn shown_url(url: &str) -> String {
    let url = url.split_once(['?', '#']).map_or(url, |(before, _)| before);
    match url.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use a2c_hub::HubLimits;

    use super::*;
    use crate::server::flags::Flags;
    use crate::server::reading::parse;

    /// What the command line says, and which of it is from the environment.
    fn given(flags: Flags, from_environment: &[&str]) -> GivenSettings {
        let origins = from_environment.iter().map(|id| ((*id).to_owned(), Origin::Environment)).collect();
        GivenSettings { flags, origins, ..GivenSettings::default() }
    }

    fn merged(given: &GivenSettings, file: &str) -> Settings {
        Settings::merge(given, &SecretVariables::default(), parse(file).settings)
    }

    #[track_caller]
    fn entry(settings: &Settings, name: &str) -> (String, Origin) {
        let found = settings.overview.rows().iter().find(|row| row.name == name);
        let row = found.unwrap_or_else(|| panic!("{name} is not in the overview"));
        (row.shown.clone(), row.origin)
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        const FILE: &str = "listen = \"127.0.0.1:3\"\nallow_hosts = [\"c\"]\ndrain = 3\n[auth]\nkind = \"mtls\"\n\
                            [tls]\ncert = \"c.pem\"\n[limits]\nmax_calls = 3\njoins_per_minute = 3\n\
                            [audit]\nvalues = true\n[traces]\nendpoint = \"http://c\"\nratio = 0.3\n";
        let flags = Flags {
            listen: Some("127.0.0.1:1".parse().unwrap()),
            allow_host: Some(vec!["a".into()]),
            drain: Some("1".parse().unwrap()),
            auth: Some(AuthKind::Jwt),
            tls_cert: Some("a.pem".into()),
            max_calls: Some("1".parse().unwrap()),
            joins_per_minute: Some(Cap(Some(1))),
            audit_values: Some(false),
            otlp_endpoint: Some("http://a".into()),
            trace_ratio: Some("0.1".parse().unwrap()),
            ..Flags::default()
        };
        let by_flag = given(flags.clone(), &[]);
        let names = ["listen", "allow_host", "drain", "auth", "tls_cert", "max_calls", "joins_per_minute"];
        let more = ["audit_values", "otlp_endpoint", "trace_ratio"];
        let by_environment = given(flags, &[&names[..], &more[..]].concat());
        let nothing = GivenSettings::default();
        for (name, of_given, of_file, of_default) in [
            ("listen", "127.0.0.1:1", "127.0.0.1:3", "127.0.0.1:7420"),
            ("allow_hosts", "a", "c", Overview::NOT_SET),
            ("drain", "1", "3", "10"),
            ("auth.kind", "jwt", "mtls", Overview::NOT_SET),
            ("tls.cert", "a.pem", "c.pem", Overview::NOT_SET),
            ("limits.max_calls", "1", "3", "4096"),
            ("limits.joins_per_minute", "1", "3", "60"),
            ("audit.values", "false", "true", "false"),
            ("traces.endpoint", "http://a", "http://c", Overview::NOT_SET),
            ("traces.ratio", "0.1", "0.3", "1"),
        ] {
            for (given, file, value, origin) in [
                (&by_flag, FILE, of_given, Origin::Flag),
                (&by_environment, FILE, of_given, Origin::Environment),
                (&by_flag, "", of_given, Origin::Flag),
                (&nothing, FILE, of_file, Origin::File),
                (&nothing, "", of_default, Origin::Default),
            ] {
                assert_eq!(entry(&merged(given, file), name), (value.to_owned(), origin), "{name}");
            }
        }
    }

    #[test]
    fn a_token_comes_from_the_strongest_place_that_has_one() {
        const FILE: &str = "[auth]\ntoken = \"c\"\n[[auth.tokens]]\nlabel = \"x\"\ntoken_file = \"/d\"\n";
        let token = |text: &str| Some(Secret::new(text));
        let flags = |token, file: Option<&str>| Flags { token, token_file: file.map(Into::into), ..Flags::default() };
        for (given, file, shown, origin) in [
            (given(flags(token("a"), None), &[]), FILE, "***", Origin::Flag),
            (given(flags(token("a"), None), &["token"]), FILE, "***", Origin::Environment),
            (given(flags(token("a"), Some("/b")), &["token"]), FILE, "*** in /b", Origin::Flag),
            (given(flags(token("a"), Some("/b")), &["token_file"]), FILE, "***", Origin::Flag),
            (GivenSettings::default(), FILE, "***, x=*** in /d", Origin::File),
            (GivenSettings::default(), "", Overview::NOT_SET, Origin::Default),
        ] {
            let settings = merged(&given, file);
            assert_eq!(entry(&settings, "auth.tokens"), (shown.to_owned(), origin));
            assert!(settings.problems.is_empty(), "{:?}", settings.problems);
        }
        for (given, file, words) in [
            (given(flags(token("a"), Some("/b")), &[]), "", "--token and --token-file are both set"),
            (GivenSettings::default(), "[auth]\ntoken = \"a\"\ntoken_file = \"b\"", "auth.token and auth.token_file"),
            (
                GivenSettings::default(),
                "[[auth.tokens]]\nlabel = \"a\"",
                "auth.tokens[0] 'a' needs token or token_file",
            ),
            (
                GivenSettings::default(),
                "[[auth.tokens]]\ntoken = \"a\"\ntoken_file = \"b\"",
                "auth.tokens[0]: token and auth.tokens[0]: token_file",
            ),
        ] {
            let told: Vec<String> = merged(&given, file).problems.iter().map(ToString::to_string).collect();
            assert!(told.len() == 1 && told[0].contains(words), "{told:?}");
        }
    }

    #[test]
    fn limits_are_off_only_where_no_other_machine_can_reach_the_hub() {
        let limits = |file: &str| merged(&GivenSettings::default(), file).limits;
        assert_eq!(limits(""), HubLimits::public());
        assert_eq!(limits("[auth]\nkind = \"none\""), HubLimits::local());
        assert_eq!(limits("listen = \"0.0.0.0:1\"\n[auth]\nkind = \"none\""), HubLimits::public());
        let set = limits("[auth]\nkind = \"none\"\n[limits]\nrequests_per_second = 7\nmax_attachments = 0");
        assert_eq!((set.requests, set.joins, set.max_attachments), (Some(Rate::per_second(7)), None, 0));
        let off = limits("[limits]\nrequests_per_second = 0\njoins_per_minute = \"off\"\nconnections_per_address = 0");
        assert_eq!((off.requests, off.joins, off.connections_per_address), (None, None, None));
        assert_eq!(off.failed_connects, HubLimits::public().failed_connects);
    }

    #[test]
    fn what_is_shown_has_no_secret_in_it() {
        let variables = SecretVariables {
            jwt_secret: Some(Secret::new("s3cret")),
            admin_token: Some(Secret::new("s3cret")),
            otlp_headers: Some(crate::server::secret::HeaderText(Secret::new("api-key=s3cret"))),
        };
        let flags = Flags {
            token: Some(Secret::new("s3cret")),
            otlp_endpoint: Some("http://me:s3cret@collector:4318".into()),
            ..Flags::default()
        };
        let settings = Settings::merge(&given(flags, &[]), &variables, FileSettings::default());
        let shown = format!("{:?}", settings.overview);
        assert!(!shown.contains("s3cret") && !format!("{settings:?}").contains("s3cret"), "{shown}");
        assert_eq!(entry(&settings, "auth.jwt_secret_file"), ("***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "admin.token"), ("***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "traces.headers"), ("api-key=***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "traces.endpoint"), ("***@collector:4318".to_owned(), Origin::Flag));
    }
}
