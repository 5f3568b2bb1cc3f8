//! TOML.

use ::toml::Spanned as TomlSpanned;
use ::toml::de::{DeTable, DeValue, Error};
use serde_json::Number;

use crate::spanned::{Entry, Node, Spanned, SyntaxError};

/// Parses a text; the error lists all syntax errors, at most one for each line.
pub(crate) fn parse(text: &str) -> Result<Spanned, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut errors: Vec<SyntaxError> = errors.iter().map(|error| syntax_error(text, error)).collect();
        errors.sort_by_key(|error| error.offset);
        // Later errors of a line are consequences of its first.
        errors.dedup_by_key(|error| text[..text.floor_char_boundary(error.offset)].matches('\n').count());
        return Err(errors);
    }
    let node = Node::Object(entries(table.get_ref()).map_err(|error| vec![error])?);
    Ok(Spanned { offset: 0, node })
}

fn entries(table: &DeTable<'_>) -> Result<Vec<Entry>, SyntaxError> {
    let entry = |(key, value): (&TomlSpanned<_>, &TomlSpanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok(Entry { key: name.to_string(), offset: key.span().start, value: spanned(value)? })
    };
    let mut entries = table.iter().map(entry).collect::<Result<Vec<Entry>, SyntaxError>>()?;
    entries.sort_by_key(|entry| entry.offset);
    Ok(entries)
}

fn spanned(value: &TomlSpanned<DeValue<'_>>) -> Result<Spanned, SyntaxError> {
    let offset = value.span().start;
    let no_number = || SyntaxError { offset, what: "is not a number that can be used here".into() };
    let node = match value.get_ref() {
        DeValue::String(text) => Node::String(text.to_string()),
        DeValue::Boolean(flag) => Node::Bool(*flag),
        DeValue::Datetime(_) => Node::Date,
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| no_number())?;
            Node::Number(number.into())
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            Node::Number(number.ok_or_else(no_number)?)
        }
        DeValue::Array(list) => Node::List(list.iter().map(spanned).collect::<Result<_, _>>()?),
        DeValue::Table(table) => Node::Object(entries(table)?),
    };
    Ok(Spanned { offset, node })
}

fn syntax_error(text: &str, error: &Error) -> SyntaxError {
    let offset = text.floor_char_boundary(error.span().unwrap_or_default().start);
    let message = error.message().replace('\n', ", ");
    let what = match key_of_line(text, offset) {
        Some(key) => format!("is not TOML at `{key}`: {message}"),
        None => format!("is not TOML: {message}"),
    };
    SyntaxError { offset, what }
}

/// The key that the line of an offset assigns to. Only a bare key: anything else could be part of a value.
fn key_of_line(text: &str, offset: usize) -> Option<&str> {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let (key, _) = text[start..].lines().next()?.split_once('=')?;
    let key = key.trim();
    let is_bare = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    (!key.is_empty() && key.chars().all(is_bare)).then_some(key)
}
