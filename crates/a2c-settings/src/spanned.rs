//! A value that knows its place in the text: what JSON and TOML become before anything is read from them.

use serde_json::{Map, Number, Value};

/// How deep lists and objects may be nested. A configuration file needs about seven levels.
const MAX_DEPTH: usize = 64;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned {
    /// The offset of its first byte in the text.
    pub offset: usize,
    /// The value.
    pub node: Node,
}

/// A value without its place.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`, which only JSON has.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Spanned>),
    /// An object or a table, in the order of the text; in JSON a key may occur twice.
    Object(Vec<Entry>),
    /// A date or time, which only TOML has. No getter takes one, so its value is not stored.
    Date,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The offset of the key's first byte in the text.
    pub offset: usize,
    /// The value.
    pub value: Spanned,
}

/// Why a text cannot be parsed.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) what: String,
}

impl Node {
    /// Its type, as a noun in a sentence.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Date => "a date",
        }
    }
}

impl Spanned {
    /// Refuses a value that is nested too deeply, so that all later code may recurse.
    pub(crate) fn within_depth(self) -> Result<Self, SyntaxError> {
        match self.too_deep(0) {
            Some(offset) => Err(SyntaxError { offset, what: format!("is nested deeper than {MAX_DEPTH} levels") }),
            None => Ok(self),
        }
    }

    fn too_deep(&self, depth: usize) -> Option<usize> {
        match &self.node {
            Node::List(_) | Node::Object(_) if depth >= MAX_DEPTH => Some(self.offset),
            Node::List(list) => list.iter().find_map(|value| value.too_deep(depth + 1)),
            Node::Object(entries) => entries.iter().find_map(|entry| entry.value.too_deep(depth + 1)),
            _ => None,
        }
    }

    /// The value as JSON; a date is `null`. The last of two equal keys counts, as it does for other readers.
    pub fn to_json(&self) -> Value {
        match &self.node {
            Node::Null | Node::Date => Value::Null,
            Node::Bool(flag) => (*flag).into(),
            Node::Number(number) => number.clone().into(),
            Node::String(text) => text.clone().into(),
            Node::List(list) => list.iter().map(Self::to_json).collect(),
            Node::Object(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}
