//! Flag beats environment beats file beats default.
//!
//! [`Settings::merge`] decides and does nothing else: it reads no file and no environment. What it decided, and why, is in
//! the ledger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use a2c_agent::Secret;
use a2c_hub::{Limits, Rate};

use super::args::Given;
use super::file::{self, FileSettings};
use super::names;
use super::origin::{Ledger, NOT_SET, Origin, strongest};
use super::problem::Problem;
use super::secret::{HeaderText, SecretSource, Surroundings};
use super::settings::{AuthSettings, Settings, TlsSettings, TraceSettings};
use super::value::{
    AuthKind, BacklogBytes, Bounded, Cap, Count, CountOrNone, MessageBytes, OneOrMore, Ratio, Seconds, SecondsOrNone,
};
use crate::logging::LogFormat;

/// The one default that is not the hub's own.
const TLS_RELOAD: u64 = 60;

impl Settings {
    /// Flag beats environment beats file beats default.
    pub(crate) fn merge(given: &Given, surroundings: &Surroundings, file: FileSettings) -> Self {
        let wrong = given.wrong.iter().map(|wrong| Problem::Variable(wrong.variable.clone(), wrong.why.clone()));
        Merge { given, surroundings, ledger: Ledger::default(), problems: wrong.collect(), unusable: Vec::new() }
            .all(file)
    }
}

struct Merge<'a> {
    given: &'a Given,
    surroundings: &'a Surroundings,
    ledger: Ledger,
    problems: Vec<Problem>,
    /// What was said in vain, and where.
    unusable: Vec<(String, Origin)>,
}

