//! Whether every type that other modules see has a name of its own in the workspace.
//!
//! Two types of one name in two places make every search for it and every sentence about it ambiguous. Private types and
//! code for tests may name theirs as they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::metadata::{self, Crate};
use crate::source::{self, attribute, is_for_tests, item_length, line, path_attribute};
use crate::{Failed, failed, step};

/// One type that is declared more than once in its crate, of which one build compiles one declaration.
struct Variants {
    in_crate: &'static str,
    name: &'static str,
    /// What decides which of them is compiled.
    chosen_by: &'static str,
}

const VARIANTS: &[Variants] = &[
    Variants { in_crate: "a2c", name: "HubSignals", chosen_by: "the operating system" },
    Variants { in_crate: "a2c-vrl", name: "Program", chosen_by: "the feature `vrl`" },
];

/// A type that other modules see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Declared {
    name: String,
    in_crate: String,
    /// The file and the line.
    place: String,
}

/// Checks every crate and reports all names that are taken twice.
pub(crate) fn check() -> Result<(), Failed> {
    step("names");
    let mut declared = BTreeSet::new();
    for one in metadata::workspace()? {
        types_of(&one, &mut declared).map_err(|error| failed(&format!("{}: {error}", one.name)))?;
    }
    let mistakes = mistakes(&declared, VARIANTS);
    if mistakes.is_empty() { Ok(()) } else { Err(failed(&mistakes.join("\n"))) }
}

fn mistakes(declared: &BTreeSet<Declared>, variants: &[Variants]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&Declared>> = BTreeMap::new();
    for one in declared {
        by_name.entry(&one.name).or_default().push(one);
    }
    let mut mistakes = Vec::new();
    for one in variants {
        let declarations = by_name.entry(one.name).or_default();
        let in_crate = declarations.iter().filter(|declared| declared.in_crate == one.in_crate).count();
        if in_crate < 2 {
            mistakes.push(format!(
                "{} no longer has variants of {} by {}: take them out of VARIANTS in xtask/src/names.rs",
                one.in_crate, one.name, one.chosen_by
            ));
            continue;
        }
        let first = declarations.iter().position(|declared| declared.in_crate == one.in_crate);
        let mut at = 0..;
        declarations.retain(|declared| at.next() == first || declared.in_crate != one.in_crate);
    }
    let taken_twice = by_name.iter().filter(|(_, declarations)| declarations.len() > 1);
    mistakes.extend(taken_twice.map(|(name, declarations)| {
        let places: Vec<_> = declarations.iter().map(|declared| format!("\n  {}", declared.place)).collect();
        format!("{} types are named {name}:{}", places.len(), places.concat())
    }));
    mistakes
}

fn types_of(one: &Crate, declared: &mut BTreeSet<Declared>) -> Result<(), String> {
    let workspace = a2c_testbed::workspace_root();
    let mut add = |file: &Path, found: Found| {
        let file = file.strip_prefix(&workspace).unwrap_or(file);
        let place = format!("{}:{}", file.display(), found.line);
        declared.insert(Declared { name: found.name, in_crate: one.name.clone(), place });
    };
    for root in &one.roots {
        walk(source::read(root)?, root, root.parent().unwrap_or(root), &mut add)?;
    }
    Ok(())
}

/// Reads a module and all below it. `folder` is where the files of its children are.
fn walk(code: TokenStream, file: &Path, folder: &Path, add: &mut impl FnMut(&Path, Found)) -> Result<(), String> {
    let module = scan(code);
    for found in module.types {
        add(file, found);
    }
    for child in module.children {
        let inside = folder.join(&child.name);
        match child.inline {
            Some(code) => walk(code, file, &inside, add)?,
            None => {
                let file = source::module_file(folder, file, &child.name, child.file.as_deref());
                walk(source::read(&file)?, &file, &inside, add)?;
            }
        }
    }
    Ok(())
}

/// The items of a module that matter here, without those for tests.
#[derive(Debug, Default)]
struct Module {
    types: Vec<Found>,
    children: Vec<Child>,
}

#[derive(Debug)]
struct Found {
    name: String,
    line: usize,
}

#[derive(Debug)]
struct Child {
    name: String,
    /// The code between braces; absent where it is in a file of its own.
    inline: Option<TokenStream>,
    /// The file that a `path` attribute names.
    file: Option<String>,
}

fn scan(code: TokenStream) -> Module {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut module = Module::default();
    let (mut for_tests, mut file) = (false, None);
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        if let Some((group, length)) = attribute(rest) {
            if length == 3 && is_for_tests(group) {
                return Module::default();
            }
            for_tests |= is_for_tests(group);
            file = file.or_else(|| path_attribute(group));
            at += length;
            continue;
        }
        let length = item_length(rest);
        if !for_tests {
            module.item(&rest[..length], file.take());
        }
        (for_tests, file) = (false, None);
        at += length;
    }
    module
}

