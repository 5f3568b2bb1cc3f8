//! A value that knows where in its text it stands: what JSON and TOML become before anything is read from them.

use serde_json::{Map, Number, Value};

/// How deep lists and objects may be nested. A configuration needs about seven.
const DEEPEST: usize = 64;

/// A value and the byte at which it begins.
#[derive(Debug)]
pub(super) struct Spanned {
    pub(super) at: usize,
    pub(super) node: Node,
}

#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Spanned>),
    /// In the order of the text; a key may be there twice.
    Object(Vec<Entry>),
    /// Only TOML has them, and no configuration needs one.
    Date,
}

/// A key, where it begins, and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: usize,
    pub(super) value: Spanned,
}

/// What a parser has to say about a text that is not in its language.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Node {
    /// What it is, in a sentence.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Date => "a date",
        }
    }
}

impl Spanned {
    /// Refuses what is nested beyond reason, so that everything after may recurse.
    pub(super) fn within_depth(self) -> Result<Self, Unreadable> {
        match self.too_deep(0) {
            Some(at) => Err(Unreadable { at, what: format!("is nested deeper than {DEEPEST} levels") }),
            None => Ok(self),
        }
    }

    fn too_deep(&self, depth: usize) -> Option<usize> {
        match &self.node {
            Node::List(_) | Node::Object(_) if depth >= DEEPEST => Some(self.at),
            Node::List(list) => list.iter().find_map(|value| value.too_deep(depth + 1)),
            Node::Object(entries) => entries.iter().find_map(|entry| entry.value.too_deep(depth + 1)),
            _ => None,
        }
    }

    /// The value without its places. Of a key that is there twice the last counts, as it does for other readers.
    pub(super) fn to_value(&self) -> Value {
        match &self.node {
            Node::Null | Node::Date => Value::Null,
            Node::Bool(flag) => (*flag).into(),
            Node::Number(number) => number.clone().into(),
            Node::Text(text) => text.clone().into(),
            Node::List(list) => list.iter().map(Self::to_value).collect(),
            Node::Object(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

/// The lines of a text.
pub(super) struct Lines<'a> {
    text: &'a str,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text }
    }

    /// Line and character of a byte, both counted from 1.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters() {
        let lines = Lines::of("ab\nüx\n");
        let places = [0, 2, 3, 5, 6, 99].map(|at| lines.place(at));
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)]);
    }
}
