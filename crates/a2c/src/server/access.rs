//! Who may connect, made from the settings.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use a2c_agent::Secret;
use a2c_hub::auth::{
    ApiKey, ApiKeyAuth, Authenticate, CertificateAuth, Jwt, JwtKey, JwtKeySet, KeyFetchError, OpenAccess, RemoteKeys,
    RemoteKeysConfig, UnusableJwtKey,
};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use super::merge::shown_url;
use super::names;
use super::problem::{Notes, ServerProblem};
use super::secret::{MAX_SECRET, SecretSource, read_at_most};
use super::settings::{AuthSettings, Settings};
use super::value::AuthKind;

/// The shortest token beyond loopback: 64 bits in hexadecimal digits.
const MIN_TOKEN: usize = 16;

/// How random a token is that we make up, in bytes.
const MADE_UP: usize = 24;

/// The keys of the file for public keys.
const PUBLIC_KEY: &str = "auth.jwt_public_key";
const JWKS_FILE: &str = "auth.jwt_jwks_file";
const JWKS_URL: &str = "auth.jwt_jwks_url";

/// The longest set of keys that is read, in bytes.
const MAX_JWKS: u64 = 1 << 20;

/// The names of algorithm and curve begin within the first bytes of a private key.
const NAME_AT: usize = 20;

/// The keys of the issuer, or why there are none.
pub(crate) type FetchedKeys = Result<RemoteKeys, KeyFetchError>;

/// Who is let in.
pub(crate) struct Access {
    pub(crate) auth: Arc<dyn Authenticate>,
    /// The token that we made up because there was no other.
    pub(crate) made_up: Option<Secret>,
}

impl Access {
    fn by(auth: impl Authenticate) -> Self {
        Self { auth: Arc::new(auth), made_up: None }
    }
}

/// Fetches the keys at the URL that the settings name, if such keys may count.
pub(crate) async fn fetch_keys(settings: &Settings) -> Option<FetchedKeys> {
    let url = settings.auth.jwt_jwks_url.as_ref()?;
    match kind(settings) {
        Ok(Some(AuthKind::Jwt)) | Err(_) => Some(RemoteKeys::fetch(RemoteKeysConfig::at(url.expose())).await),
        Ok(_) => None,
    }
}

/// Reads keys and tokens and decides which of them count. Nothing if there are problems, all of which are told.
pub(crate) fn build(settings: &Settings, fetched: Option<FetchedKeys>, notes: &mut Notes) -> Option<Access> {
    let kind = match kind(settings) {
        Ok(Some(kind)) => kind,
        Ok(None) => return notes.keep(made_up()),
        Err(which) => {
            notes.problems.push(which);
            // Whichever it will be, what is wrong with it is known now.
            tokens(settings, notes);
            jwt(settings, fetched, notes);
            return None;
        }
    };
    tell_unused(settings, kind, &mut notes.warnings);
    match kind {
        AuthKind::None if !settings.listen.ip().is_loopback() => notes.keep(Err(ServerProblem::Open(settings.listen))),
        AuthKind::None => {
            if !settings.trusted_proxies.is_empty() {
                let words = "whoever reaches a trusted proxy needs no credential, unless the proxy asks for one: --auth \
                             (auth.kind) is none";
                notes.warnings.push(words.to_owned());
            }
            Some(Access::by(OpenAccess))
        }
        AuthKind::Token => tokens(settings, notes).map(Access::by),
        AuthKind::Jwt => jwt(settings, fetched, notes).map(Access::by),
        AuthKind::Mtls if settings.tls.client_ca.is_none() => {
            let needs = "the CAs of the clients: --client-ca FILE (tls.client_ca)";
            notes.keep(Err(ServerProblem::Needs("--auth mtls".into(), needs)))
        }
        AuthKind::Mtls => Some(Access::by(CertificateAuth)),
    }
}

/// As asked for, or as it follows from what else is set; `None` if nothing is.
pub(crate) fn kind(settings: &Settings) -> Result<Option<AuthKind>, ServerProblem> {
    let auth = &settings.auth;
    if auth.kind.is_some() {
        return Ok(auth.kind);
    }
    match (!auth.tokens.is_empty(), has_jwt_key(auth)) {
        (true, true) => {
            let tokens = auth.tokens.iter().map(|(_, source)| source.setting());
            let secret = auth.jwt_secret.iter().map(|source| source.setting().to_owned());
            let public = (!auth.jwt_public_keys.is_empty()).then_some(PUBLIC_KEY);
            let file = auth.jwt_jwks_file.as_ref().map(|_| JWKS_FILE);
            let url = auth.jwt_jwks_url.as_ref().map(|_| JWKS_URL);
            let public = [public, file, url].into_iter().flatten().map(|name| as_given(name, settings));
            let keys: Vec<String> = secret.chain(public).collect();
            Err(ServerProblem::WhichAuth { tokens: tokens.collect::<Vec<_>>().join(", "), keys: keys.join(", ") })
        }
        (true, false) => Ok(Some(AuthKind::Token)),
        (false, true) => Ok(Some(AuthKind::Jwt)),
        (false, false) if auth.jwt_issuer.is_some() || auth.jwt_audience.is_some() => Ok(Some(AuthKind::Jwt)),
        (false, false) if settings.tls.client_ca.is_some() => Ok(Some(AuthKind::Mtls)),
        (false, false) => Ok(None),
    }
}

