//! A text as a tree of values, in either language.

use std::path::Path;

use crate::field::Field;
use crate::report::{Problem, line_and_column};
use crate::spanned::{Spanned, SyntaxError};
use crate::{json, toml};

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

impl FileFormat {
    /// The language that the name of a file stands for: `.toml` is TOML, everything else is JSON.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Self::Toml,
            _ => Self::Json,
        }
    }
}

/// A parsed text.
#[derive(Debug)]
pub struct SettingsDocument<'a> {
    text: &'a str,
    root: Spanned,
}

impl<'a> SettingsDocument<'a> {
    /// Parses a text; the error lists every syntax error that the parser can find. A JSON text without a value is an
    /// empty object, as an empty TOML text is.
    ///
    /// A text may not nest deeper than 64 levels, so that its readers may recurse.
    pub fn parse(text: &'a str, format: FileFormat) -> Result<Self, Vec<Problem>> {
        let text = without_byte_order_mark(text);
        let parsed = match format {
            FileFormat::Json => json::parse(text).map_err(|error| vec![error]),
            FileFormat::Toml => toml::parse(text),
        };
        let problem = |SyntaxError { offset, what }| {
            let (line, column) = line_and_column(text, offset);
            Problem { line, column, path: String::new(), what }
        };
        match parsed.and_then(|root| root.within_depth().map_err(|error| vec![error])) {
            Ok(root) => Ok(Self { text, root }),
            Err(errors) => Err(errors.into_iter().map(problem).collect()),
        }
    }

    /// The text without its byte order mark: offsets count in it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The whole value.
    pub fn root(&self) -> Field<'_> {
        Field { path: String::new(), value: &self.root }
    }
}

/// The text without the byte order mark that editors on Windows write first.
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_become_the_same_tree() {
        let json = "\u{feff}// why\n{\"a\": {\"b\": [1, 2.5, true, \"x\"]},}";
        let toml = "[a]\nb = [1, 2.5, true, \"x\"]\n";
        let read = |text, format| SettingsDocument::parse(text, format).unwrap().root().value.to_json();
        assert_eq!(read(json, FileFormat::Json), read(toml, FileFormat::Toml));
        assert_eq!(read("", FileFormat::Json), read("", FileFormat::Toml));
        assert_eq!(read("// nothing\n", FileFormat::Json), read("# nothing\n", FileFormat::Toml));
    }

    #[test]
    fn the_file_name_tells_the_format() {
        for (name, format) in [("a.toml", FileFormat::Toml), ("a.TOML", FileFormat::Toml), ("a.json", FileFormat::Json)]
        {
            assert_eq!(FileFormat::of(Path::new(name)), format, "{name}");
        }
        assert_eq!(FileFormat::of(Path::new("toml")), FileFormat::Json);
    }

    #[test]
    fn syntax_errors_have_a_place_and_quote_no_value() {
        for (text, format, places, part) in [
            ("{\n", FileFormat::Json, &[(1, 1)][..], "not closed"),
            ("{\"a\": 1\n \"b\": 2}", FileFormat::Json, &[(1, 8)], "comma"),
            ("{\"a\": s3cret}", FileFormat::Json, &[(1, 7)], "not JSON"),
            ("{\"a\": 's3cret'}", FileFormat::Json, &[(1, 7)], "double quotes"),
            ("{} s3cret", FileFormat::Json, &[(1, 4)], "trailing"),
            ("a = 1\n[b\nc = 2\n\nd = = 3\n", FileFormat::Toml, &[(2, 3), (5, 5)], "not TOML"),
            ("a = 1\na = 2\n", FileFormat::Toml, &[(2, 1)], "at `a`: duplicate key"),
            ("a = s3cret\n", FileFormat::Toml, &[(1, 5)], "at `a`"),
            ("a = \"s3cret", FileFormat::Toml, &[(1, 12)], "at `a`"),
            ("s3cret\u{1}", FileFormat::Toml, &[(1, 7)], "not TOML"),
        ] {
            let problems = SettingsDocument::parse(text, format).unwrap_err();
            let found: Vec<_> = problems.iter().map(|problem| (problem.line, problem.column)).collect();
            assert_eq!(found, places, "{text:?}: {problems:?}");
            assert!(problems.iter().any(|problem| problem.what.contains(part)), "{part:?}: {problems:?}");
            assert!(problems.iter().all(|problem| !problem.what.contains("s3cret")), "{problems:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |open: &str, depth: usize, close: &str| format!("{}{}", open.repeat(depth), close.repeat(depth));
        assert!(SettingsDocument::parse(&nested("[", 64, "]"), FileFormat::Json).is_ok());
        for (text, format) in [
            (nested("[", 65, "]"), FileFormat::Json),
            (nested("[", 100_000, "]"), FileFormat::Json),
            (format!("a = {}", nested("[", 70, "]")), FileFormat::Toml),
            (format!("a = {}", nested("[", 100_000, "]")), FileFormat::Toml),
        ] {
            assert!(SettingsDocument::parse(&text, format).is_err());
        }
    }
}
