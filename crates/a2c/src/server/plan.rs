//! From settings to the configuration of a hub: everything is read and tried here that can be without listening.

use std::path::Path;

use a2c_agent::Secret;
use a2c_hub::auth::ApiKeyAuth;
use a2c_hub::trace::{OtlpConfig, TraceStartError, Tracer};
use a2c_hub::{AuditConfig, ForwardedHeader, HubConfig, Network, TlsCheck, TlsConfig, TrustedProxies};
use a2c_settings::Origin;

use super::access::{self, FetchedKeys};
use super::merge::shown_url;
use super::names;
use super::problem::{Notes, ServerProblem};
use super::settings::{Settings, TlsSettings};
use super::value::{ForwardedBy, is_host};

/// A hub that can be started, or why it cannot.
pub(crate) struct Plan {
    /// The configuration; of use when there is no problem.
    pub(crate) config: HubConfig,
    /// The token that was made up because there was no other.
    pub(crate) made_up: Option<Secret>,
    pub(crate) notes: Notes,
    /// What a hub that starts logs by itself.
    pub(crate) logged: Vec<String>,
}

impl Plan {
    /// Reads every file that the settings name. `fetched` are the keys at the URL that they name.
    pub(crate) fn of(settings: &mut Settings, fetched: Option<FetchedKeys>) -> Self {
        let mut notes = Notes { problems: std::mem::take(&mut settings.problems), warnings: Vec::new() };
        let mut logged = Vec::new();
        let mut config = HubConfig::on(settings.listen);
        config.allowed_hosts.clone_from(&settings.allow_hosts);
        config.ping_interval = settings.ping_interval;
        config.ping_timeout = settings.ping_timeout;
        config.call_timeout = settings.call_timeout;
        config.drain = settings.drain;
        config.limits = settings.limits;

        hosts(settings, &mut notes);
        config.proxies = proxies(settings, &mut notes);
        let mut made_up = None;
        if let Some(access) = access::build(settings, fetched, &mut notes) {
            (config.auth, made_up) = (access.auth, access.made_up);
        }
        config.tls = tls(&settings.tls, &mut notes, &mut logged);
        config.admin = admin(settings, &mut notes);
        config.audit = audit(settings, &mut notes);
        config.traces = traces(settings, &mut notes);
        if !settings.listen.ip().is_loopback() && settings.tls.cert.is_none() {
            let words = "everything travels in the clear, tokens too, unless a proxy in front speaks TLS: set --tls-cert \
                         and --tls-key (tls.cert, tls.key)";
            notes.warnings.push(words.to_owned());
        }
        Self { config, made_up, notes, logged }
    }
}

fn hosts(settings: &Settings, notes: &mut Notes) {
    let setting = names::as_given("allow_hosts", settings.overview.origin("allow_hosts"));
    for host in settings.allow_hosts.iter().filter(|host| !is_host(host)) {
        notes.problems.push(ServerProblem::Host { setting: setting.clone(), host: host.clone() });
    }
}

fn proxies(settings: &Settings, notes: &mut Notes) -> Option<TrustedProxies> {
    let setting = names::as_given("trusted_proxies", settings.overview.origin("trusted_proxies"));
    let mut networks = Vec::new();
    for text in &settings.trusted_proxies {
        match text.trim().parse() {
            Ok(network) => {
                if Network::is_everything(&network) {
                    let words =
                        format!("{setting} trusts everyone ({network}): any client can pass for another address");
                    notes.warnings.push(words);
                }
                networks.push(network);
            }
            Err(source) => notes.problems.push(ServerProblem::Proxy { setting: setting.clone(), source }),
        }
    }
    if settings.trusted_proxies.is_empty() {
        if settings.overview.origin("forwarded_header") != Origin::Default {
            let words =
                "--forwarded-header (forwarded_header) does nothing: there is no --trusted-proxy (trusted_proxies)";
            notes.warnings.push(words.to_owned());
        }
        if settings.proxy_protocol {
            let needs = "the proxies that speak it: --trusted-proxy NETWORK (trusted_proxies)";
            notes.problems.push(ServerProblem::Needs("--proxy-protocol (proxy_protocol)".into(), needs));
        }
        return None;
    }
    if settings.proxy_protocol {
        if settings.overview.origin("forwarded_header") != Origin::Default {
            let words = "--forwarded-header (forwarded_header) does nothing: with --proxy-protocol (proxy_protocol), no \
                         header of HTTP is believed";
            notes.warnings.push(words.to_owned());
        }
        return Some(TrustedProxies::with_proxy_protocol(networks));
    }
    let header = match settings.forwarded_header {
        ForwardedBy::XForwardedFor => ForwardedHeader::XForwardedFor,
        ForwardedBy::Forwarded => ForwardedHeader::Forwarded,
    };
    Some(TrustedProxies::new(networks, header))
}

