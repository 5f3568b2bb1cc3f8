//! Rust source as token trees: the files of modules, attributes, items, and which of them are for tests.
//!
//! The source is not parsed: what stands in macros is there as well.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Reads a file.
pub(crate) fn read(file: &Path) -> Result<TokenStream, String> {
    let source = fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    source.parse().map_err(|error| format!("cannot read {} as Rust: {error}", file.display()))
}

/// The file of a child module. `folder` is where the files of its parent's children are, `parent` the file that declares
/// it, and `named` the file that a `path` attribute names.
pub(crate) fn module_file(folder: &Path, parent: &Path, name: &str, named: Option<&str>) -> PathBuf {
    if let Some(named) = named {
        return parent.parent().unwrap_or(folder).join(named);
    }
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

/// An attribute that begins here: what is in its brackets, and its length (3 for one of the enclosing module).
pub(crate) fn attribute(tokens: &[TokenTree]) -> Option<(&Group, usize)> {
    let (first, rest) = tokens.split_first()?;
    if !is_punct(first, '#') {
        return None;
    }
    let inner = rest.first().is_some_and(|token| is_punct(token, '!'));
    match rest.get(usize::from(inner)) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((group, if inner { 3 } else { 2 }))
        }
        _ => None,
    }
}

/// Whether an attribute is `cfg(test)`, or a `cfg` of which `test` is one condition of all.
pub(crate) fn is_for_tests(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    matches!(&tokens[..], [TokenTree::Ident(word), TokenTree::Group(group)] if *word == "cfg" && demands_test(group))
}

fn demands_test(condition: &Group) -> bool {
    let tokens: Vec<TokenTree> = condition.stream().into_iter().collect();
    tokens.split(|token| is_punct(token, ',')).any(|part| match part {
        [TokenTree::Ident(word)] => *word == "test" || *word == "doctest",
        [TokenTree::Ident(word), TokenTree::Group(group)] => *word == "all" && demands_test(group),
        _ => false,
    })
}

/// The file that `#[path = "…"]` names.
pub(crate) fn path_attribute(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Literal(file)] if *word == "path" => {
            Some(file.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// How many tokens the item, statement, field or arm that begins here takes.
pub(crate) fn item_length(tokens: &[TokenTree]) -> usize {
    let words: Vec<String> = tokens
        .iter()
        .filter_map(|token| match token {
            TokenTree::Ident(word) if *word != "pub" => Some(word.to_string()),
            _ => None,
        })
        .take(2)
        .collect();
    let begins_with = |keywords: &[&str]| words.first().is_some_and(|word| keywords.contains(&word.as_str()));
    let is_function = words.iter().any(|word| word == "fn");
    let ends_with_semicolon = begins_with(&["use", "const", "static", "type", "let"]) && !is_function;
    let is_item = begins_with(&["struct", "enum", "union", "trait", "impl", "mod", "unsafe", "async", "extern"]);
    let has_commas = is_item || is_function || ends_with_semicolon;
    let end = tokens.iter().position(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';' || (punct.as_char() == ',' && !has_commas),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !ends_with_semicolon,
        _ => false,
    });
    end.map_or(tokens.len(), |end| end + 1)
}

/// Whether a token is this punctuation character.
pub(crate) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// The line on which a token begins.
pub(crate) fn line(span: Span) -> usize {
    span.start().line
}