fn has_jwt_key(auth: &AuthSettings) -> bool {
    auth.jwt_secret.is_some()
        || !auth.jwt_public_keys.is_empty()
        || auth.jwt_jwks_file.is_some()
        || auth.jwt_jwks_url.is_some()
}

/// A setting by the name that its source has for it.
fn as_given(name: &str, settings: &Settings) -> String {
    names::as_given(name, settings.overview.origin(name))
}

/// A credential that does not count is more often a mistake than not.
fn tell_unused(settings: &Settings, kind: AuthKind, warnings: &mut Vec<String>) {
    let auth = &settings.auth;
    if !auth.tokens.is_empty() && kind != AuthKind::Token {
        warnings.push(format!("a token is set but not used: --auth (auth.kind) is {kind}"));
    }
    let has_jwt = has_jwt_key(auth) || auth.jwt_issuer.is_some() || auth.jwt_audience.is_some();
    if has_jwt && kind != AuthKind::Jwt {
        warnings.push(format!("JWT keys or claims are set but not used: --auth (auth.kind) is {kind}"));
    }
}

fn made_up() -> Result<Access, ServerProblem> {
    let mut bytes = [0; MADE_UP];
    SystemRandom::new().fill(&mut bytes).map_err(|_| ServerProblem::NoRandomness)?;
    // It begins with a letter: behind `--token`, one with a dash in front would pass for a flag.
    bytes[0] &= 0x7f;
    let token = BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let key = ApiKey::new(&token).expect("letters, digits, - and _ make a key");
    Ok(Access { auth: Arc::new(ApiKeyAuth::new(key.labelled("made-up token"))), made_up: Some(Secret::new(token)) })
}

fn tokens(settings: &Settings, notes: &mut Notes) -> Option<ApiKeyAuth> {
    let mut keys: Option<ApiKeyAuth> = None;
    let mut seen: Vec<(&SecretSource, Secret)> = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for (label, source) in &settings.auth.tokens {
        if let Some(label) = label {
            if labels.contains(&label.as_str()) {
                notes.problems.push(ServerProblem::SameLabel(source.setting().to_owned(), label.clone()));
            }
            labels.push(label);
        }
        let Some((secret, mut key)) = token(source, settings.listen, notes) else { continue };
        if let Some((other, _)) = seen.iter().find(|(_, other)| other.expose() == secret.expose()) {
            let (one, other) = (other.setting().to_owned(), source.setting().to_owned());
            notes.problems.push(ServerProblem::SameToken(one, other));
        }
        seen.push((source, secret));
        if let Some(label) = label {
            key = key.labelled(label);
        }
        keys = Some(match keys {
            Some(keys) => keys.or(key),
            None => ApiKeyAuth::new(key),
        });
    }
    if settings.auth.tokens.is_empty() {
        let needs = "a token: set A2C_TOKEN, or --token-file (auth.token_file)";
        notes.problems.push(ServerProblem::Needs("--auth token".into(), needs));
    }
    keys
}

/// One token, which has to be hard to guess where many can try.
pub(crate) fn token(source: &SecretSource, listen: SocketAddr, notes: &mut Notes) -> Option<(Secret, ApiKey)> {
    let read = source.read(&mut notes.warnings);
    let secret = notes.keep(read)?;
    let setting = source.setting().to_owned();
    let length = secret.expose().chars().count();
    if length < MIN_TOKEN {
        let short = ServerProblem::Short { setting: setting.clone(), length, minimum: MIN_TOKEN };
        if listen.ip().is_loopback() {
            notes.warnings.push(short.to_string());
        } else {
            notes.problems.push(short);
        }
    }
    let key = ApiKey::new(secret.expose()).map_err(|source| ServerProblem::Token { setting, source });
    notes.keep(key).map(|key| (secret, key))
}

