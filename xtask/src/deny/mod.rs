//! What the project builds upon: licences, unwanted crates and sources, as `deny.toml` rules it.
//!
//! The rules are in the format of cargo-deny and this is the part of it that we need; docs/decisions/0016-gates.md says
//! why. A key that is not known here is refused, so that no rule is passed over in silence.

mod rules;

use std::fs;
use std::path::PathBuf;

use semver::Version;
use serde_json::Value;
use spdx::{Expression, LicenseItem, ParseMode};

use self::rules::{Rules, Spec};
use crate::metadata::{self, list, text};
use crate::{Failed, failed, step};

/// A crate that some lock file names.
#[derive(Debug)]
struct Package {
    name: String,
    version: Version,
    /// The expression of its manifest.
    licence: Option<String>,
    /// The registry or repository; absent for a folder.
    source: Option<String>,
    published: bool,
    /// The names of dependencies with any version, from a registry.
    wildcards: Vec<String>,
}

/// Checks the dependencies of every lock file in the repository.
pub(crate) fn check() -> Result<(), Failed> {
    step("deny");
    let file = a2c_testbed::workspace_root().join("deny.toml");
    let rules =
        fs::read_to_string(&file).map_err(|error| failed(&format!("cannot read {}: {error}", file.display())))?;
    let rules = Rules::read(&rules).map_err(|mistake| failed(&format!("deny.toml: {mistake}")))?;
    let mut mistakes = Vec::new();
    for folder in lock_files() {
        let manifest = folder.join("Cargo.toml");
        let manifest = manifest.to_string_lossy();
        let mut args = vec!["--manifest-path", manifest.as_ref()];
        args.extend(rules.all_features.then_some("--all-features"));
        for package in metadata::packages(&metadata::ask(&args)?) {
            let package = Package::read(package).map_err(|mistake| failed(&mistake))?;
            for mistake in mistakes_of(&rules, &package) {
                mistakes.push(format!("{} {}: {mistake}", package.name, package.version));
            }
        }
    }
    mistakes.sort();
    mistakes.dedup();
    if mistakes.is_empty() { Ok(()) } else { Err(failed(&mistakes.join("\n"))) }
}

/// The folders of the repository, at most two below its root, that have a lock file.
fn lock_files() -> Vec<PathBuf> {
    let mut folders = vec![a2c_testbed::workspace_root()];
    let mut found = Vec::new();
    for _ in 0..3 {
        found.extend(folders.iter().filter(|folder| folder.join("Cargo.lock").exists()).cloned());
        let below = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
        folders = below.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.ends_with("target")).collect();
    }
    found
}

/// What the rules have against a package.
fn mistakes_of(rules: &Rules, package: &Package) -> Vec<String> {
    let mut mistakes = Vec::new();
    if package.published || !rules.ignore_private {
        mistakes.extend(licence_mistake(rules, package));
    }
    for ban in rules.bans.iter().filter(|ban| ban.spec.matches(&package.name, &package.version)) {
        mistakes.push(format!("banned: {}", ban.reason));
    }
    for name in &package.wildcards {
        mistakes.push(format!("takes any version of {name}"));
    }
    match &package.source {
        Some(source) if !rules.registries.iter().any(|registry| source.ends_with(registry.as_str())) => {
            mistakes.push(format!("comes from {source}"));
        }
        _ => {}
    }
    mistakes
}

fn licence_mistake(rules: &Rules, package: &Package) -> Option<String> {
    let Some(licence) = &package.licence else { return Some("names no licence".to_owned()) };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Some(format!("has a licence that is no SPDX expression: {licence}"));
    };
    let allowed = |name: &str| {
        let excepted = rules.exceptions.iter().filter(|(spec, _)| spec.matches(&package.name, &package.version));
        rules.licences.iter().chain(excepted.flat_map(|(_, names)| names)).any(|allowed| allowed == name)
    };
    // An exception to a licence only adds to what it permits.
    let accepted = expression.evaluate(|requirement| match &requirement.license {
        LicenseItem::Spdx { id, .. } => allowed(id.name),
        LicenseItem::Other { .. } => false,
    });
    (!accepted).then(|| format!("has a licence that is not allowed: {licence}"))
}

