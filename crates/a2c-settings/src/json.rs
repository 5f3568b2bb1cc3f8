//! JSON, with the comments and trailing commas that people write into configuration files.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::spanned::{Entry, Node, Spanned, SyntaxError};

/// The dialect that is read: comments and trailing commas, and nothing else that is not JSON. Programs that edit the
/// text of a file parse it with the same options.
pub const DIALECT: ParseOptions = ParseOptions {
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

pub(crate) fn parse(text: &str) -> Result<Spanned, SyntaxError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &DIALECT).map_err(|error| syntax_error(&error))?;
    match parsed.value {
        Some(value) => spanned(value),
        None => Ok(Spanned { offset: 0, node: Node::Object(Vec::new()) }),
    }
}

fn spanned(value: Value<'_>) -> Result<Spanned, SyntaxError> {
    let offset = value.range().start;
    let node = match value {
        Value::NullKeyword(_) => Node::Null,
        Value::BooleanLit(flag) => Node::Bool(flag.value),
        Value::NumberLit(number) => {
            let parsed = number.value.parse().map_err(|_| SyntaxError { offset, what: "is not a number".into() })?;
            Node::Number(parsed)
        }
        Value::StringLit(text) => Node::String(text.value.into_owned()),
        Value::Array(list) => Node::List(list.elements.into_iter().map(spanned).collect::<Result<_, _>>()?),
        Value::Object(object) => Node::Object(entries(object)?),
    };
    Ok(Spanned { offset, node })
}

fn entries(object: Object<'_>) -> Result<Vec<Entry>, SyntaxError> {
    let entry = |property: jsonc_parser::ast::ObjectProp<'_>| {
        let offset = property.name.range().start;
        Ok(Entry { key: property.name.into_string(), offset, value: spanned(property.value)? })
    };
    object.properties.into_iter().map(entry).collect()
}

/// The parser's message, with a remedy where it has none.
fn syntax_error(error: &ParseError) -> SyntaxError {
    let what: String = match error.kind() {
        ParseErrorKind::ExpectedComma => "a comma is missing here".into(),
        ParseErrorKind::SingleQuotedStringsNotAllowed => "single quotes: write double quotes".into(),
        ParseErrorKind::ExpectedStringObjectProperty => "write keys in double quotes".into(),
        ParseErrorKind::UnexpectedWord => "unexpected word: write strings in double quotes".into(),
        ParseErrorKind::UnterminatedObject => "this object is not closed: a } is missing".into(),
        ParseErrorKind::UnterminatedArray => "this list is not closed: a ] is missing".into(),
        ParseErrorKind::MultipleRootJsonValues => "trailing text after the end of the JSON value".into(),
        other => {
            let message = other.to_string();
            let mut letters = message.chars();
            letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    SyntaxError { offset: error.range().start, what: format!("is not JSON: {what}") }
}