fn tls(settings: &TlsSettings, notes: &mut Notes, logged: &mut Vec<String>) -> Option<TlsConfig> {
    let (cert, key, client_ca) = (settings.cert.clone(), settings.key.clone(), settings.client_ca.clone());
    if let (Some(certificate), Some(key)) = (cert, key) {
        let config = TlsConfig { certificate, key, client_ca, reload: settings.reload };
        let TlsCheck { errors, warnings } = config.check();
        notes.problems.extend(errors.into_iter().map(ServerProblem::from));
        logged.extend(warnings);
        return Some(config);
    }
    let needs = match (&settings.cert, &settings.key) {
        (Some(_), _) => Some(("--tls-cert (tls.cert)", "its private key: --tls-key FILE (tls.key)")),
        (None, Some(_)) => Some(("--tls-key (tls.key)", "its certificate: --tls-cert FILE (tls.cert)")),
        (None, None) => {
            client_ca.map(|_| ("--client-ca (tls.client_ca)", "TLS: --tls-cert and --tls-key (tls.cert, tls.key)"))
        }
    };
    notes.problems.extend(needs.map(|(one, other)| ServerProblem::Needs(one.into(), other)));
    // Half of it is missing; the other half can still be wrong.
    let cert = settings.cert.as_deref().and_then(|path| a2c_pem::chain(path).err());
    let key = settings.key.as_deref().and_then(|path| a2c_pem::private_key(path).err());
    let client_ca = settings.client_ca.as_deref().and_then(|path| a2c_pem::authorities(path).err());
    notes.problems.extend([cert, key, client_ca].into_iter().flatten().map(ServerProblem::from));
    None
}

fn admin(settings: &Settings, notes: &mut Notes) -> Option<ApiKeyAuth> {
    let (_, key) = access::token(settings.admin.as_ref()?, settings.listen, notes)?;
    Some(ApiKeyAuth::new(key.labelled("admin")))
}

fn audit(settings: &Settings, notes: &mut Notes) -> Option<AuditConfig> {
    let Some(path) = &settings.audit else {
        if settings.audit_values {
            let words = "--audit-values (audit.values) does nothing: there is no --audit FILE (audit.file)";
            notes.warnings.push(words.to_owned());
        }
        return None;
    };
    let config = AuditConfig { values: settings.audit_values, ..AuditConfig::at(path) };
    let usable = writable(path).map_err(|source| ServerProblem::Audit { path: path.clone(), source });
    notes.keep(usable.and_then(|()| config.check().map_err(ServerProblem::from)));
    Some(config)
}

/// Whether a file can be appended to, or made. Nothing is made, and a hub that has it open does not mind.
fn writable(path: &Path) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind};
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => std::fs::OpenOptions::new().append(true).open(path).map(drop),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if !std::fs::metadata(folder)?.is_dir() {
                return Err(ErrorKind::NotADirectory.into());
            }
            #[cfg(unix)]
            rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(Error::from)?;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn traces(settings: &Settings, notes: &mut Notes) -> Option<OtlpConfig> {
    let traces = &settings.traces;
    let Some(endpoint) = &traces.endpoint else {
        let unused = |what: &str| format!("{what} does nothing: there is no --otlp-endpoint (traces.endpoint)");
        if !traces.headers.is_empty() {
            notes.warnings.push(unused("A2C_OTLP_HEADERS (traces.headers)"));
        }
        if settings.overview.origin("traces.ratio") != Origin::Default {
            notes.warnings.push(unused("--trace-ratio (traces.ratio)"));
        }
        return None;
    };
    let mut config = OtlpConfig::to(endpoint.expose());
    config.headers = traces.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    config.ratio = traces.ratio.share();
    // Sends nothing, but finds what is wrong with address and headers.
    if let Err(source) = Tracer::start(config.clone()) {
        let setting = match &source {
            TraceStartError::Header { .. } => "traces.headers (A2C_OTLP_HEADERS)".to_owned(),
            _ => format!("traces.endpoint (--otlp-endpoint) {}", shown_url(endpoint.expose())),
        };
        notes.problems.push(ServerProblem::Traces { setting, source });
    }
    Some(config)
}