fn jwt(settings: &Settings, fetched: Option<FetchedKeys>, notes: &mut Notes) -> Option<Jwt> {
    let auth = &settings.auth;
    let mut keys = Vec::new();
    if let Some(source) = &auth.jwt_secret {
        let unusable = |error| ServerProblem::JwtKey { setting: source.setting().to_owned(), source: error };
        let secret = source.read(&mut notes.warnings);
        let key = secret.and_then(|secret| JwtKey::hs256(secret.expose().as_bytes()).map_err(unusable));
        keys.extend(notes.keep(key));
    }
    for path in &auth.jwt_public_keys {
        keys.extend(notes.keep(public_key(path)));
    }
    if let Some(path) = &auth.jwt_jwks_file {
        keys.extend(notes.keep(key_set(path, &as_given(JWKS_FILE, settings))).unwrap_or_default());
    }
    let url = auth.jwt_jwks_url.as_ref().map(|url| shown_url(url.expose())).unwrap_or_default();
    let unfetched = |source| ServerProblem::JwtKeyUrl { setting: as_given(JWKS_URL, settings), url, source };
    let remote = fetched.and_then(|fetched| notes.keep(fetched.map_err(unfetched)));
    if !has_jwt_key(auth) {
        let needs = "a key: --jwt-public-key FILE, --jwt-jwks-url URL, --jwt-jwks-file FILE, --jwt-secret-file FILE, or A2C_JWT_SECRET";
        notes.problems.push(ServerProblem::Needs("--auth jwt".into(), needs));
    }
    let mut keys = keys.into_iter();
    let first = match remote {
        Some(remote) => Jwt::remote(remote),
        None => Jwt::new(keys.next()?),
    };
    let mut jwt = keys.fold(first, Jwt::or).leeway(auth.jwt_leeway);
    if let Some(issuer) = &auth.jwt_issuer {
        jwt = jwt.issuer(issuer);
    }
    if let Some(audience) = &auth.jwt_audience {
        jwt = jwt.audience(audience);
    }
    Some(jwt)
}

/// The key itself says which algorithm it is for.
fn public_key(path: &Path) -> Result<JwtKey, ServerProblem> {
    let setting = PUBLIC_KEY.to_owned();
    let unreadable = |source| ServerProblem::Unreadable { setting: setting.clone(), path: path.to_owned(), source };
    let pem = read_at_most(MAX_SECRET, path).map_err(unreadable)?;
    let unusable = |source| match source {
        UnusableJwtKey::OtherKey { .. } | UnusableJwtKey::NotPem { .. } => ServerProblem::NoJwtKey(path.to_owned()),
        UnusableJwtKey::Private { .. } => {
            ServerProblem::PrivateJwtKey { path: path.to_owned(), kind: kind_of_private_key(&pem) }
        }
        source => ServerProblem::JwtKey { setting: format!("{setting}: {}", path.display()), source },
    };
    let or_else = |found, next: fn(&str) -> Result<JwtKey, UnusableJwtKey>| match found {
        Err(UnusableJwtKey::OtherKey { .. }) => next(&pem),
        found => found,
    };
    or_else(or_else(JwtKey::rs256(&pem), JwtKey::eddsa), JwtKey::es256).map_err(unusable)
}

/// The keys of a set that can be used.
fn key_set(path: &Path, setting: &str) -> Result<Vec<JwtKey>, ServerProblem> {
    let (setting, path) = (setting.to_owned(), path.to_owned());
    let text = match read_at_most(MAX_JWKS, &path) {
        Ok(text) => text,
        Err(source) => return Err(ServerProblem::Unreadable { setting, path, source }),
    };
    let set = JwtKeySet::parse(text.as_bytes()).map_err(|source| ServerProblem::JwtKeySet { setting, path, source })?;
    tracing::info!(keys = %set.overview(), "{JWKS_FILE}");
    set.skipped().iter().for_each(|skipped| tracing::debug!("{JWKS_FILE}: {skipped}"));
    Ok(set.into_keys())
}

/// What a private key is for, by the name of its algorithm in it, where its public key could be used here.
fn kind_of_private_key(pem: &str) -> Option<&'static str> {
    /// `1.3.101.112`, `1.2.840.113549.1.1.1` and `1.2.840.10045.3.1.7`, with the tag and length in front of them.
    const ED25519: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];
    const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
        PrivateKeyDer::Pkcs1(_) => Some("an RSA"),
        PrivateKeyDer::Pkcs8(key) => {
            let has = |name: &[u8]| key.secret_pkcs8_der().windows(name.len()).take(NAME_AT).any(|part| part == name);
            let kinds = [(ED25519, "an Ed25519"), (RSA, "an RSA"), (P256, "a P-256")];
            kinds.into_iter().find(|(name, _)| has(name)).map(|(_, kind)| kind)
        }
        _ => None,
    }
}
