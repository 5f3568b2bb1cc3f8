//! The modules of a crate and the references among them.
//!
//! A reference counts for the two siblings that it leads out of and into: below the module that both ends have in
//! common. Between a module and what is inside it references may go both ways.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::scan::{self, Scan, Use};
use crate::source;

/// The modules of a crate.
#[derive(Debug)]
pub(super) struct Tree {
    /// The first is the crate's root.
    modules: Vec<Module>,
}

#[derive(Debug)]
struct Module {
    name: String,
    parent: Option<usize>,
    file: PathBuf,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
    paths: Vec<scan::Path>,
}

/// A reference of a module to its sibling.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// Reads a crate, beginning with the file of its root.
pub(super) fn load(root: &Path) -> Result<Tree, String> {
    let mut tree = Tree { modules: Vec::new() };
    let folder = root.parent().unwrap_or(root);
    let scan = read(root)?;
    tree.add("crate", None, root, folder, scan)?;
    Ok(tree)
}

fn read(file: &Path) -> Result<Scan, String> {
    Ok(scan::scan(source::read(file)?))
}

impl Tree {
    /// Adds a module and all below it. `folder` is where the files of its children are.
    fn add(
        &mut self,
        name: &str,
        parent: Option<usize>,
        file: &Path,
        folder: &Path,
        scan: Scan,
    ) -> Result<Option<usize>, String> {
        if scan.for_tests {
            return Ok(None);
        }
        let at = self.modules.len();
        self.modules.push(Module {
            name: name.to_owned(),
            parent,
            file: file.to_owned(),
            children: BTreeMap::new(),
            items: scan.items.into_iter().collect(),
            uses: scan.uses,
            paths: scan.paths,
        });
        for child in scan.children {
            let inside = folder.join(&child.name);
            let (file, scan) = match child.inline {
                Some(code) => (file.to_owned(), scan::scan(code)),
                None => {
                    let file = source::module_file(folder, file, &child.name, child.file.as_deref());
                    let scan = read(&file)?;
                    (file, scan)
                }
            };
            if let Some(added) = self.add(&child.name, Some(at), &file, &inside, scan)? {
                self.modules[at].children.insert(child.name, added);
            }
        }
        Ok(Some(at))
    }

