//! Aliases of tools: each is a valid name, and no two tools of all servers have the same.

use std::collections::BTreeMap;

use a2c_settings::{Field, Report};

/// The longest name that interfaces to language models take.
const MAX_LENGTH: usize = 64;

/// The aliases that were read so far.
#[derive(Default)]
pub(super) struct Aliases {
    /// The path and the offset of each.
    given: BTreeMap<String, (String, usize)>,
}

impl Aliases {
    /// Adds an alias; one that cannot be used is a problem.
    pub(super) fn add(&mut self, item: &Field<'_>, alias: &str, report: &mut Report<'_>) {
        if !is_legal(alias) {
            item.problem(
                format!("is not a name for a tool: write 1 to {MAX_LENGTH} of the characters a-z, A-Z, 0-9, _ and -"),
                report,
            );
        }
        match self.given.get(alias) {
            Some((other, offset)) => report.problem_with(item.value.offset, &item.path, |line_of| {
                let line = line_of(*offset);
                format!("the alias `{alias}` is already given by {other} in line {line}: give each tool its own")
            }),
            None => {
                self.given.insert(alias.to_owned(), (item.path.clone(), item.value.offset));
            }
        }
    }
}

fn is_legal(alias: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=MAX_LENGTH).contains(&alias.len()) && alias.chars().all(legal)
}
