//! The crates of the workspace, as cargo knows them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Failed, cargo};

/// A crate of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// Whether the crate is meant for a registry.
    pub(crate) published: bool,
    pub(crate) has_library: bool,
    /// The files that `lib` and `bin` targets begin with.
    pub(crate) roots: Vec<PathBuf>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
    /// The names of its features, `default` left out.
    pub(crate) features: Vec<String>,
    /// Those of its features that the workspace as a whole is built with.
    pub(crate) features_in_workspace: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency of a crate on another crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests, examples and benchmarks use it.
    pub(crate) dev: bool,
}

/// Reads the crates of the workspace, in the order of their names.
pub(crate) fn workspace() -> Result<Vec<Crate>, Failed> {
    let metadata = ask(&[])?;
    let members: Vec<&str> = list(&metadata["workspace_members"]).map(text).collect();
    let ours = packages(&metadata).filter(|package| members.contains(&text(&package["id"])));
    let mut crates: Vec<Crate> = ours.map(|package| Crate::read(package, &metadata["resolve"]["nodes"])).collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

/// The answer of `cargo metadata` with these arguments.
pub(crate) fn ask(args: &[&str]) -> Result<Value, Failed> {
    let output = cargo().args(["metadata", "--format-version", "1", "--locked"]).args(args).output();
    let output = output.map_err(|error| crate::failed(&format!("cannot run cargo metadata: {error}")))?;
    if !output.status.success() {
        return Err(crate::failed(&format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr))));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| crate::failed(&format!("cargo metadata: {error}")))
}

/// The packages of an answer of `cargo metadata`.
pub(crate) fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    list(&metadata["packages"])
}

/// The elements of a JSON list; none where there is no list.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

/// The text of a JSON string; empty where there is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Crate {
    fn read(package: &Value, resolved: &Value) -> Crate {
        let manifest = Path::new(text(&package["manifest_path"]));
        let targets = |kind: &'static str| {
            list(&package["targets"]).filter(move |target| list(&target["kind"]).any(|is| text(is) == kind))
        };
        let in_workspace = list(resolved).filter(|node| node["id"] == package["id"]);
        let features = package["features"].as_object().into_iter().flat_map(|features| features.keys());
        Crate {
            name: text(&package["name"]).to_owned(),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
            published: package["publish"].is_null(),
            has_library: targets("lib").next().is_some(),
            roots: targets("lib").chain(targets("bin")).map(|target| text(&target["src_path"]).into()).collect(),
            examples: targets("example").map(|target| text(&target["name"]).to_owned()).collect(),
            features: features.filter(|name| *name != "default").cloned().collect(),
            features_in_workspace: in_workspace
                .flat_map(|node| list(&node["features"]).map(text))
                .map(str::to_owned)
                .collect(),
            dependencies: list(&package["dependencies"])
                .filter(|dependency| dependency["path"].is_string())
                .map(|dependency| Dependency {
                    name: text(&dependency["name"]).to_owned(),
                    dev: dependency["kind"] == "dev",
                })
                .collect(),
        }
    }
}
