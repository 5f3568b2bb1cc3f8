//! Which server answers for which host of `window://` and `dpe://` URIs. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// All hosts with the servers that use them. The case of a host does not matter.
#[derive(Debug, Default)]
pub(crate) struct HostOwners {
    /// By the rank of the server, not by which server listed something first.
    servers: HashMap<String, BTreeMap<u64, Arc<str>>>,
    ranks: HashMap<Arc<str>, u64>,
}

/// Two servers use the same host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub(crate) host: String,
    /// The server that was added first, and answers.
    pub(crate) first: Arc<str>,
    /// The server that was added later.
    pub(crate) second: Arc<str>,
}

impl HostOwners {
    /// Gives a server the next rank. A server that was known before keeps its rank.
    pub(crate) fn register(&mut self, server: &Arc<str>) {
        let next = self.ranks.len() as u64;
        self.ranks.entry(server.clone()).or_insert(next);
    }

    /// A server uses the hosts `new` instead of `old`. Returns new clashes.
    pub(crate) fn change(&mut self, server: &Arc<str>, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<Clash> {
        self.register(server);
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

    /// The servers that use a host; the first one answers for it.
    pub(crate) fn servers_of(&self, host: &str) -> impl Iterator<Item = &Arc<str>> {
        self.servers.get(&key(host)).into_iter().flat_map(BTreeMap::values)
    }
}

/// The form in which hosts are compared.
pub(crate) fn key(host: &str) -> String {
    host.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(hosts: &[&str]) -> BTreeSet<String> {
        hosts.iter().map(|host| key(host)).collect()
    }

    fn first(hosts: &HostOwners, host: &str) -> Option<String> {
        hosts.servers_of(host).next().map(ToString::to_string)
    }

    #[test]
    fn the_server_that_was_added_first_answers_and_clashes_are_reported() {
        let mut hosts = HostOwners::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        hosts.register(&a);
        hosts.register(&b);
        let clash = || [Clash { host: "y".into(), first: a.clone(), second: b.clone() }];
        // The later server may be the first to list something.
        assert_eq!(hosts.change(&b, &set(&[]), &set(&["y", "z"])), []);
        assert_eq!(hosts.change(&a, &set(&[]), &set(&["X", "Y"])), clash());
        assert_eq!(hosts.change(&b, &set(&["y", "z"]), &set(&["y", "z"])), [], "it is reported once");
        assert_eq!(first(&hosts, "Y").as_deref(), Some("a"));
        assert_eq!(first(&hosts, "z").as_deref(), Some("b"));
        assert_eq!(first(&hosts, "?"), None);
        assert_eq!(hosts.change(&a, &set(&["x", "y"]), &set(&[])), []);
        assert_eq!(first(&hosts, "y").as_deref(), Some("b"), "the remaining server answers");
        assert_eq!(hosts.change(&a, &set(&[]), &set(&["y"])), clash());
        assert_eq!(first(&hosts, "y").as_deref(), Some("a"), "a server that comes back has its rank");
    }
}
