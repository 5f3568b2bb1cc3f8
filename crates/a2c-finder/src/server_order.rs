//! In which order the servers of a Computer come, in the Desktop and in the Finder.

use std::collections::BTreeSet;

/// The servers in the order in which they are shown: those of `recent` first, each where it first stands, then the
/// others by name.
///
/// `recent` has the newest call first, so that "first sight wins" here is the rule of the protocol, which walks the
/// history of tool calls backwards. Names in `recent` that are no servers are passed over.
pub(crate) fn servers_by_use<'a>(
    servers: impl IntoIterator<Item = &'a str>,
    recent: &[impl AsRef<str>],
) -> Vec<&'a str> {
    let mut unseen: BTreeSet<&str> = servers.into_iter().collect();
    let mut order: Vec<&str> = recent.iter().filter_map(|name| unseen.take(name.as_ref())).collect();
    order.extend(unseen);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_servers_come_first_and_the_others_by_name() {
        let check = |servers: &[&'static str], recent: &[&str], expected: &[&str]| {
            assert_eq!(servers_by_use(servers.iter().copied(), recent), expected, "{servers:?} after {recent:?}");
        };
        check(&[], &["a"], &[]);
        check(&["b", "a", "B", "ä"], &[], &["B", "a", "b", "ä"]);
        check(&["a", "b", "c"], &["c"], &["c", "a", "b"]);
        check(&["a", "b", "c"], &["b", "c", "b", "a", "c"], &["b", "c", "a"]);
        check(&["a", "a", "b"], &["gone", "b", "gone"], &["b", "a"]);
    }

    #[test]
    fn newest_first_equals_walking_the_history_backwards() {
        let history = ["a", "b", "a", "c", "b"];
        let newest_first: Vec<&str> = history.iter().rev().copied().collect();
        assert_eq!(servers_by_use(["a", "b", "c", "d"], &newest_first), ["b", "c", "a", "d"]);
    }
}
