//! What a token says, and whether it holds.

use std::time::{Duration, SystemTime};

use a2c_protocol::Role;
use serde::{Deserialize, Deserializer};

use crate::auth::{Pass, Refused};

/// What the hub asks of a token besides its signature.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    pub(super) issuer: Option<String>,
    pub(super) audience: Option<String>,
    pub(super) leeway: Duration,
    pub(super) no_expiry_allowed: bool,
}

/// The claims that mean something to the hub. One that is `null` is an error: it may have been meant as a limit.
#[derive(Deserialize)]
pub(super) struct Claims {
    sub: Option<String>,
    #[serde(default, deserialize_with = "present")]
    iss: Option<String>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<Texts>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<Moment>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<Moment>,
    #[serde(default, deserialize_with = "present")]
    roles: Option<Texts>,
    #[serde(default, deserialize_with = "present")]
    offices: Option<Texts>,
    #[serde(default, deserialize_with = "present")]
    name: Option<Texts>,
}

impl Claims {
    /// What a token with these claims permits at a moment.
    pub(super) fn pass(self, expected: &Expected, now: SystemTime) -> Result<Pass, Refused> {
        self.is_for_us(expected)?;
        let end = self.end(expected, now)?;
        let mut pass = Pass::new(self.sub.as_deref().unwrap_or_default());
        if let Some(roles) = self.roles {
            pass = pass.only_roles(roles.list().iter().filter_map(|role| role_named(role)));
        }
        if let Some(offices) = self.offices {
            pass = pass.only_offices(offices.list());
        }
        if let Some(names) = self.name {
            pass = pass.only_names(names.list());
        }
        Ok(match end {
            Some(end) => pass.until(end),
            None => pass,
        })
    }

    fn is_for_us(&self, expected: &Expected) -> Result<(), Refused> {
        match (&expected.issuer, &self.iss) {
            (Some(_), None) => return Err(Refused::MissingClaim { claim: "iss" }),
            (Some(expected), Some(issuer)) if expected != issuer => return Err(Refused::Issuer),
            _ => {}
        }
        match (&expected.audience, &self.aud) {
            (Some(_), None) => Err(Refused::MissingClaim { claim: "aud" }),
            (None, None) => Ok(()),
            (Some(expected), Some(audience)) if audience.contains(expected) => Ok(()),
            _ => Err(Refused::Audience),
        }
    }

    /// When the token ends, if it ends, and not before it has begun.
    fn end(&self, expected: &Expected, now: SystemTime) -> Result<Option<SystemTime>, Refused> {
        // With a leeway beyond what the clock can show, no moment is too early or too late.
        let later = |moment: SystemTime| moment.checked_add(expected.leeway);
        if let Some(Moment(begin)) = self.nbf
            && later(now).is_some_and(|now| now < begin)
        {
            return Err(Refused::NotYetValid);
        }
        let Some(Moment(end)) = self.exp else {
            return if expected.no_expiry_allowed { Ok(None) } else { Err(Refused::MissingClaim { claim: "exp" }) };
        };
        match later(end) {
            Some(end) if end <= now => Err(Refused::Expired),
            end => Ok(end),
        }
    }
}

/// A role as the wire writes it; one that we do not know permits nothing.
fn role_named(word: &str) -> Option<Role> {
    [Role::Agent, Role::Computer].into_iter().find(|role| role.as_str() == word)
}

/// A claim that is there has a value.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// One text or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
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

/// Seconds since 1970, whole or not.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "f64")]
struct Moment(SystemTime);

impl TryFrom<f64> for Moment {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let since = Duration::try_from_secs_f64(seconds).map_err(|_| "not a date")?;
        SystemTime::UNIX_EPOCH.checked_add(since).map(Self).ok_or("not a date")
    }
}
