//! From settings to the configuration of a hub: everything is read and tried here that can be without listening.

use std::path::Path;

use a2c_agent::Secret;
use a2c_hub::auth::ApiKey;
use a2c_hub::trace::{OtlpConfig, Tracer};
use a2c_hub::{AuditConfig, HubConfig, TlsConfig};

use super::access::{self, Access};
use super::problem::Problem;
use super::settings::{Settings, TlsSettings, TraceSettings};

/// A hub that can be started, or why it cannot.
pub(crate) struct Plan {
    /// The configuration; of use when there is no problem.
    pub(crate) config: HubConfig,
    /// The token that was made up because there was no other.
    pub(crate) made_up: Option<Secret>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<String>,
}

impl Plan {
    /// Reads every file that the settings name.
    pub(crate) fn of(settings: &mut Settings) -> Self {
        let mut problems = std::mem::take(&mut settings.problems);
        let mut warnings = Vec::new();
        let mut config = HubConfig::on(settings.listen);
        config.allowed_hosts.clone_from(&settings.allow_hosts);
        config.ping_interval = settings.ping_interval;
        config.ping_timeout = settings.ping_timeout;
        config.call_timeout = settings.call_timeout;
        config.drain = settings.drain;
        config.limits = settings.limits;

        let mut keep = |problem| problems.push(problem);
        let access = access::build(settings, &mut warnings).map_err(&mut keep).ok();
        config.tls = tls(&settings.tls).map_err(&mut keep).unwrap_or_default();
        config.admin = admin(settings, &mut warnings).map_err(&mut keep).unwrap_or_default();
        config.audit = audit(settings).map_err(&mut keep).unwrap_or_default();
        config.traces = traces(&settings.traces, &mut warnings).map_err(&mut keep).unwrap_or_default();
        let mut made_up = None;
        if let Some(Access { auth, made_up: token }) = access {
            (config.auth, made_up) = (auth, token);
        }
        if !settings.listen.ip().is_loopback() && settings.tls.cert.is_none() {
            let words = "everything travels in the clear, tokens too, unless a proxy in front speaks TLS: set tls.cert";
            warnings.push(words.to_owned());
        }
        Self { config, made_up, problems, warnings }
    }
}

fn tls(settings: &TlsSettings) -> Result<Option<TlsConfig>, Problem> {
    let (certificate, key) = match (&settings.cert, &settings.key) {
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(Problem::Needs("tls.cert".into(), "its private key: --tls-key FILE (tls.key)")),
        (None, Some(_)) => return Err(Problem::Needs("tls.key".into(), "its certificate: --tls-cert FILE (tls.cert)")),
        (None, None) if settings.client_ca.is_some() => {
            return Err(Problem::Needs("tls.client_ca".into(), "TLS: --tls-cert and --tls-key (tls.cert, tls.key)"));
        }
        (None, None) => return Ok(None),
    };
    a2c_pem::identity(certificate, key, &rustls::crypto::ring::default_provider())?;
    if let Some(client_ca) = &settings.client_ca {
        a2c_pem::authorities(client_ca)?;
    }
    let (certificate, key) = (certificate.clone(), key.clone());
    Ok(Some(TlsConfig { certificate, key, client_ca: settings.client_ca.clone(), reload: settings.reload }))
}

fn admin(settings: &Settings, warnings: &mut Vec<String>) -> Result<Option<ApiKey>, Problem> {
    let Some(source) = &settings.admin else { return Ok(None) };
    let key = access::token(source, settings.listen, warnings)?;
    Ok(Some(ApiKey::new(key.labelled("admin"))))
}

fn audit(settings: &Settings) -> Result<Option<AuditConfig>, Problem> {
    match &settings.audit {
        Some(path) => {
            writable(path).map_err(|source| Problem::Audit { path: path.clone(), source })?;
            Ok(Some(AuditConfig { values: settings.audit_values, ..AuditConfig::at(path) }))
        }
        None if settings.audit_values => {
            Err(Problem::Needs("audit.values".into(), "a file: --audit FILE (audit.file)"))
        }
        None => Ok(None),
    }
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

fn traces(settings: &TraceSettings, warnings: &mut Vec<String>) -> Result<Option<OtlpConfig>, Problem> {
    let Some(endpoint) = &settings.endpoint else {
        if !settings.headers.is_empty() {
            warnings.push("traces.headers are not used: there is no --otlp-endpoint (traces.endpoint)".to_owned());
        }
        return Ok(None);
    };
    let mut config = OtlpConfig::to(endpoint.expose());
    config.headers = settings.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    config.ratio = settings.ratio.share();
    // Sends nothing, but finds what is wrong with address and headers.
    let tracer = Tracer::start(config.clone())?;
    drop(tracer);
    Ok(Some(config))
}
