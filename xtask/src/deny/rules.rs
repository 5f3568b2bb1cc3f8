//! The rules of `deny.toml`.

use std::fmt::Debug;

use semver::VersionReq;
use toml::{Table, Value};

/// What `deny.toml` rules.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) all_features: bool,
    /// Names of licences, as SPDX writes them.
    pub(super) licences: Vec<String>,
    /// Further licences for some crates.
    pub(super) exceptions: Vec<(Spec, Vec<String>)>,
    /// Whether crates that are not published may be without a licence.
    pub(super) ignore_private: bool,
    pub(super) bans: Vec<Ban>,
    /// Addresses of registries.
    pub(super) registries: Vec<String>,
}

/// A crate that must not be used.
#[derive(Debug)]
pub(super) struct Ban {
    pub(super) spec: Spec,
    pub(super) reason: String,
}

/// A crate, or some of its versions: `name`, `name@1.2.3` or `name:<1.4`.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: String,
    /// Absent for every version.
    pub(super) version: Option<VersionReq>,
}

/// A table of which every key must be asked for.
struct Section {
    name: String,
    table: Table,
}

impl Rules {
    pub(super) fn read(text: &str) -> Result<Rules, String> {
        let table: Table = text.parse().map_err(|error| format!("{error}"))?;
        let mut all = Section { name: "the file".to_owned(), table };
        let mut graph = all.section("graph")?;
        let mut licences = all.section("licenses")?;
        let mut private = licences.section("private")?;
        let mut bans = all.section("bans")?;
        let mut sources = all.section("sources")?;
        let rules = Rules {
            all_features: graph.flag("all-features")?,
            licences: licences.names("allow")?,
            exceptions: licences.entries("exceptions", |entry| Ok((entry.spec()?, entry.names("allow")?)))?,
            ignore_private: private.flag("ignore")?,
            bans: bans.entries("deny", |entry| {
                let spec = entry.spec()?;
                let reason = entry.word("reason")?.unwrap_or_else(|| "no reason given".to_owned());
                Ok(Ban { spec, reason })
            })?,
            registries: sources.names("allow-registry")?,
        };
        // What is not a choice here: other values than these would need more of a check.
        licences.only("version", 2)?;
        bans.only("multiple-versions", "allow")?;
        bans.only("wildcards", "deny")?;
        bans.only("allow-wildcard-paths", true)?;
        sources.only("unknown-registry", "deny")?;
        sources.only("unknown-git", "deny")?;
        for section in [all, graph, licences, private, bans, sources] {
            section.done()?;
        }
        Ok(rules)
    }
}

impl Section {
    fn wrong(&self, key: &str, wanted: &str) -> String {
        format!("`{key}` in {} must be {wanted}", self.name)
    }

    /// The section of a name; an empty one where there is none.
    fn section(&mut self, key: &str) -> Result<Section, String> {
        match self.table.remove(key) {
            Some(Value::Table(table)) => Ok(Section { name: format!("[{key}]"), table }),
            Some(_) => Err(self.wrong(key, "a table")),
            None => Ok(Section { name: format!("[{key}]"), table: Table::new() }),
        }
    }

    fn flag(&mut self, key: &str) -> Result<bool, String> {
        match self.table.remove(key) {
            Some(Value::Boolean(value)) => Ok(value),
            Some(_) => Err(self.wrong(key, "true or false")),
            None => Ok(false),
        }
    }

    fn word(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.table.remove(key) {
            Some(Value::String(word)) => Ok(Some(word)),
            Some(_) => Err(self.wrong(key, "a text")),
            None => Ok(None),
        }
    }

    fn list(&mut self, key: &str) -> Result<Vec<Value>, String> {
        match self.table.remove(key) {
            Some(Value::Array(values)) => Ok(values),
            Some(_) => Err(self.wrong(key, "a list")),
            None => Ok(Vec::new()),
        }
    }

    fn names(&mut self, key: &str) -> Result<Vec<String>, String> {
        let values = self.list(key)?;
        let names = values.into_iter().map(|value| match value {
            Value::String(name) => Ok(name),
            _ => Err(self.wrong(key, "a list of texts")),
        });
        names.collect()
    }

    /// The entries of a list; a text stands for a table with the crate of that name.
    fn entries<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&mut Section) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let values = self.list(key)?;
        let entries = values.into_iter().map(|value| {
            let table = match value {
                Value::Table(table) => table,
                Value::String(name) => Table::from_iter([("crate".to_owned(), Value::String(name))]),
                _ => return Err(self.wrong(key, "a list of tables")),
            };
            let mut entry = Section { name: format!("an entry of `{key}`"), table };
            let value = read(&mut entry)?;
            entry.done()?;
            Ok(value)
        });
        entries.collect()
    }

    fn spec(&mut self) -> Result<Spec, String> {
        let text = self.word("crate")?.ok_or_else(|| self.wrong("crate", "given"))?;
        let (name, version) = match text.split_once([':', '@']) {
            Some((name, version)) if text.contains('@') => (name, Some(format!("={version}"))),
            Some((name, version)) => (name, Some(version.to_owned())),
            None => (text.as_str(), None),
        };
        let version = version.map(|version| version.parse().map_err(|error| format!("{text}: {error}")));
        Ok(Spec { name: name.to_owned(), version: version.transpose()? })
    }

    /// Takes a key that may have one value only.
    fn only(&mut self, key: &str, value: impl Into<Value> + Debug + Copy) -> Result<(), String> {
        match self.table.remove(key) {
            Some(found) if found != value.into() => Err(self.wrong(key, &format!("{value:?}"))),
            _ => Ok(()),
        }
    }

    fn done(self) -> Result<(), String> {
        match self.table.keys().next() {
            Some(key) => Err(format!("`{key}` in {} is not known to this check", self.name)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_project_are_read() {
        let file = a2c_testbed::workspace_root().join("deny.toml");
        let rules = Rules::read(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert!(rules.all_features && rules.ignore_private);
        assert!(rules.bans.iter().any(|ban| ban.spec.name == "rmcp" && ban.spec.version.is_some()));
    }

    #[test]
    fn a_key_that_this_check_does_not_know_is_refused() {
        for (text, said) in [
            ("[advisories]\nignore = []", "`advisories` in the file is not known"),
            ("[bans]\nskip = []", "`skip` in [bans] is not known"),
            ("[bans]\ndeny = [{ crate = \"a\", wrappers = [] }]", "`wrappers` in an entry of `deny` is not known"),
            ("[bans]\nmultiple-versions = \"deny\"", "`multiple-versions` in [bans] must be \"allow\""),
            ("[licenses]\nallow = \"MIT\"", "`allow` in [licenses] must be a list"),
            ("[bans]\ndeny = [\"a:?\"]", "a:?"),
        ] {
            let mistake = Rules::read(text).unwrap_err();
            assert!(mistake.contains(said), "{text}: {mistake}");
        }
    }
}
