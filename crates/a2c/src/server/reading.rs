//! Reading the TOML file: everything that is wrong with it, not only the first thing.
//!
//! How it goes: the text becomes a table whose parts know where they are; the table becomes settings. Whatever cannot is
//! told, taken out of the table, and the rest is tried again, until the rest is good. So the settings are those of the
//! file without its mistakes. Only a text that is no TOML ends it: nobody knows what the rest of it means.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::de::{DeTable, DeValue, Deserializer};

use super::file::FileSettings;
use super::spelling;

/// The file cannot be used, or a part of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It cannot be read.
    #[error("cannot read the settings in {}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something in it is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Wrong {
        /// Which file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// What, and what to write instead.
        what: String,
    },
}

/// What a file says, as far as it can be used.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) settings: FileSettings,
    /// What is wrong, in the order of the file.
    pub(crate) errors: Vec<FileError>,
    /// The settings that are wrong, with their tables.
    pub(crate) wrong: Vec<String>,
    /// Nothing of it could be read, so that nothing can be said about what follows from it.
    pub(crate) is_lost: bool,
}

impl Reading {
    /// Reads a file. Paths in it start where the file is.
    pub(crate) fn of(path: &Path) -> Self {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) => {
                let errors = vec![FileError::Unreadable { path: path.to_owned(), source }];
                return Self { errors, is_lost: true, ..Self::default() };
            }
        };
        let Parsed { mut settings, mistakes, is_toml } = parse(&text);
        if let Some(folder) = path.parent() {
            settings.start_paths_at(folder);
        }
        let wrong = mistakes.iter().map(|mistake| mistake.name.clone()).collect();
        let told = |Mistake { line, what, .. }| FileError::Wrong { path: path.to_owned(), line, what };
        Self { settings, errors: mistakes.into_iter().map(told).collect(), wrong, is_lost: !is_toml }
    }
}

/// The settings of a text without its mistakes.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) settings: FileSettings,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) is_toml: bool,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) line: usize,
    /// The key with its table; nothing where that is not known.
    pub(crate) name: String,
    pub(crate) what: String,
}

/// Reads the text of a file.
pub(crate) fn parse(text: &str) -> Parsed {
    let (mut table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut mistakes: Vec<Mistake> = errors.iter().map(|error| no_toml(text, error)).collect();
        // What follows on the same line follows from the first.
        mistakes.sort_by_key(|mistake| mistake.line);
        mistakes.dedup_by_key(|mistake| mistake.line);
        return Parsed { settings: FileSettings::default(), mistakes, is_toml: false };
    }
    let mut mistakes = Vec::new();
    let settings = loop {
        let error = match FileSettings::deserialize(Deserializer::from(table.clone())) {
            Ok(settings) => break settings,
            Err(error) => error,
        };
        let at = error.span().unwrap_or_default();
        let taken = take_out(table.get_mut(), &at);
        let name = taken.clone().unwrap_or_default();
        let what = spelling::explain(error.message(), &name);
        mistakes.push(Mistake { line: line_of(text, &at), name, what });
        if taken.is_none() {
            break FileSettings::default();
        }
    };
    mistakes.sort_by_key(|mistake| mistake.line);
    Parsed { settings, mistakes, is_toml: true }
}

fn no_toml(text: &str, error: &toml::de::Error) -> Mistake {
    let line = line_of(text, &error.span().unwrap_or_default());
    let what = spelling::explain(error.message(), spelling::key_of(text.lines().nth(line - 1).unwrap_or_default()));
    Mistake { line, name: String::new(), what }
}

