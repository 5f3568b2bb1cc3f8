//! Words for mistakes in the TOML file.

use super::names;

/// How alike two words have to be for one to be a slip of the other.
const ALIKE: f64 = 0.8;

/// What the parser said about a key, in one line and with what to write instead, but without any value of the file.
pub(crate) fn explain(message: &str, name: &str) -> String {
    if let Some(unknown) = message.strip_prefix("unknown field `") {
        // `x`, expected one of `a`, `b`
        let mut words = unknown.split('`').step_by(2);
        let key = words.next().unwrap_or_default();
        let known: Vec<&str> = unknown.split('`').skip(2).step_by(2).collect();
        return unknown_key(key, &known);
    }
    let what = without_values(message).replace('\n', ", ");
    if name.is_empty() { what } else { format!("{name}: {what}") }
}

/// The key that a line is about; nothing if it is not surely a key.
pub(crate) fn key_of(line: &str) -> &str {
    let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
    if is_key(key) { key } else { "" }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    let plain = key.replace('-', "_").to_lowercase();
    let of_flag = names::keys_of_flag(&plain).map(|(_, name)| name).find(|name| known.contains(name));
    if let Some(name) = of_flag.or_else(|| nearest(&plain, known)) {
        return format!("unknown key `{key}`: did you mean `{name}`?");
    }
    let place = |table: &str| if table.is_empty() { "the top of the file".to_owned() } else { format!("[{table}]") };
    let elsewhere: Vec<String> = match names::keys_of_flag(&plain).next() {
        Some((table, name)) => vec![format!("`{name}` under {}", place(table))],
        None => names::tables_with(&plain).map(|table| format!("`{plain}` under {}", place(table))).collect(),
    };
    if !elsewhere.is_empty() {
        return format!("unknown key `{key}` here: write {}", elsewhere.join(" or "));
    }
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("unknown key `{key}`: there are {}", known.join(", "))
}

fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let rated = known.iter().map(|name| (strsim::jaro_winkler(word, name), *name));
    let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// A bare key, perhaps with its table: nothing that could be a part of a value.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c))
}

/// The parser quotes a text that it did not expect.
fn without_values(message: &str) -> String {
    let Some((before, rest)) = message.split_once("string \"") else { return message.to_owned() };
    // The last one: there may be quotes in the text.
    match rest.rsplit_once("\", expected") {
        Some((_, expected)) => format!("{before}string, expected{expected}"),
        None => format!("{before}string"),
    }
}
