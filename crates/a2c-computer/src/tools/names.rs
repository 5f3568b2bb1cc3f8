//! Gives every tool a public name, under which Agents call it. Pure.
//!
//! A tool is known by its alias or by its own name. If two servers use the same name, both tools get their server as a
//! prefix, so that no tool is dropped and no name depends on which server came first. Every name fits what the interfaces
//! of language models accept: `^[a-zA-Z0-9_-]{1,64}$`.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

/// The longest legal name of a tool.
const MAX_NAME: usize = 64;

/// How many digits of a hash a marked name has: too many for a name with the same digits to be made.
const MARK: usize = 12;

/// A tool that needs a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRequest<'a> {
    pub(crate) server: &'a str,
    /// Its alias, or its own name.
    pub(crate) wished: &'a str,
    /// Whether that is an alias: a name that the owner gave stays.
    pub(crate) is_alias: bool,
}

/// How far a name is from the one that the tool wishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// It is that name.
    Wished,
    /// It has its server as prefix.
    Prefixed,
    /// It has its server as prefix, and ends in a hash of server and name.
    Marked,
}

/// Gives every tool a name of its own. An alias stays, and so does a legal name that only one tool has; the others get
/// their server as prefix. A prefixed name belongs to that server: a tool of another server that happens to have this name
/// gets a prefix too, and if the prefixed names of two servers are equal, both get a hash. So no server can take the name of
/// another server's tool.
pub(crate) fn public_names(tools: &[NameRequest<'_>]) -> Vec<String> {
    let legal = |tool: &NameRequest<'_>| match tool.is_alias || is_legal(tool.wished) {
        true => Distance::Wished,
        false => Distance::Prefixed,
    };
    let mut distances: Vec<Distance> = tools.iter().map(legal).collect();
    let names = loop {
        let names: Vec<String> = tools.iter().zip(&distances).map(|(tool, distance)| tool.at(*distance)).collect();
        let mut users: HashMap<&str, Vec<usize>> = HashMap::with_capacity(tools.len());
        for (index, name) in names.iter().enumerate() {
            users.entry(name).or_default().push(index);
        }
        let mut moved = false;
        for users in users.values().filter(|users| users.len() > 1) {
            let is_given = users.iter().any(|&user| tools[user].is_alias);
            let of_several = users.iter().any(|&user| tools[user].server != tools[users[0]].server);
            let nearest = users.iter().map(|&user| distances[user]).min();
            for &user in users {
                let next = match (distances[user], nearest) {
                    _ if tools[user].is_alias => distances[user],
                    (Distance::Wished, _) => Distance::Prefixed,
                    (Distance::Prefixed, _) if is_given => Distance::Marked,
                    // Tools that still have their wished name move first.
                    (Distance::Prefixed, Some(Distance::Prefixed)) if of_several => Distance::Marked,
                    (stays, _) => stays,
                };
                moved |= next != distances[user];
                distances[user] = next;
            }
        }
        if !moved {
            break names;
        }
    };
    let mut taken = HashSet::with_capacity(tools.len());
    names.iter().map(|name| numbered(name, &mut taken)).collect()
}

/// Whether the interfaces of language models accept it as the name of a tool.
pub(crate) fn is_legal(name: &str) -> bool {
    let legal = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(legal)
}

impl NameRequest<'_> {
    fn at(&self, distance: Distance) -> String {
        let narrow = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let prefixed = || format!("{}_{}", self.server, self.wished).chars().map(narrow).collect::<String>();
        match distance {
            Distance::Wished => self.wished.to_owned(),
            Distance::Prefixed => {
                Some(prefixed()).filter(|name| name.len() <= MAX_NAME).unwrap_or_else(|| self.marked(&prefixed()))
            }
            Distance::Marked => self.marked(&prefixed()),
        }
    }

    /// The beginning of a name, and a hash that no other tool has. It does not depend on what else is listed.
    fn marked(&self, name: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.server);
        hash.update([0]);
        hash.update(self.wished);
        let hash = hash.finalize();
        let mark: String = hash[..MARK / 2].iter().map(|byte| format!("{byte:02x}")).collect();
        // All of it is ASCII by now.
        format!("{}_{mark}", &name[..name.len().min(MAX_NAME - MARK - 1)])
    }
}