impl Module {
    fn item(&mut self, item: &[TokenTree], file: Option<String>) {
        let (visible, item) = visibility(item);
        let item = match item {
            [TokenTree::Ident(word), rest @ ..] if *word == "unsafe" => rest,
            item => item,
        };
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = item else { return };
        match keyword.to_string().as_str() {
            "struct" | "enum" | "union" | "trait" | "type" if visible => {
                self.types.push(Found { name: name.to_string(), line: line(name.span()) });
            }
            "mod" => {
                let inline = match rest.first() {
                    Some(TokenTree::Group(group)) => Some(group.stream()),
                    _ => None,
                };
                self.children.push(Child { name: name.to_string(), inline, file });
            }
            _ => {}
        }
    }
}

/// Whether an item is `pub` in any way, and what follows.
fn visibility(item: &[TokenTree]) -> (bool, &[TokenTree]) {
    match item {
        [TokenTree::Ident(word), TokenTree::Group(scope), rest @ ..]
            if *word == "pub" && scope.delimiter() == Delimiter::Parenthesis =>
        {
            (true, rest)
        }
        [TokenTree::Ident(word), rest @ ..] if *word == "pub" => (true, rest),
        item => (false, item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_other_modules_see_are_found() {
        for (source, expected) in [
            ("pub struct A;\npub(crate) enum B { C }\npub(super) trait D {}", &["A@1", "B@2", "D@3"][..]),
            ("pub(in crate::x) type A = u8;\npub union B { c: u8 }\npub unsafe trait C {}", &["A@1", "B@2", "C@3"]),
            (
                "/// Says `pub struct X;`.\n#[derive(Debug)]\npub struct A<T>(T) where T: Copy;\npub struct B;",
                &["A@3", "B@4"],
            ),
            ("struct A;\nenum B {}\ntrait C {}\ntype D = u8;", &[]),
            ("pub fn f() { pub struct A; }\npub const B: C = C { d: 1 };\npub use e::F;", &[]),
            ("impl A for B { type C = u8; }\npub trait D { type E; }", &["D@2"]),
            ("macro_rules! m { () => { pub struct A; } }\npub struct B;", &["B@2"]),
            ("#[cfg(test)]\npub struct A;\n#[cfg(unix)]\npub struct B;", &["B@4"]),
            ("#![cfg(test)]\npub struct A;", &[]),
        ] {
            let found = scan(source.parse().unwrap()).types;
            let found: Vec<_> = found.iter().map(|one| format!("{}@{}", one.name, one.line)).collect();
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn child_modules_are_read_unless_they_are_for_tests() {
        let source =
            "mod a { pub struct A; mod b { pub(super) struct B; } }\n#[cfg(test)]\nmod tests { pub struct C; }";
        let mut names = Vec::new();
        let file = Path::new("src/lib.rs");
        walk(source.parse().unwrap(), file, Path::new("src"), &mut |_, found| names.push(found.name)).unwrap();
        assert_eq!(names, ["A", "B"]);
        let children = scan("mod a;\n#[path = \"other.rs\"]\npub mod b;\npub mod c;".parse().unwrap()).children;
        let files: Vec<_> = children.iter().map(|child| (child.name.as_str(), child.file.as_deref())).collect();
        assert_eq!(files, [("a", None), ("b", Some("other.rs")), ("c", None)]);
    }

    #[test]
    fn a_name_is_taken_once() {
        let stale = "a no longer has variants of V by the system: take them out of VARIANTS in xtask/src/names.rs";
        for (declared, expected) in [
            (&["a A 1", "a B 2", "b C 1", "a V 1", "a V 2"][..], &[][..]),
            (&["a A 1", "b A 2", "a V 1", "a V 2"], &["2 types are named A:\n  1\n  2"]),
            (&["a A 1", "a A 2", "b A 3", "a V 1", "a V 2"], &["3 types are named A:\n  1\n  2\n  3"]),
            (&["a V 1", "a V 2", "b V 3"], &["2 types are named V:\n  1\n  3"]),
            (&["a V 1", "b V 2"], &[stale, "2 types are named V:\n  1\n  2"]),
            (&["a V 1"], &[stale]),
            (&[], &[stale]),
        ] {
            let set = declared.iter().map(|one| {
                let [in_crate, name, place] = *one.split(' ').collect::<Vec<_>>() else { panic!("{one}") };
                Declared { name: name.to_owned(), in_crate: in_crate.to_owned(), place: place.to_owned() }
            });
            let variants = [Variants { in_crate: "a", name: "V", chosen_by: "the system" }];
            assert_eq!(mistakes(&set.collect(), &variants), expected, "{declared:?}");
        }
    }
}
