//! JSON, with the comments and trailing commas that people write into configuration files.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::spanned::{Entry, Node, Spanned, Unreadable};

/// Comments and trailing commas, and nothing else that is not JSON.
pub(super) const DIALECT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn read(text: &str) -> Result<Spanned, Unreadable> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &DIALECT).map_err(|error| no_json(&error))?;
    match parsed.value {
        Some(value) => spanned(value)?.within_depth(),
        None => Err(Unreadable { at: 0, what: "is empty: write {\"servers\": {\"NAME\": {…}}}".into() }),
    }
}

fn spanned(value: Value<'_>) -> Result<Spanned, Unreadable> {
    let at = value.range().start;
    let node = match value {
        Value::NullKeyword(_) => Node::Null,
        Value::BooleanLit(flag) => Node::Bool(flag.value),
        Value::NumberLit(number) => {
            let parsed = number.value.parse().map_err(|_| Unreadable { at, what: "is no number".into() })?;
            Node::Number(parsed)
        }
        Value::StringLit(text) => Node::Text(text.value.into_owned()),
        Value::Array(list) => Node::List(list.elements.into_iter().map(spanned).collect::<Result<_, _>>()?),
        Value::Object(object) => Node::Object(entries(object)?),
    };
    Ok(Spanned { at, node })
}

fn entries(object: Object<'_>) -> Result<Vec<Entry>, Unreadable> {
    let entry = |property: jsonc_parser::ast::ObjectProp<'_>| {
        let at = property.name.range().start;
        Ok(Entry { key: property.name.into_string(), at, value: spanned(property.value)? })
    };
    object.properties.into_iter().map(entry).collect()
}

/// The parser's words, with a remedy where they alone do not help.
fn no_json(error: &ParseError) -> Unreadable {
    let what: String = match error.kind() {
        ParseErrorKind::ExpectedComma => "a comma is missing here".into(),
        ParseErrorKind::SingleQuotedStringsNotAllowed => "single quotes: write double quotes".into(),
        ParseErrorKind::ExpectedStringObjectProperty => "a key has to stand in double quotes".into(),
        ParseErrorKind::UnexpectedWord => "unexpected word: a text has to stand in double quotes".into(),
        ParseErrorKind::UnterminatedObject => "this object is not closed: a } is missing".into(),
        ParseErrorKind::UnterminatedArray => "this list is not closed: a ] is missing".into(),
        ParseErrorKind::MultipleRootJsonValues => "trailing text after the end of the JSON value".into(),
        other => {
            let told = other.to_string();
            let mut letters = told.chars();
            letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    Unreadable { at: error.range().start, what: format!("is not JSON: {what}") }
}
