//! What one module says of others: child modules, `use` declarations, items and paths.
//!
//! The source is read as token trees, not parsed: a path is a path wherever it stands, in macros too. Code for tests
//! (`#[cfg(test)]`) is left out.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::{attribute, is_for_tests, is_punct, item_length, line, path_attribute};

/// What a module says, without the code of its child modules.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) children: Vec<Child>,
    pub(super) uses: Vec<Use>,
    /// The names of what the module defines.
    pub(super) items: Vec<String>,
    pub(super) paths: Vec<Path>,
    /// Whether all of the module is for tests.
    pub(super) for_tests: bool,
}

/// A child module.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) name: String,
    /// The code between braces; absent where it is in a file of its own.
    pub(super) inline: Option<TokenStream>,
    /// The file that a `path` attribute names.
    pub(super) file: Option<String>,
}

/// One name that a `use` declaration brings, or a glob.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The name in this module; absent for a glob.
    pub(super) name: Option<String>,
    pub(super) path: Path,
}

/// A path of at least two segments, or one that a `use` declaration names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// Reads the code of a module.
pub(super) fn scan(code: TokenStream) -> Scan {
    let mut scan = Scan::default();
    scan.read(code, true);
    scan
}

/// What the attributes before an item say.
#[derive(Default)]
struct Attributes {
    for_tests: bool,
    file: Option<String>,
}

impl Scan {
    /// Reads tokens; only at the top of a module are items the module's.
    fn read(&mut self, code: TokenStream, top: bool) {
        let tokens: Vec<TokenTree> = code.into_iter().collect();
        let mut attributes = Attributes::default();
        let mut at = 0;
        while at < tokens.len() {
            let rest = &tokens[at..];
            if let Some((group, length)) = attribute(rest) {
                if length == 3 && top && is_for_tests(group) {
                    self.for_tests = true;
                    return;
                }
                attributes.for_tests |= is_for_tests(group);
                attributes.file = attributes.file.or_else(|| path_attribute(group));
                at += length;
                continue;
            }
            if attributes.for_tests {
                at += item_length(rest);
            } else {
                at += self.element(rest, before(&tokens, at), top, &mut attributes);
            }
            if !matches!(&tokens[at - 1], TokenTree::Ident(word) if *word == "pub") {
                attributes = Attributes::default();
            }
        }
    }

    /// Reads what begins here and gives its length in tokens.
    fn element(&mut self, rest: &[TokenTree], before: Before, top: bool, attributes: &mut Attributes) -> usize {
        let word = match &rest[0] {
            TokenTree::Ident(word) => word,
            TokenTree::Group(group) => {
                self.read(group.stream(), false);
                return 1;
            }
            _ => return 1,
        };
        let text = word.to_string();
        match (text.as_str(), rest.get(1)) {
            // `pub(in crate::x)` names no dependency.
            ("pub", Some(TokenTree::Group(group))) if group.delimiter() == Delimiter::Parenthesis => {
                return if top { self.visible(rest, attributes) } else { 2 };
            }
            ("mod", Some(TokenTree::Ident(name))) if top => {
                let inline = match rest.get(2) {
                    Some(TokenTree::Group(group)) => Some(group.stream()),
                    _ => None,
                };
                self.children.push(Child { name: name.to_string(), inline, file: attributes.file.take() });
                return 3;
            }
            ("use", Some(next)) if !is_punct(next, '<') => {
                let end = rest.iter().position(|token| is_punct(token, ';')).unwrap_or(rest.len());
                if !is_punct(next, ':') {
                    self.use_tree(&rest[1..end], &[]);
                }
                return end + 1;
            }
            (
                "struct" | "enum" | "union" | "trait" | "fn" | "const" | "static" | "type",
                Some(TokenTree::Ident(name)),
            ) if top => {
                self.items.push(name.to_string());
                return 1;
            }
            ("macro_rules", _) if top => {
                if let Some(TokenTree::Ident(name)) = rest.get(2) {
                    self.items.push(name.to_string());
                }
                return 3;
            }
            _ => {}
        }
        let (segments, length) = path(rest);
        let begins = match before {
            Before::Path => false,
            Before::Dollar => segments[0] == "crate",
            Before::Other => true,
        };
        if begins && segments.len() > 1 {
            self.paths.push(Path { segments, line: line(word.span()) });
        }
        length
    }

    /// Reads an item behind `pub(…)`: the attributes before it are the item's.
    fn visible(&mut self, rest: &[TokenTree], attributes: &mut Attributes) -> usize {
        match rest.get(2) {
            Some(_) => 2 + self.element(&rest[2..], Before::Other, true, attributes),
            None => 2,
        }
    }

