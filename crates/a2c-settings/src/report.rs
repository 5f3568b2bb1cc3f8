//! What is wrong with a text: all of it at once, each with its place and its remedy.

use std::fmt;

/// How many problems of one text are reported. More do not help, and each costs a look at the text.
const MAX_PROBLEMS: usize = 100;

/// One thing that is wrong, or was put right. It never quotes a value that could be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in that line, counted from 1.
    pub column: usize,
    /// The key it is about, such as `servers.a.args[0]`; empty for the text as a whole.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, path, what } = self;
        match path.is_empty() {
            true => write!(f, "{line}:{column}: {what}"),
            false => write!(f, "{line}:{column}: {path}: {what}"),
        }
    }
}

/// Everything that was found in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What cannot be used, in the order of the text.
    pub problems: Vec<Problem>,
    /// What is used in another way than it is written, in the order of the text.
    pub warnings: Vec<Problem>,
}

/// Collects findings while a text is read.
#[derive(Debug)]
pub struct Report<'a> {
    text: &'a str,
    problems: List,
    warnings: List,
}

#[derive(Debug, Default)]
struct List {
    found: Vec<Problem>,
    left_out: usize,
}

impl<'a> Report<'a> {
    /// An empty report on a text, which is the one that offsets count in.
    pub fn new(text: &'a str) -> Self {
        Self { text, problems: List::default(), warnings: List::default() }
    }

    /// Adds a problem at an offset.
    pub fn problem(&mut self, offset: usize, path: &str, what: impl Into<String>) {
        self.problems.add(self.text, offset, path, |_| what.into());
    }

    /// Adds a problem whose words need another place of the text: the closure gets a function from offset to line, and
    /// runs only if the problem is not one too many.
    pub fn problem_with(&mut self, offset: usize, path: &str, what: impl FnOnce(&dyn Fn(usize) -> usize) -> String) {
        self.problems.add(self.text, offset, path, what);
    }

    /// Adds a warning at an offset.
    pub fn warning(&mut self, offset: usize, path: &str, what: impl Into<String>) {
        self.warnings.add(self.text, offset, path, |_| what.into());
    }

    /// Everything that was found.
    pub fn finish(self) -> Findings {
        Findings { problems: self.problems.finish(), warnings: self.warnings.finish() }
    }
}

impl List {
    fn add(&mut self, text: &str, offset: usize, path: &str, what: impl FnOnce(&dyn Fn(usize) -> usize) -> String) {
        if self.found.len() == MAX_PROBLEMS {
            self.left_out += 1;
            return;
        }
        let (line, column) = line_and_column(text, offset);
        let what = what(&|offset| line_and_column(text, offset).0);
        self.found.push(Problem { line, column, path: path.to_owned(), what });
    }

    fn finish(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        if let (Some(last), 1..) = (self.found.last(), self.left_out) {
            let what = format!("and {} more", self.left_out);
            self.found.push(Problem { path: String::new(), what, ..last.clone() });
        }
        self.found
    }
}

/// Line and character of a byte offset, both counted from 1.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters() {
        let places = [0, 2, 3, 5, 6, 99].map(|offset| line_and_column("ab\nüx\n", offset));
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)]);
    }

    #[test]
    fn findings_are_sorted_and_bounded() {
        let text = "x\n".repeat(200);
        let mut report = Report::new(&text);
        for line in (0..200).rev() {
            report.problem(2 * line, "x", "is wrong");
        }
        report.warning(4, "x", "is odd");
        let Findings { problems, warnings } = report.finish();
        assert_eq!((problems.len(), problems[0].line, problems[99].line), (101, 101, 200));
        assert_eq!(problems[100].to_string(), "200:1: and 100 more");
        assert_eq!(warnings[0].to_string(), "3:1: x: is odd");
    }
}