impl Package {
    fn read(package: &Value) -> Result<Package, String> {
        let name = text(&package["name"]).to_owned();
        let version = text(&package["version"]);
        let wildcards = list(&package["dependencies"])
            .filter(|dependency| {
                package["source"].is_null() && dependency["path"].is_null() && dependency["req"] == "*"
            })
            .map(|dependency| text(&dependency["name"]).to_owned());
        Ok(Package {
            version: version.parse().map_err(|error| format!("{name} {version}: {error}"))?,
            licence: package["license"].as_str().map(str::to_owned),
            source: package["source"].as_str().map(str::to_owned),
            published: package["publish"].is_null(),
            wildcards: wildcards.collect(),
            name,
        })
    }
}

impl Spec {
    fn matches(&self, name: &str, version: &Version) -> bool {
        self.name == name && self.version.as_ref().is_none_or(|wanted| wanted.matches(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT", "ISC"]
        exceptions = [{ crate = "odd:<2", allow = ["MPL-2.0"] }]
        private.ignore = true
        [bans]
        deny = [{ crate = "old:<1.4", reason = "a hole" }, "never"]
        wildcards = "deny"
        [sources]
        unknown-registry = "deny"
        allow-registry = ["https://registry.example/index"]
    "#;

    fn package(name: &str, version: &str, licence: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.parse().unwrap(),
            licence: (!licence.is_empty()).then(|| licence.to_owned()),
            source: Some("registry+https://registry.example/index".to_owned()),
            published: true,
            wildcards: Vec::new(),
        }
    }

    fn check(package: &Package, expected: &[&str]) {
        assert_eq!(mistakes_of(&Rules::read(RULES).unwrap(), package), expected, "{package:?}");
    }

    #[test]
    fn a_licence_is_judged_as_an_expression() {
        for (licence, allowed) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("GPL-3.0-only OR MIT", true),
            ("MIT AND ISC", true),
            ("MIT AND GPL-3.0-only", false),
            ("(ISC OR GPL-2.0-only) AND MIT", true),
            ("Apache-2.0/MIT", true),
            ("Apache-2.0 WITH LLVM-exception", false),
        ] {
            let refused = format!("has a licence that is not allowed: {licence}");
            let expected: &[&str] = &[&refused];
            check(&package("a", "1.0.0", licence), if allowed { &[] } else { expected });
        }
        check(&package("a", "1.0.0", ""), &["names no licence"]);
        check(&package("a", "1.0.0", "My own"), &["has a licence that is no SPDX expression: My own"]);
    }

    #[test]
    fn an_exception_is_for_one_crate_and_its_versions() {
        check(&package("odd", "1.9.0", "MPL-2.0"), &[]);
        check(&package("odd", "2.0.0", "MPL-2.0"), &["has a licence that is not allowed: MPL-2.0"]);
        check(&package("other", "1.9.0", "MPL-2.0"), &["has a licence that is not allowed: MPL-2.0"]);
    }

    #[test]
    fn a_banned_version_is_named_with_the_reason() {
        check(&package("old", "1.3.9", "MIT"), &["banned: a hole"]);
        check(&package("old", "1.4.0", "MIT"), &[]);
        check(&package("never", "7.0.0", "MIT"), &["banned: no reason given"]);
    }

    #[test]
    fn only_known_registries_and_folders_are_sources() {
        let git = Package { source: Some("git+https://git.example/x".to_owned()), ..package("a", "1.0.0", "MIT") };
        check(&git, &["comes from git+https://git.example/x"]);
        check(&Package { source: None, ..package("a", "1.0.0", "MIT") }, &[]);
    }

    #[test]
    fn our_own_crates_that_stay_with_us_need_no_licence_but_versions() {
        let private = Package { published: false, source: None, ..package("a", "1.0.0", "") };
        check(&private, &[]);
        check(&Package { wildcards: vec!["b".to_owned()], ..private }, &["takes any version of b"]);
    }
}
