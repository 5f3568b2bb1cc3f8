//! TOML.

use serde_json::Number;
use toml::Spanned as TomlSpanned;
use toml::de::{DeTable, DeValue};

use super::spanned::{Entry, Node, Spanned, Unreadable};

/// Reads a text; what is wrong with its syntax is told all at once, once a line.
pub(super) fn read(text: &str) -> Result<Spanned, Vec<Unreadable>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut unreadable: Vec<Unreadable> = errors.iter().map(no_toml).collect();
        unreadable.sort_by_key(|found| found.at);
        // What follows on the same line follows from the first.
        unreadable.dedup_by_key(|found| text[..text.floor_char_boundary(found.at)].matches('\n').count());
        return Err(unreadable);
    }
    let node = Node::Object(entries(table.get_ref()).map_err(|error| vec![error])?);
    Spanned { at: 0, node }.within_depth().map_err(|error| vec![error])
}

fn entries(table: &DeTable<'_>) -> Result<Vec<Entry>, Unreadable> {
    let entry = |(key, value): (&TomlSpanned<_>, &TomlSpanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok(Entry { key: name.to_string(), at: key.span().start, value: spanned(value)? })
    };
    let mut entries = table.iter().map(entry).collect::<Result<Vec<Entry>, Unreadable>>()?;
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

fn spanned(value: &TomlSpanned<DeValue<'_>>) -> Result<Spanned, Unreadable> {
    let at = value.span().start;
    let no_number = || Unreadable { at, what: "is no number that can be used here".into() };
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Text(text.to_string()),
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
    Ok(Spanned { at, node })
}

fn no_toml(error: &toml::de::Error) -> Unreadable {
    let what = format!("is not TOML: {}", error.message().replace('\n', ", "));
    Unreadable { at: error.span().unwrap_or_default().start, what }
}
