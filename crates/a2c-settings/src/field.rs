//! Values on their way into settings: each is asked for a type, and what it is instead is reported with its path.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::integer::{self, Integer};
use crate::report::Report;
use crate::spanned::{Entry, Node, Spanned};
use crate::spelling;

/// A value and the path to it.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// The keys that lead to it, such as `servers.a.args[0]`; empty for the whole text.
    pub path: String,
    /// The value.
    pub value: &'a Spanned,
}

/// The entries of an object, each key once.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    /// The keys that lead to it; empty for the whole text.
    pub path: String,
    /// Where it begins.
    pub offset: usize,
    entries: &'a [Entry],
}

/// One key of an object.
#[derive(Debug, Clone)]
pub struct Key<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it begins.
    pub offset: usize,
    /// Its value.
    pub field: Field<'a>,
}

impl<'a> Object<'a> {
    /// Whether there is such a key, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of a key; `null` counts as none.
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let is_given = !matches!(entry.value.node, Node::Null);
        is_given.then(|| Field { path: join(&self.path, key), value: &entry.value })
    }

    /// The value of a key that has to be there; if it is not, the problem says how to write it.
    pub fn require(&self, key: &str, remedy: &str, report: &mut Report<'_>) -> Option<Field<'a>> {
        let found = self.get(key);
        if found.is_none() {
            report.problem(self.offset, &join(&self.path, key), format!("is missing: {remedy}"));
        }
        found
    }

    /// Every key, in the order of the text.
    pub fn keys(&self) -> impl Iterator<Item = Key<'a>> + use<'a> {
        let path = self.path.clone();
        self.entries.iter().map(move |entry| Key {
            name: &entry.key,
            offset: entry.offset,
            field: Field { path: join(&path, &entry.key), value: &entry.value },
        })
    }

    /// Every key that is not among the known ones.
    pub fn unknown<'k>(&self, known: &'k [&[&'k str]]) -> impl Iterator<Item = Key<'a>> + use<'a, 'k> {
        self.keys().filter(move |key| !known.iter().any(|names| names.contains(&key.name)))
    }

    /// Reports every key that is not among the known ones, with the nearest of them. A known key that begins with `$`
    /// is for tools and is not suggested.
    pub fn only(&self, known: &[&[&str]], report: &mut Report<'_>) {
        self.only_besides(&[], known, report);
    }

    /// [`Object::only`], where other spellings are taken as well but nobody is led to them.
    pub fn only_besides(&self, other: &[&str], known: &[&[&str]], report: &mut Report<'_>) {
        for key in self.unknown(known).filter(|key| !other.contains(&key.name)) {
            report.problem_with(key.offset, &key.field.path, |_| {
                let names = known.iter().flat_map(|names| names.iter().copied());
                let suggested = names.filter(|name| !name.starts_with('$'));
                format!("unknown key: {}", spelling::remedy(key.name, suggested))
            });
        }
    }
}

impl<'a> Field<'a> {
    /// Reports that the value cannot be used. The words must not quote it.
    pub fn problem(&self, what: impl Into<String>, report: &mut Report<'_>) {
        report.problem(self.value.offset, &self.path, what);
    }

    /// Reports that the value has the wrong type: `is a number: write REMEDY`.
    pub fn unexpected(&self, remedy: impl Display, report: &mut Report<'_>) {
        self.problem(format!("is {}: write {remedy}", self.value.node.kind()), report);
    }

    /// An object. A key that occurs twice is a problem.
    pub fn object(&self, report: &mut Report<'_>) -> Option<Object<'a>> {
        let Node::Object(entries) = &self.value.node else {
            self.unexpected("an object, {…}", report);
            return None;
        };
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in entries {
            if let Some(earlier) = first.get(entry.key.as_str()) {
                report.problem_with(entry.offset, &join(&self.path, &entry.key), |line_of| {
                    format!("is here twice, first in line {}: keep one of them", line_of(*earlier))
                });
            } else {
                first.insert(&entry.key, entry.offset);
            }
        }
        Some(Object { path: self.path.clone(), offset: self.value.offset, entries })
    }

    /// A string.
    pub fn string(&self, report: &mut Report<'_>) -> Option<String> {
        let Node::String(text) = &self.value.node else {
            self.unexpected("a string, in quotes", report);
            return None;
        };
        Some(text.clone())
    }

    /// A string that means something; the error says what to write, and must not quote the string.
    pub fn parse<T, E: Display>(&self, parse: impl FnOnce(&str) -> Result<T, E>, report: &mut Report<'_>) -> Option<T> {
        let text = self.string(report)?;
        parse(&text).map_err(|error| self.problem(error.to_string(), report)).ok()
    }

    /// A string that is one of these names.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)], report: &mut Report<'_>) -> Option<T> {
        let names = choices.iter().map(|(name, _)| *name);
        let Node::String(text) = &self.value.node else {
            self.unexpected(spelling::one_of(names), report);
            return None;
        };
        let chosen = choices.iter().find(|(name, _)| name == text).map(|(_, value)| *value);
        if chosen.is_none() {
            self.problem(format!("is unknown: {}", spelling::remedy(text, names)), report);
        }
        chosen
    }

    /// `true` or `false`.
    pub fn boolean(&self, report: &mut Report<'_>) -> Option<bool> {
        let Node::Bool(value) = self.value.node else {
            self.unexpected("true or false, without quotes", report);
            return None;
        };
        Some(value)
    }

    /// A whole number; one outside of the range is a problem.
    pub fn integer<T: Integer>(&self, range: RangeInclusive<T>, report: &mut Report<'_>) -> Option<T> {
        let number = self.whole_number(&range, report)?;
        let found = integer::within(number, &range);
        if found.is_none() {
            self.problem(integer::not_in(&range).to_string(), report);
        }
        found
    }

    /// A whole number; one outside of the range becomes the nearest end, with a warning.
    pub fn clamped<T: Integer>(&self, range: RangeInclusive<T>, report: &mut Report<'_>) -> Option<T> {
        let (number, clamped) = integer::clamp(self.whole_number(&range, report)?, &range);
        if let Some(clamped) = clamped {
            report.warning(self.value.offset, &self.path, clamped.to_string());
        }
        Some(number)
    }

    fn whole_number<T: Integer>(&self, range: &RangeInclusive<T>, report: &mut Report<'_>) -> Option<i128> {
        let expected = integer::not_in(range);
        let Node::Number(number) = &self.value.node else {
            self.problem(format!("is {}: {expected}", self.value.node.kind()), report);
            return None;
        };
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        if whole.is_none() {
            self.problem(expected.to_string(), report);
        }
        whole
    }

    /// A number; one outside of the range is a problem.
    pub fn number(&self, range: RangeInclusive<f64>, report: &mut Report<'_>) -> Option<f64> {
        let remedy = format!("a number from {} to {}", range.start(), range.end());
        let Node::Number(number) = &self.value.node else {
            self.unexpected(remedy, report);
            return None;
        };
        let found = number.as_f64().filter(|number| range.contains(number));
        if found.is_none() {
            self.problem(format!("write {remedy}"), report);
        }
        found
    }

    /// The elements of a list, each with its index in the path.
    pub fn list(&self, report: &mut Report<'_>) -> Option<Vec<Self>> {
        let Node::List(list) = &self.value.node else {
            self.unexpected("a list, […]", report);
            return None;
        };
        let element = |(index, value)| Self { path: format!("{}[{index}]", self.path), value };
        Some(list.iter().enumerate().map(element).collect())
    }

    /// A list of strings; every element of another type is a problem.
    pub fn strings(&self, report: &mut Report<'_>) -> Option<Vec<String>> {
        let strings: Vec<Option<String>> = self.list(report)?.iter().map(|element| element.string(report)).collect();
        strings.into_iter().collect()
    }

    /// The strings of an object, with their keys for further checks; every value of another type is a problem.
    pub fn string_map(&self, report: &mut Report<'_>) -> Option<Vec<(Key<'a>, String)>> {
        let object = self.object(report)?;
        let string = |key: Key<'a>| {
            let text = key.field.string(report)?;
            Some((key, text))
        };
        let strings: Vec<Option<(Key<'a>, String)>> = object.keys().map(string).collect();
        strings.into_iter().collect()
    }
}

/// The path of a key; a key that is no word is quoted.
fn join(path: &str, key: &str) -> String {
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
    let key = if is_word { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileFormat, SettingsDocument};

    /// What a getter makes of a JSON value, and what is reported.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "expected values are literals")]
    fn check<T: PartialEq + std::fmt::Debug>(
        json: &str,
        get: impl Fn(&Field<'_>, &mut Report<'_>) -> Option<T>,
        expected: Option<T>,
        told: &str,
    ) {
        let document = SettingsDocument::parse(json, FileFormat::Json).unwrap();
        let mut report = Report::new(document.text());
        assert_eq!(get(&document.root(), &mut report), expected, "{json}");
        let findings = report.finish();
        let all: Vec<String> = findings.problems.iter().chain(&findings.warnings).map(ToString::to_string).collect();
        assert_eq!(all.join("; "), told, "{json}");
    }

    #[test]
    fn getters_take_their_type_and_report_others() {
        check("\"x\"", |field, report| field.string(report), Some("x".to_owned()), "");
        check("1", |field, report| field.string(report), None, "1:1: is a number: write a string, in quotes");
        check("true", |field, report| field.boolean(report), Some(true), "");
        check(
            "\"s3cret\"",
            |field, report| field.boolean(report),
            None,
            "1:1: is a string: write true or false, without quotes",
        );
        check(
            "[\"a\", 1]",
            |field, report| field.strings(report),
            None,
            "1:7: [1]: is a number: write a string, in quotes",
        );
        check("{}", |field, report| field.strings(report), None, "1:1: is an object: write a list, […]");
        let keys = |field: &Field<'_>, report: &mut Report<'_>| Some(field.string_map(report)?.len());
        check("{\"a\": \"x\", \"b c\": 1}", keys, None, "1:19: \"b c\": is a number: write a string, in quotes");
        check("[]", keys, None, "1:1: is a list: write an object, {…}");
    }

    #[test]
    fn strings_can_be_choices_and_have_parsers() {
        let choice = |field: &Field<'_>, report: &mut Report<'_>| field.choice(&[("token", 1), ("jwt", 2)], report);
        check("\"jwt\"", choice, Some(2), "");
        check("\"tokn\"", choice, None, "1:1: is unknown: did you mean `token`?");
        check("\"s3cret\"", choice, None, "1:1: is unknown: write one of `token`, `jwt`");
        check("7", choice, None, "1:1: is a number: write one of `token`, `jwt`");
        let parse = |field: &Field<'_>, report: &mut Report<'_>| {
            field.parse(|text| text.parse::<std::net::IpAddr>().map_err(|_| "write an IP address"), report)
        };
        check("\"::1\"", parse, Some(std::net::Ipv6Addr::LOCALHOST.into()), "");
        check("\"s3cret\"", parse, None, "1:1: write an IP address");
    }

    #[test]
    fn numbers_have_a_range() {
        let integer = |field: &Field<'_>, report: &mut Report<'_>| field.integer(1..=9_u16, report);
        check("9", integer, Some(9), "");
        for json in ["0", "10", "1.5", "-1", "99999999999999999999"] {
            check(json, integer, None, "1:1: write a whole number from 1 to 9");
        }
        check("\"5\"", integer, None, "1:1: is a string: write a whole number from 1 to 9");
        let clamped = |field: &Field<'_>, report: &mut Report<'_>| field.clamped(1..=9_u16, report);
        check("5", clamped, Some(5), "");
        check("-3", clamped, Some(1), "1:1: is below 1: 1 is used");
        check("18446744073709551615", clamped, Some(9), "1:1: is above 9: 9 is used");
        check("1.5", clamped, None, "1:1: write a whole number from 1 to 9");
        let number = |field: &Field<'_>, report: &mut Report<'_>| field.number(0.0..=1.0, report);
        check("0.25", number, Some(0.25), "");
        check("1", number, Some(1.0), "");
        check("1.1", number, None, "1:1: write a number from 0 to 1");
        check("\"1\"", number, None, "1:1: is a string: write a number from 0 to 1");
    }

    #[test]
    fn objects_report_unknown_missing_and_double_keys() {
        let read = |field: &Field<'_>, report: &mut Report<'_>| {
            let object = field.object(report)?;
            object.only(&[&["$schema", "name"], &["port"]], report);
            object.require("port", "write the port", report)?;
            object.get("name").and_then(|name| name.string(report))
        };
        check("{\"name\": \"a\", \"port\": 1}", read, Some("a".to_owned()), "");
        check("{\"$schema\": 1, \"name\": null, \"port\": 1}", read, None, "");
        check("{\"nmae\": 1, \"port\": 1}", read, None, "1:2: nmae: unknown key: did you mean `name`?");
        check("{\"q\": 1, \"port\": 1}", read, None, "1:2: q: unknown key: write one of `name`, `port`");
        check("{\"name\": \"a\"}", read, None, "1:1: port: is missing: write the port");
        let twice = "{\"port\": 1,\n\"name\": \"a\",\n\"name\": \"b\"}";
        check(twice, read, Some("a".to_owned()), "3:1: name: is here twice, first in line 2: keep one of them");
    }
}
