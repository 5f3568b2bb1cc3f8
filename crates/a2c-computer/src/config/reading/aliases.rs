//! Names that the owner gives to tools: each legal, each given once over all servers.

use std::collections::BTreeMap;

use super::fields::{Item, Problems};

/// The longest name that interfaces to language models take.
const LONGEST: usize = 64;

/// Who has which alias.
#[derive(Default)]
pub(super) struct Aliases {
    /// The path to the tool, and where it stands.
    given: BTreeMap<String, (String, usize)>,
}

impl Aliases {
    /// Takes note of an alias; one that cannot be used is a problem.
    pub(super) fn give(&mut self, item: &Item<'_>, alias: &str, problems: &mut Problems<'_>) {
        if !is_legal(alias) {
            item.wrong(
                format!("is no name for a tool: write 1 to {LONGEST} of the characters a-z, A-Z, 0-9, _ and -"),
                problems,
            );
        }
        match self.given.get(alias) {
            Some((other, at)) => problems.tell(item.value.at, &item.path, |lines| {
                let line = lines.place(*at).0;
                format!("the alias `{alias}` is already given by {other} in line {line}: give each tool its own")
            }),
            None => {
                self.given.insert(alias.to_owned(), (item.path.clone(), item.value.at));
            }
        }
    }
}

fn is_legal(alias: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=LONGEST).contains(&alias.len()) && alias.chars().all(legal)
}
