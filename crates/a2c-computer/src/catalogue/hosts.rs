//! Which server answers for which host of `window://` and `dpe://`. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Every host, with the servers that use it. Hosts are compared without regard to case.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// In the order in which the servers were taken on, whichever of them has listed something first.
    servers: HashMap<String, BTreeMap<u64, Arc<str>>>,
    ranks: HashMap<Arc<str>, u64>,
}

/// Two servers use the same host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub(crate) host: String,
    /// Who was taken on first, and answers.
    pub(crate) first: Arc<str>,
    /// Who came later.
    pub(crate) second: Arc<str>,
}

impl Hosts {
    /// A server was taken on: it comes behind all others. One that was there before keeps its place.
    pub(crate) fn enrol(&mut self, server: &Arc<str>) {
        let next = self.ranks.len() as u64;
        self.ranks.entry(server.clone()).or_insert(next);
    }

    /// A server uses these hosts now instead of those. What clashes that did not before is told.
    pub(crate) fn change(&mut self, server: &Arc<str>, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<Clash> {
        self.enrol(server);
        let rank = self.ranks[server];
        for gone in old.difference(new) {
            if let Some(servers) = self.servers.get_mut(gone) {
                servers.remove(&rank);
                if servers.is_empty() {
                    self.servers.remove(gone);
                }
            }
        }
        let mut clashes = Vec::new();
        for host in new.difference(old) {
            let servers = self.servers.entry(host.clone()).or_default();
            for (other_rank, other) in servers.iter() {
                let (first, second) = if *other_rank < rank { (other, server) } else { (server, other) };
                clashes.push(Clash { host: host.clone(), first: first.clone(), second: second.clone() });
            }
            servers.insert(rank, server.clone());
        }
        clashes
    }

    /// Who uses a host, the one that answers for it first.
    pub(crate) fn servers_of(&self, host: &str) -> impl Iterator<Item = &Arc<str>> {
        self.servers.get(&key(host)).into_iter().flat_map(BTreeMap::values)
    }
}

/// A host as it is compared.
pub(crate) fn key(host: &str) -> String {
    host.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(hosts: &[&str]) -> BTreeSet<String> {
        hosts.iter().map(|host| key(host)).collect()
    }

    fn first(hosts: &Hosts, host: &str) -> Option<String> {
        hosts.servers_of(host).next().map(ToString::to_string)
    }

    #[test]
    fn who_was_taken_on_first_answers_and_who_came_later_is_told_of() {
        let mut hosts = Hosts::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        hosts.enrol(&a);
        hosts.enrol(&b);
        let clash = || [Clash { host: "y".into(), first: a.clone(), second: b.clone() }];
        // The later one may be the first to list something.
        assert_eq!(hosts.change(&b, &set(&[]), &set(&["y", "z"])), []);
        assert_eq!(hosts.change(&a, &set(&[]), &set(&["X", "Y"])), clash());
        assert_eq!(hosts.change(&b, &set(&["y", "z"]), &set(&["y", "z"])), [], "it is told once");
        assert_eq!(first(&hosts, "Y").as_deref(), Some("a"));
        assert_eq!(first(&hosts, "z").as_deref(), Some("b"));
        assert_eq!(first(&hosts, "?"), None);
        assert_eq!(hosts.change(&a, &set(&["x", "y"]), &set(&[])), []);
        assert_eq!(first(&hosts, "y").as_deref(), Some("b"), "who is left answers");
        assert_eq!(hosts.change(&a, &set(&[]), &set(&["y"])), clash());
        assert_eq!(first(&hosts, "y").as_deref(), Some("a"), "who comes back has its place");
    }
}