fn line_of(text: &str, at: &Range<usize>) -> usize {
    let start = at.start.min(text.len());
    text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Takes the innermost key that an error is about out of the table, and tells its name.
fn take_out(table: &mut DeTable<'_>, at: &Range<usize>) -> Option<String> {
    for (key, value) in table.iter_mut() {
        let key = key.get_ref();
        match value.get_mut() {
            DeValue::Table(inner) => {
                if let Some(name) = take_out(inner, at) {
                    return Some(format!("{key}.{name}"));
                }
            }
            DeValue::Array(list) => {
                for (index, element) in list.iter_mut().enumerate() {
                    if let DeValue::Table(inner) = element.get_mut()
                        && let Some(name) = take_out(inner, at)
                    {
                        return Some(format!("{key}[{}].{name}", index + 1));
                    }
                }
            }
            _ => {}
        }
    }
    let is_here = |span: Range<usize>| span.start <= at.start && at.start < span.end;
    let found = table.iter().find(|(key, value)| is_here(key.span()) || is_here(value.span()));
    let name = found.map(|(key, _)| key.get_ref().to_string())?;
    table.remove(name.as_str());
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str, line: usize, parts: &[&str]) {
        let mistakes = parse(text).mistakes;
        let [Mistake { line: found, what, .. }] = &*mistakes else { panic!("{text}: {mistakes:?}") };
        assert_eq!(*found, line, "{what}");
        for part in parts {
            assert!(what.contains(part), "{part:?} is not in: {what}");
        }
        assert!(!what.contains("s3cret") && !what.contains('\n'), "{what}");
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_the_remedy() {
        wrong("lisen = \"127.0.0.1:1\"", 1, &["unknown key `lisen`", "did you mean `listen`?"]);
        wrong("# x\n\n[limits]\nmax_paylod = 1\n", 4, &["`max_paylod`", "`max_payload`"]);
        wrong("[auth]\nkind = \"none\"\n[tsl]\n", 3, &["`tsl`", "`tls`"]);
        wrong("token = \"s3cret\"", 1, &["`token`", "[auth]"]);
        wrong("[tls]\ntls-cert = \"x\"", 2, &["`tls-cert`", "`cert`"]);
        wrong("[audit]\nsomething_else = 1", 2, &["`something_else`", "`file`", "`values`"]);
        wrong("[auth]\ntokn = \"s3cret\"", 2, &["`token`"]);
        wrong("listen = \"localhost\"", 1, &["listen", "127.0.0.1:7420"]);
        wrong("listen = 7420", 1, &["listen", "string"]);
        wrong("\nping_interval = 0", 2, &["ping_interval", "from 1 to 3600"]);
        wrong("ping_interval = \"s3cret\"", 1, &["ping_interval"]);
        wrong("[limits]\njoins_per_minute = \"s3cret\"", 2, &["joins_per_minute", "\"off\""]);
        wrong("[limits]\njoins_per_minute = -1", 2, &["joins_per_minute", "\"off\""]);
        wrong("[auth]\ntokens = [\"s3cret\"]", 2, &["tokens"]);
        wrong("[auth]\nkind = \"password\"", 2, &["kind", "`password`", "`token`", "`mtls`"]);
        wrong("[traces]\nratio = 2.0", 2, &["ratio", "from 0 to 1"]);
        wrong("[auth]\njwt_public_key = 3", 2, &["jwt_public_key", "list"]);
        wrong("[auth]\ntoken = \"s3cret", 2, &[]);
        wrong("drain = 1\ndrain = 2", 2, &["drain", "duplicate"]);
        wrong("[auth]\ntoken = s3cret", 2, &[]);
        wrong("drain", 1, &["drain"]);
        wrong("[drain]\nx = 1", 1, &["drain"]);
        wrong("auth.jwt_leeway = true", 1, &["auth.jwt_leeway"]);
        wrong("auth = {kind = \"none\", tokn = \"s3cret\"}", 1, &["`tokn`", "`token`"]);
        wrong("[[auth.tokens]]\n[[auth.tokens]]\nlabel = 3", 3, &["auth.tokens[2].label"]);
        wrong("[log]\nlevel = \"loud\"", 2, &["log.level", "loud", "debug"]);
    }

    #[test]
    fn every_mistake_is_told_and_the_rest_counts() {
        let text = "lisen = 1\ndrain = -1\nping_timeout = 7\n[tsl]\ncert = 1\n[limits]\nmax_calls = \"many\"\n\
                    joins_per_minute = 3\n[[auth.tokens]]\nlabel = \"a\"\ntokn = 1\n[[auth.tokens]]\nlabel = \"b\"\n";
        let parsed = parse(text);
        let found: Vec<(usize, &str)> = parsed.mistakes.iter().map(|found| (found.line, &*found.name)).collect();
        assert_eq!(
            found,
            [(1, "lisen"), (2, "drain"), (4, "tsl"), (7, "limits.max_calls"), (11, "auth.tokens[1].tokn")]
        );
        let settings = parsed.settings;
        assert_eq!(settings.ping_timeout.map(|time| time.count()), Some(7));
        assert_eq!(settings.limits.joins_per_minute.and_then(|cap| cap.0), Some(3));
        let labels: Vec<_> = settings.auth.tokens.iter().map(|token| token.label.as_deref()).collect();
        assert_eq!(labels, [Some("a"), Some("b")]);
        assert!(settings.drain.is_none() && settings.limits.max_calls.is_none());
    }

    #[test]
    fn of_a_text_that_is_no_toml_nothing_counts() {
        let parsed = parse("drain = 5\n[auth\nkind = \"none\"\n\nlisten = = 3\n");
        assert!(!parsed.is_toml && parsed.settings.drain.is_none());
        let lines: Vec<usize> = parsed.mistakes.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [2, 5]);
    }
}
