//! Which server answers for which host of `window://` and `dpe://`. Pure.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Every host, with the servers that use it, the one that came first in front.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    servers: HashMap<String, Vec<Arc<str>>>,
}

/// Two servers use the same host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub(crate) host: String,
    /// Who had it, and answers for it.
    pub(crate) first: Arc<str>,
    /// Who came later.
    pub(crate) second: Arc<str>,
}

impl Hosts {
    /// A server uses these hosts now instead of those. What clashes that did not before is told.
    pub(crate) fn change(&mut self, server: &Arc<str>, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<Clash> {
        for gone in old.difference(new) {
            if let Some(servers) = self.servers.get_mut(gone) {
                servers.retain(|other| other != server);
                if servers.is_empty() {
                    self.servers.remove(gone);
                }
            }
        }
        let mut clashes = Vec::new();
        for host in new {
            let servers = self.servers.entry(host.clone()).or_default();
            if servers.contains(server) {
                continue;
            }
            if let Some(first) = servers.first() {
                clashes.push(Clash { host: host.clone(), first: first.clone(), second: server.clone() });
            }
            servers.push(server.clone());
        }
        clashes
    }

    /// Who answers for a host: who came first.
    pub(crate) fn server_of(&self, host: &str) -> Option<Arc<str>> {
        self.servers.get(host)?.first().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(hosts: &[&str]) -> BTreeSet<String> {
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn who_comes_first_answers_and_who_comes_later_is_told_of() {
        let mut hosts = Hosts::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        assert_eq!(hosts.change(&a, &set(&[]), &set(&["x", "y"])), []);
        let clash = Clash { host: "y".into(), first: a.clone(), second: b.clone() };
        assert_eq!(hosts.change(&b, &set(&[]), &set(&["y", "z"])), [clash]);
        assert_eq!(hosts.change(&b, &set(&["y", "z"]), &set(&["y", "z"])), [], "it is told once");
        assert_eq!(hosts.server_of("y"), Some(a.clone()));
        assert_eq!(hosts.server_of("z"), Some(b.clone()));
        assert_eq!(hosts.server_of("?"), None);
        assert_eq!(hosts.change(&a, &set(&["x", "y"]), &set(&[])), []);
        assert_eq!(hosts.server_of("y"), Some(b), "who is left answers");
        assert_eq!(hosts.server_of("x"), None);
    }
}
