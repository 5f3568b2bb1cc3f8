//! The permissions of an admitted client.

use std::time::SystemTime;

use a2c_protocol::Role;

use super::Glob;

/// The longest subject that is kept, in bytes.
const MAX_SUBJECT: usize = 128;

/// The permissions of an admitted client, and its subject for the audit log.
///
/// ```
/// use a2c_hub::auth::Grant;
/// use a2c_protocol::Role;
///
/// let grant = Grant::new("build machines").only_roles([Role::Computer]).only_offices(["ci-*"]);
/// assert!(grant.permits_role(Role::Computer) && !grant.permits_role(Role::Agent));
/// assert!(grant.permits_office("ci-7") && !grant.permits_office("board room"));
/// assert!(grant.permits_name("any name"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    subject: Box<str>,
    /// `None` permits all; so do the next two.
    roles: Option<Vec<Role>>,
    offices: Option<Vec<Glob>>,
    names: Option<Vec<Glob>>,
    expires_at: Option<SystemTime>,
}

impl Grant {
    /// A grant for everything, for as long as the connection lasts.
    ///
    /// `subject` names the client in logs and in the audit log, so it must never be a credential. The grant removes
    /// control and other invisible characters from it and truncates it.
    pub fn new(subject: &str) -> Self {
        Self { subject: presentable(subject), roles: None, offices: None, names: None, expires_at: None }
    }

    /// The grant of a client that needed no credential.
    pub fn open() -> Self {
        Self::new("anybody")
    }

    /// Limits the grant to these roles; an empty list permits none.
    #[must_use]
    pub fn only_roles(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.roles = Some(roles.into_iter().collect());
        self
    }

    /// Limits the grant to offices whose id matches one of these patterns.
    #[must_use]
    pub fn only_offices(mut self, patterns: impl IntoIterator<Item: Into<Glob>>) -> Self {
        self.offices = Some(patterns.into_iter().map(Into::into).collect());
        self
    }

    /// Limits the grant to names, of Agents and Computers alike, that match one of these patterns.
    #[must_use]
    pub fn only_names(mut self, patterns: impl IntoIterator<Item: Into<Glob>>) -> Self {
        self.names = Some(patterns.into_iter().map(Into::into).collect());
        self
    }

    /// Ends the grant, and with it the connection, at a moment; of several, the first counts.
    #[must_use]
    pub fn until(mut self, moment: SystemTime) -> Self {
        self.expires_at = Some(self.expires_at.map_or(moment, |present| present.min(moment)));
        self
    }

    /// The name of the client for logs and the audit log.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Whether the client may take this role.
    pub fn permits_role(&self, role: Role) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.contains(&role))
    }

    /// Whether the client may join this office.
    pub fn permits_office(&self, office_id: &str) -> bool {
        fits_one(self.offices.as_deref(), office_id)
    }

    /// Whether the client may join under this name.
    pub fn permits_name(&self, name: &str) -> bool {
        fits_one(self.names.as_deref(), name)
    }

    /// When the grant ends, if it ends.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }
}

fn fits_one(patterns: Option<&[Glob]>, text: &str) -> bool {
    patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(text)))
}

/// A subject without what could disturb a line of a log.
fn presentable(subject: &str) -> Box<str> {
    let mut kept = String::new();
    for character in subject.chars().filter(|&c| !is_invisible(c)) {
        if kept.len() + character.len_utf8() > MAX_SUBJECT {
            kept.push('…');
            break;
        }
        kept.push(character);
    }
    if kept.trim().is_empty() { "unnamed".into() } else { kept.into() }
}

/// Characters that a reader does not see; they could end a line or turn the direction of its text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_grant_permits_all_until_it_is_limited() {
        let grant = Grant::new("a client");
        assert!(grant.permits_role(Role::Agent) && grant.permits_role(Role::Computer));
        assert!(grant.permits_office("any") && grant.permits_name("any") && grant.expires_at().is_none());

        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        let grant = grant.only_roles([Role::Agent]).only_offices(["a*", "b"]).only_names(["bot-?"]).until(end);
        assert!(grant.permits_role(Role::Agent) && !grant.permits_role(Role::Computer));
        assert!(grant.permits_office("abc") && grant.permits_office("b") && !grant.permits_office("bc"));
        assert!(grant.permits_name("bot-1") && !grant.permits_name("bot-12"));
        assert_eq!(grant.expires_at(), Some(end));
    }

    #[test]
    fn a_limit_to_nothing_permits_nothing() {
        let nothing: [&str; 0] = [];
        let grant = Grant::new("x").only_roles([]).only_offices(nothing).only_names(nothing);
        assert!(!grant.permits_role(Role::Agent) && !grant.permits_role(Role::Computer));
        assert!(!grant.permits_office("") && !grant.permits_office("a") && !grant.permits_name("a"));
    }

    #[test]
    fn a_subject_fits_into_a_line_of_a_log() {
        for (given, kept) in [
            ("alice@example.com", "alice@example.com"),
            ("CN=printer, O=Ünïcode 日本", "CN=printer, O=Ünïcode 日本"),
            ("a\r\nWARN forged\u{1b}[31m\0", "aWARN forged[31m"),
            ("exe.\u{202e}gpj\u{2066}\u{200b}\u{85}", "exe.gpj"),
            ("", "unnamed"),
            (" \n\t ", "unnamed"),
        ] {
            assert_eq!(Grant::new(given).subject(), kept, "{given:?}");
        }
        for long in ["x".repeat(129), "日".repeat(1000)] {
            let subject = Grant::new(&long).subject().to_owned();
            assert!(subject.len() <= MAX_SUBJECT + '…'.len_utf8() && subject.ends_with('…'), "{subject}");
        }
        assert_eq!(Grant::new(&"x".repeat(128)).subject(), "x".repeat(128));
    }
}
