//! Whether the code has the shape that `docs/ARCHITECTURE.md` draws: crates depend only downwards, the modules of a crate
//! form no circle, and every crate has a page whose modules exist.

mod circles;
mod modules;
mod order;
mod pages;
mod scan;

use std::fs;
use std::path::PathBuf;

use crate::metadata::{self, Crate};
use crate::{Failed, failed, step};

/// The map of the crates.
const OVERVIEW: &str = "docs/ARCHITECTURE.md";

/// Checks every crate and says all that is wrong.
pub(crate) fn check() -> Result<(), Failed> {
    step("layers");
    let crates = metadata::workspace()?;
    let overview = fs::read_to_string(a2c_testbed::workspace_root().join(OVERVIEW));
    let overview = overview.map_err(|error| failed(&format!("cannot read {OVERVIEW}: {error}")))?;
    let order = order::read(&overview).map_err(|mistake| failed(&format!("{OVERVIEW}: {mistake}")))?;
    let mut mistakes = order::check(&order, &crates);
    mistakes.extend(pages::check(&overview, &documented(&crates)?));
    for one in &crates {
        mistakes.extend(circles_of(one)?);
    }
    if mistakes.is_empty() { Ok(()) } else { Err(failed(&mistakes.join("\n"))) }
}

/// Prints the circles of the crates of these names.
pub(crate) fn show(names: &[String]) -> Result<(), Failed> {
    let crates = metadata::workspace()?;
    for name in names {
        let one = crates.iter().find(|one| one.name == *name);
        let one = one.ok_or_else(|| failed(&format!("there is no crate named {name}")))?;
        let circles = circles_of(one)?;
        eprintln!("{}\n{name}: {} circles", circles.join("\n"), circles.len());
    }
    Ok(())
}

/// The crates below `crates/`, with their pages.
fn documented(crates: &[Crate]) -> Result<Vec<pages::Documented>, Failed> {
    let root = a2c_testbed::workspace_root();
    let mut documented = Vec::new();
    for one in crates.iter().filter(|one| one.folder.starts_with(root.join("crates"))) {
        let page = fs::read_to_string(root.join(format!("docs/architecture/{}.md", one.name))).ok();
        let modules = trees_of(one)?.iter().flat_map(modules::Tree::paths).collect();
        documented.push(pages::Documented { name: one.name.clone(), page, modules });
    }
    Ok(documented)
}

/// The circles of a crate, each as text with the places of its references.
fn circles_of(one: &Crate) -> Result<Vec<String>, Failed> {
    let mut found = Vec::new();
    for tree in trees_of(one)? {
        let circles = circles::find(&tree.edges());
        found.extend(circles.iter().map(|circle| describe(&one.name, circle)));
    }
    Ok(found)
}

/// The modules of each library and program of a crate.
fn trees_of(one: &Crate) -> Result<Vec<modules::Tree>, Failed> {
    let load = |root: &PathBuf| modules::load(root).map_err(|error| failed(&format!("{}: {error}", one.name)));
    one.roots.iter().map(load).collect()
}

fn describe(name: &str, circle: &[modules::Edge]) -> String {
    let root = a2c_testbed::workspace_root();
    let mut text = format!("{name}: a circle of modules");
    for edge in circle {
        let file = edge.file.strip_prefix(&root).unwrap_or(&edge.file);
        text += &format!("\n  {} uses {}  ({}:{})", edge.from, edge.to, file.display(), edge.line);
    }
    text
}
