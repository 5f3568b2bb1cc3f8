//! Who may connect, made from the settings.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use a2c_agent::Secret;
use a2c_hub::auth::{Anybody, ApiKey, Authenticate, ClientCertificate, Jwt, JwtKey, Key, UnusableJwtKey};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::problem::Problem;
use super::secret::{SecretSource, read_short};
use super::settings::{AuthSettings, Settings};
use super::value::AuthKind;

/// The shortest token beyond loopback: 64 bits in hexadecimal digits.
const MIN_TOKEN: usize = 16;

/// How random a token is that we make up, in bytes.
const MADE_UP: usize = 24;

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

/// Reads keys and tokens and decides which of them count.
pub(crate) fn build(settings: &Settings, warnings: &mut Vec<String>) -> Result<Access, Problem> {
    let auth = &settings.auth;
    let Some(kind) = kind(settings)? else { return made_up() };
    tell_unused(settings, kind, warnings);
    match kind {
        AuthKind::None if !settings.listen.ip().is_loopback() => Err(Problem::Open(settings.listen)),
        AuthKind::None => Ok(Access::by(Anybody)),
        AuthKind::Token => tokens(settings, warnings).map(Access::by),
        AuthKind::Jwt => jwt(auth, warnings).map(Access::by),
        AuthKind::Mtls if settings.tls.client_ca.is_none() => {
            Err(Problem::Needs("--auth mtls".into(), "the CAs of the clients: --client-ca FILE (tls.client_ca)"))
        }
        AuthKind::Mtls => Ok(Access::by(ClientCertificate)),
    }
}

/// As asked for, or as it follows from what else is set; `None` if nothing is.
pub(crate) fn kind(settings: &Settings) -> Result<Option<AuthKind>, Problem> {
    let auth = &settings.auth;
    if auth.kind.is_some() {
        return Ok(auth.kind);
    }
    match (!auth.tokens.is_empty(), has_jwt_key(auth)) {
        (true, true) => Err(Problem::WhichAuth),
        (true, false) => Ok(Some(AuthKind::Token)),
        (false, true) => Ok(Some(AuthKind::Jwt)),
        (false, false) if auth.jwt_issuer.is_some() || auth.jwt_audience.is_some() => Ok(Some(AuthKind::Jwt)),
        (false, false) if settings.tls.client_ca.is_some() => Ok(Some(AuthKind::Mtls)),
        (false, false) => Ok(None),
    }
}

fn has_jwt_key(auth: &AuthSettings) -> bool {
    auth.jwt_secret.is_some() || !auth.jwt_public_keys.is_empty()
}

/// A credential that does not count is more often a mistake than not.
fn tell_unused(settings: &Settings, kind: AuthKind, warnings: &mut Vec<String>) {
    let auth = &settings.auth;
    if !auth.tokens.is_empty() && kind != AuthKind::Token {
        warnings.push(format!("a token is set but not used: auth.kind is {kind}"));
    }
    let has_jwt = has_jwt_key(auth) || auth.jwt_issuer.is_some() || auth.jwt_audience.is_some();
    if has_jwt && kind != AuthKind::Jwt {
        warnings.push(format!("JWT keys or claims are set but not used: auth.kind is {kind}"));
    }
}

fn made_up() -> Result<Access, Problem> {
    let mut bytes = [0; MADE_UP];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Problem::NoRandomness)?;
    let token = BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let key = Key::new(&token).expect("letters, digits, - and _ make a key");
    Ok(Access { auth: Arc::new(ApiKey::new(key.labelled("made-up token"))), made_up: Some(Secret::new(token)) })
}

fn tokens(settings: &Settings, warnings: &mut Vec<String>) -> Result<ApiKey, Problem> {
    let mut keys: Option<ApiKey> = None;
    for (label, source) in &settings.auth.tokens {
        let mut key = token(source, settings.listen, warnings)?;
        if let Some(label) = label {
            key = key.labelled(label);
        }
        keys = Some(match keys {
            Some(keys) => keys.or(key),
            None => ApiKey::new(key),
        });
    }
    keys.ok_or(Problem::Needs("--auth token".into(), "a token: set A2C_TOKEN, or --token-file (auth.token_file)"))
}

/// One token, which has to be hard to guess where many can try.
pub(crate) fn token(source: &SecretSource, listen: SocketAddr, warnings: &mut Vec<String>) -> Result<Key, Problem> {
    let secret = source.read(warnings)?;
    let setting = source.setting().to_owned();
    let length = secret.expose().chars().count();
    if length < MIN_TOKEN {
        let short = Problem::Short { setting: setting.clone(), length, minimum: MIN_TOKEN };
        if !listen.ip().is_loopback() {
            return Err(short);
        }
        warnings.push(short.to_string());
    }
    Key::new(secret.expose()).map_err(|source| Problem::Token { setting, source })
}

fn jwt(auth: &AuthSettings, warnings: &mut Vec<String>) -> Result<Jwt, Problem> {
    let mut keys = Vec::new();
    if let Some(source) = &auth.jwt_secret {
        let secret = source.read(warnings)?;
        let unusable = |error| Problem::JwtKey { setting: source.setting().to_owned(), source: error };
        keys.push(JwtKey::hs256(secret.expose().as_bytes()).map_err(unusable)?);
    }
    for path in &auth.jwt_public_keys {
        keys.push(public_key(path)?);
    }
    let mut keys = keys.into_iter();
    let needs = "a key: --jwt-public-key FILE, --jwt-secret-file FILE, or A2C_JWT_SECRET";
    let first = keys.next().ok_or(Problem::Needs("--auth jwt".into(), needs))?;
    let mut jwt = keys.fold(Jwt::new(first), Jwt::or).leeway(auth.jwt_leeway);
    if let Some(issuer) = &auth.jwt_issuer {
        jwt = jwt.issuer(issuer);
    }
    if let Some(audience) = &auth.jwt_audience {
        jwt = jwt.audience(audience);
    }
    Ok(jwt)
}

/// The key itself says which algorithm it is for.
fn public_key(path: &Path) -> Result<JwtKey, Problem> {
    let setting = "auth.jwt_public_key".to_owned();
    let unreadable = |source| Problem::Unreadable { setting: setting.clone(), path: path.to_owned(), source };
    let pem = read_short(path).map_err(unreadable)?;
    let unusable = |source| match source {
        UnusableJwtKey::OtherKey { .. } | UnusableJwtKey::NotPem { .. } => Problem::NoJwtKey(path.to_owned()),
        source => Problem::JwtKey { setting: format!("{setting}: {}", path.display()), source },
    };
    match JwtKey::rs256(&pem) {
        Err(UnusableJwtKey::OtherKey { .. }) => JwtKey::eddsa(&pem).map_err(unusable),
        result => result.map_err(unusable),
    }
}