/// The name, with a number if it is taken even so: a server may list a tool twice, or two names may be equal once they
/// are legal.
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
        let tools: Vec<_> =
            tools.iter().map(|(server, wished)| NameRequest { server, wished, is_alias: false }).collect();
        assert_eq!(public_names(&tools), expected);
    }

    #[test]
    fn a_name_that_two_servers_use_gets_the_server_as_prefix() {
        check(&[("a", "read"), ("a", "only"), ("b c", "read")], &["a_read", "only", "b_c_read"]);
    }

    #[test]
    fn no_server_takes_the_name_of_anothers_tool() {
        check(
            &[("evil", "files_read"), ("files", "read"), ("notes", "read")],
            &["evil_files_read", "files_read", "notes_read"],
        );
    }

    #[test]
    fn no_server_takes_the_name_of_anothers_prefixed_tool() {
        let tools = [("git", "hub.read"), ("git_hub", "read"), ("third", "read")];
        let tools: Vec<_> =
            tools.iter().map(|(server, wished)| NameRequest { server, wished, is_alias: false }).collect();
        let names = public_names(&tools);
        assert!(names[0].starts_with("git_hub_read_") && names[1].starts_with("git_hub_read_"), "{names:?}");
        assert_ne!(names[0], names[1]);
        assert_eq!(names[2], "third_read");
        // Nor by guessing the hash.
        let guessed =
            [tools.as_slice(), &[NameRequest { server: "evil", wished: &names[1], is_alias: false }]].concat();
        let again = public_names(&guessed);
        assert_eq!(again[..3], names[..]);
        assert!(again[3].starts_with("evil_git_hub_read"), "{again:?}");
    }

    #[test]
    fn an_alias_pins_a_name() {
        let alias = |server, wished| NameRequest { server, wished, is_alias: true };
        let plain = |server, wished| NameRequest { server, wished, is_alias: false };
        let tools =
            [alias("a", "wait"), plain("a", "wait"), plain("b", "wait"), plain("c", "b_wait"), alias("d", "e_x")];
        assert_eq!(public_names(&tools), ["wait", "a_wait", "b_wait", "c_b_wait", "e_x"]);
        let prefixed = [alias("d", "e_x"), plain("e", "x"), plain("f", "x")];
        let names = public_names(&prefixed);
        assert_eq!((names[0].as_str(), names[2].as_str()), ("e_x", "f_x"));
        assert!(names[1].starts_with("e_x_"), "{names:?}");
    }

    #[test]
    fn names_are_legal_and_stay_the_same() {
        check(&[("a", "fs.read"), ("a", ""), ("a", "über")], &["a_fs_read", "a_", "a__ber"]);
        check(&[("a", "twice"), ("a", "twice")], &["a_twice", "a_twice_2"]);
        let long = "x".repeat(70);
        let alone = public_names(&[NameRequest { server: "a", wished: &long, is_alias: false }]);
        let longer = format!("{long}y");
        let both = public_names(&[
            NameRequest { server: "a", wished: &longer, is_alias: false },
            NameRequest { server: "a", wished: &long, is_alias: false },
        ]);
        assert_eq!(alone[0], both[1]);
        assert_ne!(both[0], both[1]);
    }

    proptest! {
        #[test]
        fn every_tool_has_a_legal_name_of_its_own(tools in proptest::collection::vec(
            ("[ab_]{1,3}", "[ab_é\n]{0,4}|x{60,140}"), 1..12
        )) {
            let unnamed: Vec<_> = tools.iter().map(|(server, wished)| NameRequest { server, wished, is_alias: false }).collect();
            let mut names = public_names(&unnamed);
            prop_assert!(names.iter().all(|name| is_legal(name)), "{names:?}");
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), tools.len());
        }
    }
}
