//! Every combination of features compiles.

use std::fs;
use std::path::Path;

use crate::metadata::{self, Crate};
use crate::{CLIPPY_COMPILES, Failed, cargo, checked, run, step};

/// What has tests of its own in a set that the workspace as a whole is not built with: crate and features.
const TESTED: &[(&str, &str)] = &[("a2c-vrl", "vrl")];

/// Checks each crate with every set of those of its features that its code asks for. What another feature passes on to
/// a dependency is tried there; what [`test()`] builds, and what the workspace as a whole is built with, is checked then.
pub(crate) fn check() -> Result<(), Failed> {
    for one in metadata::workspace()? {
        let sources = sources(&one.folder.join("src"));
        let asked_for = asked_for(&one, &sources);
        let in_workspace: Vec<&str> =
            asked_for.iter().copied().filter(|name| one.features_in_workspace.iter().any(|on| on == name)).collect();
        for set in sets(&asked_for) {
            let features = set.join(",");
            if set == in_workspace || TESTED.contains(&(one.name.as_str(), &features)) {
                continue;
            }
            let what = if one.has_library { "--lib" } else { "--bins" };
            let args = ["clippy", "--package", &one.name, what, "--no-default-features", "--features", &features];
            run("cargo", args.into_iter().chain(["--", "-D", "warnings"]))?;
        }
    }
    Ok(())
}

/// Runs the tests and examples that need other features than the workspace is built with. Clippy is the compiler for
/// them, so that their dependencies, which are many, need not be checked in a pass of their own.
pub(crate) fn test() -> Result<(), Failed> {
    let crates = metadata::workspace()?;
    for (name, features) in TESTED {
        let arguments = ["--package", name, "--features", features];
        let examples = crates.iter().filter(|one| one.name == *name).flat_map(|one| &one.examples);
        let mut commands = vec![vec!["test", "--all-targets"]];
        commands.extend(examples.map(|example| vec!["run", "--example", example.as_str()]));
        for words in commands {
            let mut command = cargo();
            command.args(words).args(arguments);
            command.envs(CLIPPY_COMPILES);
            step(&format!("{command:?}"));
            checked(&mut command)?;
        }
    }
    Ok(())
}

/// The features that decide what of the crate's own code is compiled.
fn asked_for<'a>(one: &'a Crate, sources: &str) -> Vec<&'a str> {
    let asks = |name: &&str| sources.contains(&format!("feature = \"{name}\""));
    one.features.iter().map(String::as_str).filter(asks).collect()
}

/// Every set of the features, the empty one first; none where there are no features.
fn sets<'a>(features: &[&'a str]) -> Vec<Vec<&'a str>> {
    if features.is_empty() {
        return Vec::new();
    }
    let chosen = |set: usize| features.iter().enumerate().filter(move |(at, _)| set & (1 << at) != 0);
    (0..1 << features.len()).map(|set| chosen(set).map(|(_, name)| *name).collect()).collect()
}

/// All Rust code below a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.path() {
            path if path.is_dir() => sources(&path),
            path if path.extension().is_some_and(|extension| extension == "rs") => {
                fs::read_to_string(path).unwrap_or_default()
            }
            _ => String::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_features_is_tried() {
        assert_eq!(sets(&["a", "b"]), [vec![], vec!["a"], vec!["b"], vec!["a", "b"]]);
        assert_eq!(sets(&[]), Vec::<Vec<&str>>::new());
    }

    #[test]
    fn a_feature_counts_where_the_code_asks_for_it() {
        let one = Crate {
            name: "a".to_owned(),
            folder: env!("CARGO_MANIFEST_DIR").into(),
            published: true,
            has_library: true,
            roots: Vec::new(),
            examples: Vec::new(),
            features: vec!["here".to_owned(), "passed-on".to_owned()],
            features_in_workspace: Vec::new(),
            dependencies: Vec::new(),
        };
        assert_eq!(asked_for(&one, "#[cfg(not(feature = \"here\"))]"), ["here"]);
        assert!(sources(&one.folder.join("src")).contains("feature counts where"));
    }
}
