//! The claims of a token, and the checks on them.

use std::time::{Duration, SystemTime};

use a2c_protocol::Role;
use serde::{Deserialize, Deserializer};

use crate::auth::{AuthRefusal, Grant};

/// What the hub requires of a token besides its signature.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedClaims {
    pub(super) issuer: Option<String>,
    pub(super) audience: Option<String>,
    pub(super) leeway: Duration,
    pub(super) no_expiry_allowed: bool,
}

/// The claims that the hub reads. A claim that is `null` is an error, since it may have been meant as a limit.
#[derive(Deserialize)]
pub(super) struct Claims {
    sub: Option<String>,
    #[serde(default, deserialize_with = "present")]
    iss: Option<String>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<StringOrList>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    roles: Option<StringOrList>,
    #[serde(default, deserialize_with = "present")]
    offices: Option<StringOrList>,
    #[serde(default, deserialize_with = "present")]
    name: Option<StringOrList>,
}

impl Claims {
    /// Checks the claims at a moment, and makes a grant of them.
    pub(super) fn into_grant(self, expected: &ExpectedClaims, now: SystemTime) -> Result<Grant, AuthRefusal> {
        self.is_for_us(expected)?;
        let end = self.end(expected, now)?;
        let mut grant = Grant::new(self.sub.as_deref().unwrap_or_default());
        if let Some(roles) = self.roles {
            grant = grant.only_roles(roles.list().iter().filter_map(|role| role_named(role)));
        }
        if let Some(offices) = self.offices {
            grant = grant.only_offices(offices.list());
        }
        if let Some(names) = self.name {
            grant = grant.only_names(names.list());
        }
        Ok(match end {
            Some(end) => grant.until(end),
            None => grant,
        })
    }

    fn is_for_us(&self, expected: &ExpectedClaims) -> Result<(), AuthRefusal> {
        match (&expected.issuer, &self.iss) {
            (Some(_), None) => return Err(AuthRefusal::MissingClaim { claim: "iss" }),
            (Some(expected), Some(issuer)) if expected != issuer => return Err(AuthRefusal::Issuer),
            _ => {}
        }
        match (&expected.audience, &self.aud) {
            (Some(_), None) => Err(AuthRefusal::MissingClaim { claim: "aud" }),
            (None, None) => Ok(()),
            (Some(expected), Some(audience)) if audience.contains(expected) => Ok(()),
            _ => Err(AuthRefusal::Audience),
        }
    }

    /// Checks the validity period and returns its end, if it has one.
    fn end(&self, expected: &ExpectedClaims, now: SystemTime) -> Result<Option<SystemTime>, AuthRefusal> {
        // With a leeway beyond the range of the clock, no moment is too early or too late.
        let later = |moment: SystemTime| moment.checked_add(expected.leeway);
        if let Some(NumericDate(begin)) = self.nbf
            && later(now).is_some_and(|now| now < begin)
        {
            return Err(AuthRefusal::NotYetValid);
        }
        let Some(NumericDate(end)) = self.exp else {
            return if expected.no_expiry_allowed { Ok(None) } else { Err(AuthRefusal::MissingClaim { claim: "exp" }) };
        };
        match later(end) {
            Some(end) if end <= now => Err(AuthRefusal::Expired),
            end => Ok(end),
        }
    }
}

/// The role of this name; an unknown name permits nothing.
fn role_named(word: &str) -> Option<Role> {
    [Role::Agent, Role::Computer].into_iter().find(|role| role.as_str() == word)
}

/// Refuses a claim that is present and `null`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A string or a list of strings.
#[derive(Deserialize)]
#[serde(untagged)]
enum StringOrList {
    One(String),
    Many(Vec<String>),
}

impl StringOrList {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }

    fn contains(&self, wanted: &str) -> bool {
        match self {
            Self::One(text) => text == wanted,
            Self::Many(texts) => texts.iter().any(|text| text == wanted),
        }
    }
}

/// Seconds since 1970, with or without a fraction.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "f64")]
struct NumericDate(SystemTime);

impl TryFrom<f64> for NumericDate {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let since = Duration::try_from_secs_f64(seconds).map_err(|_| "not a date")?;
        SystemTime::UNIX_EPOCH.checked_add(since).map(Self).ok_or("not a date")
    }
}
