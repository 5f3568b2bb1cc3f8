//! Whether the code has the shape that `docs/ARCHITECTURE.md` draws: crates depend only downwards, and the modules of a
//! crate form no circle.

mod circles;
mod modules;
mod order;
mod scan;

use std::fs;

use crate::metadata::{self, Crate};
use crate::{Failed, failed, step};

/// Crates that still have circles among their modules. A crate leaves this list when it has none, and none is added.
const KNOWN_CIRCLES: &[&str] = &["a2c", "a2c-agent", "a2c-computer", "a2c-hub", "a2c-socketio"];

/// Checks every crate and says all that is wrong.
pub(crate) fn check() -> Result<(), Failed> {
    step("layers");
    let crates = metadata::workspace()?;
    let mut mistakes = order_of(&crates)?;
    for one in &crates {
        let circles = circles_of(one)?;
        let known = KNOWN_CIRCLES.contains(&one.name.as_str());
        match (known, circles.is_empty()) {
            (false, true) => {}
            (true, false) => eprintln!("xtask: {} still has {} circles among its modules", one.name, circles.len()),
            (true, true) => mistakes.push(format!(
                "{} has no circle any more: take it out of KNOWN_CIRCLES in xtask/src/layers/mod.rs",
                one.name
            )),
            (false, false) => mistakes.extend(circles),
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(failed(&mistakes.join("\n"))) }
}

/// Prints the circles of the crates of these names, known ones too.
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

fn order_of(crates: &[Crate]) -> Result<Vec<String>, Failed> {
    let path = "docs/ARCHITECTURE.md";
    let text = fs::read_to_string(a2c_testbed::workspace_root().join(path));
    let text = text.map_err(|error| failed(&format!("cannot read {path}: {error}")))?;
    let order = order::read(&text).map_err(|mistake| failed(&format!("{path}: {mistake}")))?;
    Ok(order::check(&order, crates))
}

/// The circles of a crate, each as text with the places of its references.
fn circles_of(one: &Crate) -> Result<Vec<String>, Failed> {
    let mut found = Vec::new();
    for root in &one.roots {
        let tree = modules::load(root).map_err(|error| failed(&format!("{}: {error}", one.name)))?;
        let circles = circles::find(&tree.edges());
        found.extend(circles.iter().map(|circle| describe(&one.name, circle)));
    }
    Ok(found)
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
