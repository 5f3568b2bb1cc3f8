//! Under which name an Agent finds a tool. Pure.
//!
//! A tool is known by its alias or by its own name. Where two servers use the same one, both get the server as a
//! prefix, so that nothing is dropped and nothing depends on which server came first. Every name fits what language
//! models' interfaces take: `^[a-zA-Z0-9_-]{1,64}$`.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

/// The longest legal name of a tool.
const MAX_NAME: usize = 64;

/// A tool that wants a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unnamed<'a> {
    pub(crate) server: &'a str,
    /// Its alias, or its own name.
    pub(crate) wished: &'a str,
}

/// Gives every tool a name of its own. A name that only one tool has, and that is legal, stays; the others get their
/// server as prefix. A prefixed name belongs to that server: a tool of another one that happens to be called so makes
/// way, so that no server can take the place of another's tool.
pub(crate) fn public_names(tools: &[Unnamed<'_>]) -> Vec<String> {
    let mut prefix: Vec<bool> = tools.iter().map(|tool| !is_legal(tool.wished)).collect();
    let name_of = |tool: &Unnamed<'_>, prefix: bool| if prefix { prefixed(tool) } else { tool.wished.to_owned() };
    loop {
        let mut uses: HashMap<String, usize> = HashMap::with_capacity(tools.len());
        for (tool, prefix) in tools.iter().zip(&prefix) {
            *uses.entry(name_of(tool, *prefix)).or_default() += 1;
        }
        let clash = |(tool, prefix): (&Unnamed<'_>, &bool)| !prefix && uses[tool.wished] > 1;
        let clashing: Vec<bool> = tools.iter().zip(&prefix).map(clash).collect();
        if !clashing.contains(&true) {
            break;
        }
        prefix.iter_mut().zip(clashing).for_each(|(prefix, clash)| *prefix |= clash);
    }
    let mut taken = HashSet::with_capacity(tools.len());
    let named = tools.iter().zip(prefix).map(|(tool, prefix)| name_of(tool, prefix));
    named.map(|name| numbered(&name, &mut taken)).collect()
}

/// Whether interfaces of language models take it for the name of a tool.
pub(crate) fn is_legal(name: &str) -> bool {
    let legal = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(legal)
}

/// `server_tool` in the narrow alphabet. One that is too long is cut, with a mark of the whole: it stays the same
/// whatever else is listed.
fn prefixed(tool: &Unnamed<'_>) -> String {
    let narrow = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let whole = format!("{}_{}", tool.server, tool.wished);
    let name: String = whole.chars().map(narrow).collect();
    if name.len() <= MAX_NAME {
        return name;
    }
    let hash = Sha256::digest(whole.as_bytes());
    format!("{}_{:02x}{:02x}{:02x}{:02x}", &name[..MAX_NAME - 9], hash[0], hash[1], hash[2], hash[3])
}

/// The name, with a number where it is taken even so: a server that lists a tool twice, or names that are alike once
/// they are legal.
fn numbered(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        let suffix = format!("_{number}");
        candidate = name.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(tools: &[(&str, &str)], expected: &[&str]) {
        let tools: Vec<_> = tools.iter().map(|(server, wished)| Unnamed { server, wished }).collect();
        assert_eq!(public_names(&tools), expected);
    }

    #[test]
    fn a_name_that_two_servers_use_gets_the_server_as_prefix() {
        check(&[("a", "read"), ("a", "only"), ("b c", "read")], &["a_read", "only", "b_c_read"]);
    }

    #[test]
    fn no_server_takes_the_place_of_anothers_tool() {
        check(
            &[("evil", "files_read"), ("files", "read"), ("notes", "read")],
            &["evil_files_read", "files_read", "notes_read"],
        );
    }

    #[test]
    fn names_are_legal_and_stay_the_same() {
        check(&[("a", "fs.read"), ("a", ""), ("a", "über")], &["a_fs_read", "a_", "a__ber"]);
        check(&[("a", "twice"), ("a", "twice")], &["a_twice", "a_twice_2"]);
        let long = "x".repeat(70);
        let alone = public_names(&[Unnamed { server: "a", wished: &long }]);
        let longer = format!("{long}y");
        let both = public_names(&[Unnamed { server: "a", wished: &longer }, Unnamed { server: "a", wished: &long }]);
        assert_eq!(alone[0], both[1]);
        assert_ne!(both[0], both[1]);
    }

    proptest! {
        #[test]
        fn every_tool_has_a_legal_name_of_its_own(tools in proptest::collection::vec(
            ("[ab_]{1,3}", "[ab_é\n]{0,4}|x{60,140}"), 1..12
        )) {
            let unnamed: Vec<_> = tools.iter().map(|(server, wished)| Unnamed { server, wished }).collect();
            let mut names = public_names(&unnamed);
            prop_assert!(names.iter().all(|name| is_legal(name)), "{names:?}");
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), tools.len());
        }
    }
}