impl Merge<'_> {
    fn all(mut self, file: FileSettings) -> Settings {
        let flags = &self.given.flags;
        let defaults = a2c_hub::HubConfig::on(([127, 0, 0, 1], 7420).into());
        let listen = self.pick("listen", flags.listen, file.listen, defaults.listen);
        let show = |hosts: &Vec<String>| hosts.join(", ");
        let hosts = self.given_as("allow_hosts", flags.allow_host.clone());
        let allow_hosts = self.ledger.pick_if_set("allow_hosts", hosts, file.allow_hosts, show).unwrap_or_default();
        let second = |time: Duration| seconds::<1, 3600>(time.as_secs());
        let interval = self.pick::<Seconds>(
            "ping_interval",
            flags.ping_interval,
            file.ping_interval,
            second(defaults.ping_interval),
        );
        let timeout =
            self.pick::<Seconds>("ping_timeout", flags.ping_timeout, file.ping_timeout, second(defaults.ping_timeout));
        let call =
            self.pick::<Seconds>("call_timeout", flags.call_timeout, file.call_timeout, second(defaults.call_timeout));
        let drain = self.pick::<SecondsOrNone>("drain", flags.drain, file.drain, seconds(defaults.drain.as_secs()));
        let auth = self.auth(file.auth);
        let tls = self.tls(file.tls);
        let is_local = listen.ip().is_loopback() && auth.kind == Some(AuthKind::None);
        let limits = self.limits(&file.limits, if is_local { Limits::local() } else { Limits::public() });
        let audit = self.path("audit.file", flags.audit.clone(), file.audit.file);
        let values = self.pick("audit.values", flags.audit_values, file.audit.values, false);
        let traces = self.traces(file.traces);
        let admin = self.admin(file.admin);
        let (log, format) = (self.given.log.clone(), self.given.log_format);
        self.pick("log.level", log, file.log.level, "info".to_owned());
        self.pick("log.format", format, file.log.format, LogFormat::Text);
        for wrong in &self.given.wrong {
            self.ledger.mark_unusable(names::row(names::key_of_flag(&wrong.flag)), Origin::Environment);
        }
        for (name, origin) in &self.unusable {
            self.ledger.mark_unusable(names::row(name), *origin);
        }
        Settings {
            listen,
            allow_hosts,
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
            ledger: self.ledger,
            problems: self.problems,
        }
    }

    fn auth(&mut self, file: file::Auth) -> AuthSettings {
        let flags = &self.given.flags;
        let kind = self.given_as("auth.kind", flags.auth);
        let kind = self.ledger.pick_if_set("auth.kind", kind, file.kind, ToString::to_string);

        let literal = self.given_as("auth.token", flags.token.clone());
        let path = self.given_as("auth.token_file", flags.token_file.clone());
        let (tokens, origin) = match self.secret("auth.token", literal, path, (None, None)) {
            // Somebody who starts the hub with another token means that one.
            Some((token, origin)) => (vec![(None, token)], origin),
            None => (self.tokens_of(file.token, file.token_file, file.tokens), Origin::File),
        };
        let all: Vec<String> = tokens.iter().map(|(label, token)| shown_token(label.as_deref(), token)).collect();
        match &*all {
            [] => self.ledger.note("auth.tokens", NOT_SET.to_owned(), Origin::Default),
            _ => self.ledger.note("auth.tokens", all.join(", "), origin),
        }

        let literal = self.surroundings.jwt_secret.clone().map(|secret| (secret, Origin::Environment));
        let path = self.given_as("auth.jwt_secret_file", flags.jwt_secret_file.clone());
        let jwt_secret = self.secret("auth.jwt_secret", literal, path, (None, file.jwt_secret_file));
        self.note_secret("auth.jwt_secret_file", jwt_secret.as_ref());
        let keys = self.given_as("auth.jwt_public_key", flags.jwt_public_key.clone());
        let show = |paths: &Vec<PathBuf>| paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        let of_file = file.jwt_public_key.map(OneOrMore::into_list);
        let jwt_public_keys = self.ledger.pick_if_set("auth.jwt_public_key", keys, of_file, show).unwrap_or_default();
        let issuer = self.given_as("auth.jwt_issuer", flags.jwt_issuer.clone());
        let jwt_issuer = self.ledger.pick_if_set("auth.jwt_issuer", issuer, file.jwt_issuer, Clone::clone);
        let audience = self.given_as("auth.jwt_audience", flags.jwt_audience.clone());
        let jwt_audience = self.ledger.pick_if_set("auth.jwt_audience", audience, file.jwt_audience, Clone::clone);
        let leeway = self.pick::<SecondsOrNone>("auth.jwt_leeway", flags.jwt_leeway, file.jwt_leeway, seconds(0));
        AuthSettings {
            kind,
            tokens,
            jwt_secret: jwt_secret.map(|(secret, _)| secret),
            jwt_public_keys,
            jwt_issuer,
            jwt_audience,
            jwt_leeway: leeway.seconds(),
        }
    }

    fn tokens_of(
        &mut self,
        token: Option<Secret>,
        token_file: Option<PathBuf>,
        more: Vec<file::Token>,
    ) -> Vec<(Option<String>, SecretSource)> {
        let first = self.secret("auth.token", None, None, (token, token_file)).map(|(token, _)| (None, token));
        let mut tokens: Vec<_> = first.into_iter().collect();
        for (index, entry) in more.into_iter().enumerate() {
            let number = index + 1;
            let place = match &entry.label {
                Some(label) => format!("auth.tokens[{number}] '{label}'"),
                None => format!("auth.tokens[{number}]"),
            };
            let is_empty = entry.token.is_none() && entry.token_file.is_none();
            match self.secret(&format!("{place}: token"), None, None, (entry.token, entry.token_file)) {
                Some((token, _)) => tokens.push((entry.label, token)),
                None if is_empty => self.problems.push(Problem::Needs(place, "token or token_file")),
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

    fn limits(&mut self, file: &file::Limits, mut limits: Limits) -> Limits {
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
        limits
    }

    fn traces(&mut self, file: file::Traces) -> TraceSettings {
        let flags = &self.given.flags;
        let endpoint = self.given_as("traces.endpoint", flags.otlp_endpoint.clone());
        let endpoint = self.ledger.pick_if_set("traces.endpoint", endpoint, file.endpoint, |url| shown_url(url));
        let of_file: Vec<_> = file.headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
        let surroundings = self.surroundings;
        let given = match surroundings.otlp_headers.as_ref().map(HeaderText::headers) {
            Some(Some(headers)) => Some((headers, Origin::Environment)),
            Some(None) => {
                self.problems.push(Problem::Header("A2C_OTLP_HEADERS"));
                self.unusable.push(("traces.headers".to_owned(), Origin::Environment));
                None
            }
            None => None,
        };
        let of_file = (!of_file.is_empty()).then_some(of_file);
        let show = |headers: &Vec<(String, Secret)>| {
            headers.iter().map(|(name, _)| format!("{name}=***")).collect::<Vec<_>>().join(", ")
        };
        let headers = self.ledger.pick_if_set("traces.headers", given, of_file, show).unwrap_or_default();
        let ratio = self.pick("traces.ratio", flags.trace_ratio, file.ratio, Ratio::ALL);
        TraceSettings { endpoint: endpoint.map(Secret::new), headers, ratio }
    }

    fn admin(&mut self, file: file::Admin) -> Option<SecretSource> {
        let literal = self.surroundings.admin_token.clone().map(|token| (token, Origin::Environment));
        let path = self.given_as("admin.token_file", self.given.flags.admin_token_file.clone());
        let admin = self.secret("admin.token", literal, path, (file.token, file.token_file));
        self.note_secret("admin.token", admin.as_ref());
        admin.map(|(secret, _)| secret)
    }

    /// A value of a flag or of the environment, with which of both it was.
    fn given_as<T>(&self, name: &str, value: Option<T>) -> Option<(T, Origin)> {
        value.map(|value| (value, self.given.origin(names::flag(name))))
    }

    fn pick<T: std::fmt::Display>(&mut self, name: &'static str, flag: Option<T>, file: Option<T>, default: T) -> T {
        let given = self.given_as(name, flag);
        self.ledger.pick(name, given, file, default)
    }

    fn path(&mut self, name: &'static str, flag: Option<PathBuf>, file: Option<PathBuf>) -> Option<PathBuf> {
        let given = self.given_as(name, flag);
        self.ledger.pick_if_set(name, given, file, |path| shown(path))
    }

    /// A secret that is there itself or in a file of its own. Both at once, in the same place, is a mistake.
    fn secret(
        &mut self,
        name: &str,
        literal: Option<(Secret, Origin)>,
        path: Option<(PathBuf, Origin)>,
        (in_file, path_in_file): (Option<Secret>, Option<PathBuf>),
    ) -> Option<(SecretSource, Origin)> {
        let file_name = format!("{name}_file");
        let here = |secret, origin| (SecretSource::Given { setting: names::as_given(name, origin), secret }, origin);
        let in_a_file =
            |path, origin| (SecretSource::File { setting: names::as_given(&file_name, origin), path }, origin);
        match (strongest(literal, in_file), strongest(path, path_in_file)) {
            (Some((_, one)), Some((_, other))) if one == other => {
                let both = Problem::Both(names::as_given(name, one), names::as_given(&file_name, other));
                self.problems.push(both);
                self.unusable.push((name.to_owned(), one));
                None
            }
            (Some((_, weaker)), Some((path, origin))) if origin > weaker => Some(in_a_file(path, origin)),
            (Some((secret, origin)), _) => Some(here(secret, origin)),
            (None, path) => path.map(|(path, origin)| in_a_file(path, origin)),
        }
    }

    fn note_secret(&mut self, name: &'static str, secret: Option<&(SecretSource, Origin)>) {
        match secret {
            Some((secret, origin)) => self.ledger.note(name, secret.shown(), *origin),
            None => self.ledger.note(name, NOT_SET.to_owned(), Origin::Default),
        }
    }
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
    use a2c_hub::Limits;

    use super::*;
    use crate::server::args::Flags;
    use crate::server::reading::parse;

    /// What the command line says, and which of it is from the environment.
    fn given(flags: Flags, from_environment: &[&str]) -> Given {
        let origins = from_environment.iter().map(|id| ((*id).to_owned(), Origin::Environment)).collect();
        Given { flags, origins, ..Given::default() }
    }

    fn merged(given: &Given, file: &str) -> Settings {
        Settings::merge(given, &Surroundings::default(), parse(file).settings)
    }

    #[track_caller]
    fn entry(settings: &Settings, name: &str) -> (String, Origin) {
        let found = settings.ledger.entries().iter().find(|entry| entry.name == name);
        let entry = found.unwrap_or_else(|| panic!("{name} is not in the ledger"));
        (entry.shown.clone(), entry.origin)
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
        let nobody = Given::default();
        for (name, of_given, of_file, of_default) in [
            ("listen", "127.0.0.1:1", "127.0.0.1:3", "127.0.0.1:7420"),
            ("allow_hosts", "a", "c", NOT_SET),
            ("drain", "1", "3", "10"),
            ("auth.kind", "jwt", "mtls", NOT_SET),
            ("tls.cert", "a.pem", "c.pem", NOT_SET),
            ("limits.max_calls", "1", "3", "4096"),
            ("limits.joins_per_minute", "1", "3", "60"),
            ("audit.values", "false", "true", "false"),
            ("traces.endpoint", "http://a", "http://c", NOT_SET),
            ("traces.ratio", "0.1", "0.3", "1"),
        ] {
            for (given, file, value, origin) in [
                (&by_flag, FILE, of_given, Origin::Flag),
                (&by_environment, FILE, of_given, Origin::Environment),
                (&by_flag, "", of_given, Origin::Flag),
                (&nobody, FILE, of_file, Origin::File),
                (&nobody, "", of_default, Origin::Default),
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
            (Given::default(), FILE, "***, x=*** in /d", Origin::File),
            (Given::default(), "", NOT_SET, Origin::Default),
        ] {
            let settings = merged(&given, file);
            assert_eq!(entry(&settings, "auth.tokens"), (shown.to_owned(), origin));
            assert!(settings.problems.is_empty(), "{:?}", settings.problems);
        }
        for (given, file, words) in [
            (given(flags(token("a"), Some("/b")), &[]), "", "--token and --token-file are both set"),
            (Given::default(), "[auth]\ntoken = \"a\"\ntoken_file = \"b\"", "auth.token and auth.token_file"),
            (Given::default(), "[[auth.tokens]]\nlabel = \"a\"", "auth.tokens[1] 'a' needs token or token_file"),
            (
                Given::default(),
                "[[auth.tokens]]\ntoken = \"a\"\ntoken_file = \"b\"",
                "auth.tokens[1]: token and auth.tokens[1]: token_file",
            ),
        ] {
            let told: Vec<String> = merged(&given, file).problems.iter().map(ToString::to_string).collect();
            assert!(told.len() == 1 && told[0].contains(words), "{told:?}");
        }
    }

    #[test]
    fn limits_are_off_only_where_nobody_else_can_reach_the_hub() {
        let limits = |file: &str| merged(&Given::default(), file).limits;
        assert_eq!(limits(""), Limits::public());
        assert_eq!(limits("[auth]\nkind = \"none\""), Limits::local());
        assert_eq!(limits("listen = \"0.0.0.0:1\"\n[auth]\nkind = \"none\""), Limits::public());
        let set = limits("[auth]\nkind = \"none\"\n[limits]\nrequests_per_second = 7\nmax_attachments = 0");
        assert_eq!((set.requests, set.joins, set.max_attachments), (Some(Rate::per_second(7)), None, 0));
        let off = limits("[limits]\nrequests_per_second = 0\njoins_per_minute = \"off\"\nconnections_per_address = 0");
        assert_eq!((off.requests, off.joins, off.connections_per_address), (None, None, None));
        assert_eq!(off.failed_connects, Limits::public().failed_connects);
    }

    #[test]
    fn what_is_shown_has_no_secret_in_it() {
        let surroundings = Surroundings {
            jwt_secret: Some(Secret::new("s3cret")),
            admin_token: Some(Secret::new("s3cret")),
            otlp_headers: Some(crate::server::secret::HeaderText(Secret::new("api-key=s3cret"))),
        };
        let flags = Flags {
            token: Some(Secret::new("s3cret")),
            otlp_endpoint: Some("http://me:s3cret@collector:4318".into()),
            ..Flags::default()
        };
        let settings = Settings::merge(&given(flags, &[]), &surroundings, FileSettings::default());
        let shown = format!("{:?}", settings.ledger);
        assert!(!shown.contains("s3cret") && !format!("{settings:?}").contains("s3cret"), "{shown}");
        assert_eq!(entry(&settings, "auth.jwt_secret_file"), ("***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "admin.token"), ("***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "traces.headers"), ("api-key=***".to_owned(), Origin::Environment));
        assert_eq!(entry(&settings, "traces.endpoint"), ("***@collector:4318".to_owned(), Origin::Flag));
    }
}