    /// Reads the tree of a `use` declaration.
    fn use_tree(&mut self, tree: &[TokenTree], prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let mut place = 0;
        let mut at = 0;
        while let Some(token) = tree.get(at) {
            match token {
                TokenTree::Ident(word) if *word == "as" => {
                    let name = tree.get(at + 1).map(ToString::to_string);
                    self.uses.push(Use { name, path: Path { segments, line: place } });
                    return;
                }
                TokenTree::Ident(word) => {
                    place = line(word.span());
                    // `a::{self}` brings `a`.
                    if *word != "self" || segments.is_empty() {
                        segments.push(word.to_string());
                    }
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inner.split(|token| is_punct(token, ',')).filter(|branch| !branch.is_empty()) {
                        self.use_tree(branch, &segments);
                    }
                    return;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    self.uses.push(Use { name: None, path: Path { segments, line: line(punct.span()) } });
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        self.uses.push(Use { name: segments.last().cloned(), path: Path { segments, line: place } });
    }
}

/// What stands before a word: whether a path can begin with it.
#[derive(Clone, Copy)]
enum Before {
    /// `::` or `.`: the word belongs to what is before it.
    Path,
    /// `$`: the word is a variable of a macro, or `$crate`.
    Dollar,
    Other,
}

fn before(tokens: &[TokenTree], at: usize) -> Before {
    match at.checked_sub(1).map(|at| &tokens[at]) {
        Some(token) if is_punct(token, '.') => Before::Path,
        // A single colon is followed by a type, in which a path can begin.
        Some(token) if is_punct(token, ':') && at >= 2 && is_punct(&tokens[at - 2], ':') => Before::Path,
        Some(token) if is_punct(token, '$') => Before::Dollar,
        _ => Before::Other,
    }
}

/// The words of a path that begins here, and how many tokens they take.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut segments = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        segments.push(word.to_string());
        at += 1;
        let colons = tokens.get(at..at + 2).is_some_and(|two| two.iter().all(|token| is_punct(token, ':')));
        if !colons || !matches!(tokens.get(at + 2), Some(TokenTree::Ident(_))) {
            break;
        }
        at += 2;
    }
    (segments, at.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Scan {
        scan(source.parse().unwrap())
    }

    fn paths(source: &str) -> Vec<String> {
        read(source).paths.iter().map(|path| format!("{}@{}", path.segments.join("::"), path.line)).collect()
    }

    fn uses(source: &str) -> Vec<String> {
        let name = |one: &Use| one.name.clone().unwrap_or_else(|| "*".to_owned());
        read(source).uses.iter().map(|one| format!("{} = {}", name(one), one.path.segments.join("::"))).collect()
    }

    #[test]
    fn a_use_tree_is_read_name_by_name() {
        let source = "pub use crate::a::{self, b as c, d::{E, f::*}};\nuse ::extern_crate::X;\nuse super::g;";
        assert_eq!(
            uses(source),
            ["a = crate::a", "c = crate::a::b", "E = crate::a::d::E", "* = crate::a::d::f", "g = super::g"]
        );
    }

    #[test]
    fn paths_are_found_in_types_expressions_and_macros() {
        let source = "fn f(x: crate::a::T) -> Vec<super::b::U> {\n g!(\"{}\", self::c::d(x.e::<crate::h::V>()));\n}";
        assert_eq!(paths(source), ["crate::a::T@1", "super::b::U@1", "self::c::d@2", "crate::h::V@2"]);
    }

    #[test]
    fn comments_strings_and_visibilities_name_nothing() {
        let source = "//! See [`crate::a::B`].\n/// crate::c::D\npub(in crate::e) const F: &str = \"crate::g::H\";";
        assert_eq!(paths(source), Vec::<String>::new());
        assert_eq!(read(source).items, ["F"]);
    }

    #[test]
    fn the_crate_of_a_macro_is_a_path_and_its_variables_are_none() {
        assert_eq!(paths("macro_rules! m { ($a:ident) => { $crate::b::c($a::d) } }"), ["crate::b::c@1"]);
    }

    #[test]
    fn code_for_tests_is_left_out() {
        for source in [
            "#[cfg(test)]\nmod tests { use crate::a::B; }",
            "#[cfg(test)]\nuse crate::a::{B, C};",
            "#[cfg(all(test, unix))]\npub(crate) fn f() -> crate::a::B { crate::a::B {} }",
            "#![cfg(test)]\nuse crate::a::B;",
            "struct S { #[cfg(test)] a: crate::a::B, b: u8 }",
            "#[cfg(test)]\nimpl<A, B> crate::a::T<A, B> for S { }",
            "#[cfg(test)]\npub(crate) const fn f<A, B>() { crate::a::b() }",
            "fn f() { match x { #[cfg(test)] Y => crate::a::b(), _ => {} } }",
            "impl S { #[cfg(test)] const A: crate::a::B = crate::a::B { }; }",
        ] {
            let scan = read(source);
            assert!(scan.uses.is_empty() && scan.paths.is_empty() && scan.children.is_empty(), "{source}: {scan:?}");
        }
        assert_eq!(paths("#[cfg(test)]\nfn f() {}\nfn g() { crate::a::h() }"), ["crate::a::h@3"]);
        assert_eq!(paths("#[cfg(any(test, unix))]\nfn f() { crate::a::h() }"), ["crate::a::h@2"]);
    }

    #[test]
    fn child_modules_are_in_braces_or_in_files() {
        let source = "mod a;\n#[cfg(unix)]\n#[path = \"other.rs\"]\npub(crate) mod b;\npub mod c { use super::a; }";
        let children = read(source).children;
        let names: Vec<_> = children.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(children[1].file.as_deref(), Some("other.rs"));
        assert!(children[0].inline.is_none() && children[2].inline.is_some());
        assert!(read(source).uses.is_empty());
    }
}
