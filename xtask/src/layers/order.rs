//! The order of the crates: each depends only on crates of lower lines.
//!
//! The order is written in `docs/ARCHITECTURE.md`, in a fenced block of the language `layers`: a line per layer, the
//! highest first, names of crates with blanks between. A line `a -> b` lets the tests of `a` use `b` against the order.

use std::collections::BTreeMap;

use crate::metadata::Crate;

/// The order that the documentation states.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The line of each crate; the highest layer is line 0.
    layers: BTreeMap<String, usize>,
    /// What tests may use against the order.
    tests: Vec<(String, String)>,
}

/// Reads the order out of the text of `docs/ARCHITECTURE.md`.
pub(super) fn read(document: &str) -> Result<Order, String> {
    let mut lines = document.lines().skip_while(|line| line.trim() != "```layers");
    lines.next().ok_or("there is no block of the language `layers`")?;
    let mut order = Order::default();
    for (number, line) in lines.take_while(|line| line.trim() != "```").enumerate() {
        if let Some((from, to)) = line.split_once("->") {
            order.tests.push((from.trim().to_owned(), to.trim().to_owned()));
            continue;
        }
        for name in line.split_whitespace() {
            if order.layers.insert(name.to_owned(), number).is_some() {
                return Err(format!("{name} is in two layers"));
            }
        }
    }
    Ok(order)
}

/// What of the crates is not as the order says.
pub(super) fn check(order: &Order, crates: &[Crate]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for name in order.layers.keys().chain(order.tests.iter().flat_map(|(from, to)| [from, to])) {
        if !crates.iter().any(|one| one.name == *name) {
            mistakes.push(format!("the layers name {name}, and there is no such crate"));
        }
    }
    for one in crates {
        let Some(layer) = order.layers.get(&one.name) else {
            mistakes.push(format!("{} is in no layer: give it a place in docs/ARCHITECTURE.md", one.name));
            continue;
        };
        for dependency in &one.dependencies {
            let target = crates.iter().find(|other| other.name == dependency.name);
            if !dependency.dev && one.published && target.is_some_and(|target| !target.published) {
                mistakes.push(format!("{} needs {}, which is not published", one.name, dependency.name));
            }
            let downwards = order.layers.get(&dependency.name).is_none_or(|below| below > layer);
            let excepted =
                dependency.dev && order.tests.iter().any(|(from, to)| *from == one.name && *to == dependency.name);
            if !downwards && !excepted {
                let whose = if dependency.dev { "tests use" } else { "code uses" };
                mistakes.push(format!("{}: its {whose} {}, which is in no lower layer", one.name, dependency.name));
            }
        }
    }
    for (from, to) in &order.tests {
        let used = crates.iter().filter(|one| one.name == *from).flat_map(|one| &one.dependencies);
        if !used.into_iter().any(|dependency| dependency.dev && dependency.name == *to) {
            mistakes.push(format!("the layers let the tests of {from} use {to}, which they do not"));
        }
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const DOCUMENT: &str = "# Map\n\n```layers\napp\nleft right\nbase\ntestbed\nleft -> right\n```\n\nmore";

    fn a_crate(name: &str, uses: &[&str], tests_use: &[&str]) -> Crate {
        let normal = uses.iter().map(|name| Dependency { name: (*name).to_owned(), dev: false });
        let dev = tests_use.iter().map(|name| Dependency { name: (*name).to_owned(), dev: true });
        Crate {
            name: name.to_owned(),
            folder: format!("/{name}").into(),
            published: name != "testbed",
            has_library: true,
            roots: Vec::new(),
            examples: Vec::new(),
            features: Vec::new(),
            features_in_workspace: Vec::new(),
            dependencies: normal.chain(dev).collect(),
        }
    }

    fn mistakes(change: impl FnOnce(&mut Vec<Crate>)) -> Vec<String> {
        let mut crates = vec![
            a_crate("app", &["left", "right", "base"], &["testbed"]),
            a_crate("left", &["base"], &["right"]),
            a_crate("right", &["base"], &["testbed"]),
            a_crate("base", &[], &[]),
            a_crate("testbed", &[], &[]),
        ];
        change(&mut crates);
        check(&read(DOCUMENT).unwrap(), &crates)
    }

    #[test]
    fn crates_that_depend_downwards_are_in_order() {
        assert_eq!(mistakes(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn a_dependency_upwards_or_sideways_is_a_mistake() {
        let upwards = mistakes(|crates| crates[3] = a_crate("base", &["left"], &[]));
        assert_eq!(upwards, ["base: its code uses left, which is in no lower layer"]);
        let sideways = mistakes(|crates| crates[2] = a_crate("right", &["left"], &[]));
        assert_eq!(sideways, ["right: its code uses left, which is in no lower layer"]);
        let tests = mistakes(|crates| crates[3] = a_crate("base", &[], &["app"]));
        assert_eq!(tests, ["base: its tests use app, which is in no lower layer"]);
    }

    #[test]
    fn an_exception_is_for_tests_only_and_must_be_needed() {
        let code = mistakes(|crates| crates[1] = a_crate("left", &["right"], &["right"]));
        assert_eq!(code, ["left: its code uses right, which is in no lower layer"]);
        let unused = mistakes(|crates| crates[1] = a_crate("left", &[], &[]));
        assert_eq!(unused, ["the layers let the tests of left use right, which they do not"]);
    }

    #[test]
    fn every_crate_is_drawn_and_every_drawn_crate_exists() {
        let missing = mistakes(|crates| crates.push(a_crate("new", &[], &[])));
        assert_eq!(missing, ["new is in no layer: give it a place in docs/ARCHITECTURE.md"]);
        let gone = mistakes(|crates| crates.retain(|one| one.name != "base"));
        assert_eq!(gone, ["the layers name base, and there is no such crate"]);
    }

    #[test]
    fn only_tests_use_what_is_not_published() {
        let found = mistakes(|crates| crates[2] = a_crate("right", &["testbed"], &[]));
        assert_eq!(found, ["right needs testbed, which is not published"]);
    }

    #[test]
    fn a_document_without_layers_or_with_a_crate_in_two_is_refused() {
        assert!(read("# Map").is_err());
        assert_eq!(read("```layers\na b\nb\n```").unwrap_err(), "b is in two layers");
    }
}
