//! Objects and values on their way into the configuration: each is asked for what it should be, and what it is not is
//! told with its place and its path.

use std::collections::BTreeMap;

use super::spelling;
use crate::config::problem::Problem;
use crate::config::spanned::{Entry, Lines, Node, Spanned};

/// How many problems of a file are told. Whoever has more has another problem, and each costs a look at the text.
const MOST: usize = 100;

/// What has been found wrong so far.
pub(super) struct Problems<'a> {
    lines: Lines<'a>,
    found: Vec<Problem>,
    untold: usize,
}

impl<'a> Problems<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { lines: Lines::of(text), found: Vec::new(), untold: 0 }
    }

    /// Takes note of a problem; its words are asked for only if they are going to be read.
    pub(super) fn tell<T: Into<String>>(&mut self, at: usize, path: &str, what: impl FnOnce(&Lines<'_>) -> T) {
        if self.found.len() == MOST {
            self.untold += 1;
            return;
        }
        let (line, column) = self.lines.place(at);
        self.found.push(Problem { line, column, path: path.to_owned(), what: what(&self.lines).into() });
    }

    /// All of them, in the order of the text.
    pub(super) fn into_list(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        if let (Some(last), 1..) = (self.found.last(), self.untold) {
            let what = format!("and {} more", self.untold);
            self.found.push(Problem { path: String::new(), what, ..last.clone() });
        }
        self.found
    }
}

/// The path of a key; a key that is no word is quoted.
pub(super) fn join(path: &str, key: &str) -> String {
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
    let key = if is_word { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// A value and the path to it.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) path: String,
    pub(super) value: &'a Spanned,
}

/// The entries of an object, each key once.
pub(super) struct Fields<'a> {
    pub(super) path: String,
    pub(super) at: usize,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// Whether there is such a key, whatever its value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of a key; `null` is as good as none.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let is_given = !matches!(entry.value.node, Node::Null);
        is_given.then(|| Item { path: join(&self.path, key), value: &entry.value })
    }

    /// The value of a key that has to be there.
    pub(super) fn need(&self, key: &str, remedy: &str, problems: &mut Problems<'_>) -> Option<Item<'a>> {
        let found = self.get(key);
        if found.is_none() {
            problems.tell(self.at, &join(&self.path, key), |_| format!("is missing: {remedy}"));
        }
        found
    }

    /// Every key with the place where it stands.
    pub(super) fn each(&self) -> impl Iterator<Item = (&'a str, usize, Item<'a>)> {
        let path = self.path.clone();
        self.entries.iter().map(move |entry| {
            (entry.key.as_str(), entry.at, Item { path: join(&path, &entry.key), value: &entry.value })
        })
    }

    /// Tells every key that nobody reads: a typo must not pass for a wish.
    pub(super) fn only(&self, known: &[&[&'static str]], problems: &mut Problems<'_>) {
        let known = known.iter().flat_map(|keys| keys.iter().copied());
        for (key, at, item) in self.each() {
            if !known.clone().any(|name| name == key) {
                let known = known.clone().filter(|name| !name.starts_with('$'));
                problems.tell(at, &item.path, |_| format!("unknown key: {}", spelling::remedy(key, known)));
            }
        }
    }
}

impl<'a> Item<'a> {
    pub(super) fn wrong(&self, what: impl Into<String>, problems: &mut Problems<'_>) {
        problems.tell(self.value.at, &self.path, |_| what);
    }

    fn unexpected(&self, remedy: &str, problems: &mut Problems<'_>) {
        self.wrong(format!("is {}: write {remedy}", self.value.node.kind()), problems);
    }

    pub(super) fn object(&self, problems: &mut Problems<'_>) -> Option<Fields<'a>> {
        let Node::Object(entries) = &self.value.node else {
            self.unexpected("an object, {…}", problems);
            return None;
        };
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in entries {
            match first.get(entry.key.as_str()) {
                Some(at) => {
                    problems.tell(entry.at, &join(&self.path, &entry.key), |lines| {
                        format!("is here twice, first in line {}: keep one of them", lines.place(*at).0)
                    });
                }
                None => {
                    first.insert(&entry.key, entry.at);
                }
            }
        }
        Some(Fields { path: self.path.clone(), at: self.value.at, entries })
    }

    pub(super) fn text(&self, problems: &mut Problems<'_>) -> Option<String> {
        match &self.value.node {
            Node::Text(text) => Some(text.clone()),
            _ => {
                self.unexpected("a text, in quotes", problems);
                None
            }
        }
    }

    pub(super) fn flag(&self, problems: &mut Problems<'_>) -> Option<bool> {
        match self.value.node {
            Node::Bool(flag) => Some(flag),
            _ => {
                self.unexpected("true or false, without quotes", problems);
                None
            }
        }
    }

    pub(super) fn list(&self, problems: &mut Problems<'_>) -> Option<Vec<Self>> {
        let Node::List(list) = &self.value.node else {
            self.unexpected("a list, […]", problems);
            return None;
        };
        let item = |(index, value)| Self { path: format!("{}[{index}]", self.path), value };
        Some(list.iter().enumerate().map(item).collect())
    }

    pub(super) fn texts(&self, problems: &mut Problems<'_>) -> Option<Vec<String>> {
        let list = self.list(problems)?;
        Some(list.iter().filter_map(|item| item.text(problems)).collect())
    }

    /// The texts of an object by key, with their items for closer inspection.
    pub(super) fn named_texts(&self, problems: &mut Problems<'_>) -> Option<Vec<(&'a str, usize, Self, String)>> {
        let fields = self.object(problems)?;
        let text = |(key, at, item): (&'a str, usize, Self)| {
            let text = item.text(problems)?;
            Some((key, at, item, text))
        };
        Some(fields.each().filter_map(text).collect())
    }
}
