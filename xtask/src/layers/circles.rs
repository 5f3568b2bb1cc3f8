//! Circles in the references between sibling modules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::modules::Edge;

/// Finds circles: the shortest one through each reference that lies on any. Each circle is given once.
pub(super) fn find(edges: &[Edge]) -> Vec<Vec<Edge>> {
    let mut out: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
    for edge in edges {
        let targets = out.entry(&edge.from).or_default();
        if !targets.iter().any(|other| other.to == edge.to) {
            targets.push(edge);
        }
    }
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for edge in out.values().flatten() {
        let Some(back) = shortest(&out, &edge.to, &edge.from) else { continue };
        let circle: Vec<Edge> = std::iter::once(*edge).chain(back).cloned().collect();
        let members: BTreeSet<(String, String)> =
            circle.iter().map(|edge| (edge.from.clone(), edge.to.clone())).collect();
        if seen.insert(members) {
            circles.push(circle);
        }
    }
    circles.sort_by_key(Vec::len);
    circles
}

/// The references of a shortest way from one module to another.
fn shortest<'a>(out: &BTreeMap<&str, Vec<&'a Edge>>, from: &str, to: &str) -> Option<Vec<&'a Edge>> {
    let mut reached: BTreeMap<&str, &'a Edge> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &edge in out.get(at).into_iter().flatten() {
            if edge.to != from && !reached.contains_key(edge.to.as_str()) {
                reached.insert(&edge.to, edge);
                queue.push_back(&edge.to);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = to;
    while at != from {
        let edge = reached.get(at)?;
        way.push(*edge);
        at = &edge.from;
    }
    way.reverse();
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(&str, &str)], expected: &[&str]) {
        let edges: Vec<Edge> = edges
            .iter()
            .map(|(from, to)| Edge { from: (*from).to_owned(), to: (*to).to_owned(), file: "lib.rs".into(), line: 1 })
            .collect();
        let found: Vec<String> = find(&edges)
            .iter()
            .map(|circle| circle.iter().map(|edge| edge.from.as_str()).collect::<Vec<_>>().join(">"))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn references_in_one_direction_are_no_circle() {
        check(&[("a", "b"), ("b", "c"), ("a", "c")], &[]);
    }

    #[test]
    fn a_circle_is_given_once() {
        check(&[("a", "b"), ("b", "a"), ("a", "b")], &["a>b"]);
        check(&[("a", "b"), ("b", "c"), ("c", "a")], &["a>b>c"]);
    }

    #[test]
    fn every_reference_on_a_circle_is_in_one_that_is_given() {
        check(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("x", "a")], &["a>b", "b>c>a"]);
    }
}