    /// The paths of all modules below the root, such as `tools::gate`.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        (1..self.modules.len()).map(|module| self.path_of(module))
    }

    /// All references between siblings, in the order of the modules and their lines.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (at, module) in self.modules.iter().enumerate() {
            let used = module.uses.iter().map(|one| &one.path);
            for path in used.chain(&module.paths) {
                let Some(target) = self.resolve(at, &path.segments, &mut BTreeSet::new()) else { continue };
                if let Some((from, to)) = self.siblings(at, target) {
                    let (from, to) = (self.path_of(from), self.path_of(to));
                    edges.push(Edge { from, to, file: module.file.clone(), line: path.line });
                }
            }
        }
        edges
    }

    /// The module in which what a path names is defined, as seen from a module; nothing for other crates. `seen` holds
    /// the names that are being looked up, since a `use` declaration can lead back to itself.
    fn resolve(&self, from: usize, path: &[String], seen: &mut BTreeSet<(usize, String)>) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(0, rest, seen),
            "self" => self.descend(from, rest, seen),
            "super" => {
                let mut at = self.modules[from].parent?;
                let mut rest = rest;
                while rest.first().is_some_and(|segment| segment == "super") {
                    at = self.modules[at].parent?;
                    rest = &rest[1..];
                }
                self.descend(at, rest, seen)
            }
            _ => self.lookup(from, first, rest, seen),
        }
    }

    /// Follows a path downwards from a module; what it does not know is taken to be defined there, by a macro say.
    fn descend(&self, at: usize, path: &[String], seen: &mut BTreeSet<(usize, String)>) -> Option<usize> {
        match path.split_first() {
            Some((name, rest)) => self.lookup(at, name, rest, seen).or(Some(at)),
            None => Some(at),
        }
    }

    /// Looks a name up in a module and follows the rest of the path from there.
    fn lookup(&self, at: usize, name: &str, rest: &[String], seen: &mut BTreeSet<(usize, String)>) -> Option<usize> {
        let module = &self.modules[at];
        if let Some(&child) = module.children.get(name) {
            return self.descend(child, rest, seen);
        }
        if module.items.contains(name) {
            return Some(at);
        }
        if !seen.insert((at, name.to_owned())) {
            return None;
        }
        if let Some(alias) = module.uses.iter().find(|one| one.name.as_deref() == Some(name)) {
            let path: Vec<String> = alias.path.segments.iter().chain(rest).cloned().collect();
            return self.resolve(at, &path, seen);
        }
        let globs = module.uses.iter().filter(|one| one.name.is_none());
        globs.into_iter().find_map(|glob| {
            let inside = self.resolve(at, &glob.path.segments, seen)?;
            self.lookup(inside, name, rest, seen)
        })
    }

    /// The siblings for which a reference counts; nothing where one end is inside the other.
    fn siblings(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let (from, to) = (self.line_of(from), self.line_of(to));
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        Some((*from.get(common)?, *to.get(common)?))
    }

    /// A module and all around it, the root first.
    fn line_of(&self, module: usize) -> Vec<usize> {
        let mut line: Vec<usize> = std::iter::successors(Some(module), |&at| self.modules[at].parent).collect();
        line.reverse();
        line
    }

    fn path_of(&self, module: usize) -> String {
        let names: Vec<&str> = self.line_of(module).iter().skip(1).map(|&at| self.modules[at].name.as_str()).collect();
        names.join("::")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The references in a crate of these files, as `from>to@file:line`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let folder =
            std::env::temp_dir().join(format!("a2c-layers-{}-{:?}", std::process::id(), std::thread::current().id()));
        for (name, source) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, source).unwrap();
        }
        let tree = load(&folder.join("lib.rs")).unwrap();
        let edges = tree.edges().into_iter().map(|edge| {
            let file = edge.file.strip_prefix(&folder).unwrap();
            format!("{}>{}@{}:{}", edge.from, edge.to, file.display(), edge.line)
        });
        let edges = edges.collect();
        fs::remove_dir_all(&folder).unwrap();
        edges
    }

    #[test]
    fn a_reference_counts_for_the_siblings_that_it_connects() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod x; mod y;"),
            ("a/x.rs", "use super::y::Y;\nuse crate::b::B;"),
            ("a/y.rs", "pub struct Y;"),
            ("b.rs", "pub struct B;"),
        ]);
        assert_eq!(found, ["a::x>a::y@a/x.rs:1", "a>b@a/x.rs:2"]);
    }

    #[test]
    fn references_between_a_module_and_what_is_inside_it_do_not_count() {
        let found = edges(&[
            ("lib.rs", "mod a; pub use a::inner::Z; pub struct Root;"),
            ("a.rs", "pub mod inner; pub struct A; use inner::Z;"),
            ("a/inner.rs", "use super::A; use crate::Root; pub struct Z;"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_name_is_followed_to_the_module_that_defines_it() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b; mod c;\npub use a::A as Renamed; pub use b::*;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "pub use crate::c::C;\npub struct B;"),
            ("c.rs", "pub struct C;"),
        ]);
        assert_eq!(found, ["b>c@b.rs:1"]);
        let users = edges(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;\npub use a::A as Renamed; pub use b::*;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "pub struct B;"),
            ("c.rs", "use crate::Renamed;\nuse crate::B;"),
            ("d.rs", "fn f() { crate::Renamed::new() }"),
        ]);
        assert_eq!(users, ["c>a@c.rs:1", "c>b@c.rs:2", "d>a@d.rs:1"]);
    }

    #[test]
    fn a_path_through_an_imported_module_counts() {
        let found = edges(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod x; mod y;"),
            ("a/x.rs", "use crate::a;\nfn f() { a::y::g() }"),
            ("a/y.rs", "pub fn g() {}"),
        ]);
        assert_eq!(found, ["a::x>a::y@a/x.rs:2"]);
    }

    #[test]
    fn other_crates_tests_and_inline_modules_are_told_apart() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b { pub mod c { pub struct C; } }"),
            (
                "a.rs",
                "use serde::a::B;\nuse std::fmt;\nuse crate::b::c;\n#[cfg(test)]\nmod tests;\n#[cfg(test)] use crate::b;",
            ),
        ]);
        assert_eq!(found, ["a>b@a.rs:3"]);
    }

    #[test]
    fn a_missing_file_and_broken_code_are_said() {
        let folder = std::env::temp_dir().join(format!("a2c-layers-broken-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let root = folder.join("lib.rs");
        for (source, said) in [("mod gone;", "gone"), ("fn f( {", "as Rust")] {
            fs::write(&root, source).unwrap();
            let error = load(&root).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
