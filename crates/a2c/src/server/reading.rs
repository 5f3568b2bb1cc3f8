//! Reading the TOML file: everything that is wrong with it, not only the first mistake.

use std::io;
use std::path::{Path, PathBuf};

use a2c_settings::{FileFormat, Problem, Report, SettingsDocument};

use super::file::FileSettings;

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
    #[error("{}:{problem}", path.display())]
    Wrong {
        /// Which file.
        path: PathBuf,
        /// What, where, and what to write instead.
        problem: Problem,
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
    /// The file cannot be read, or is not TOML: the settings are unknown.
    pub(crate) is_lost: bool,
}

impl Reading {
    /// Reads a file. Relative paths in it start at its folder.
    pub(crate) fn of(path: &Path) -> Self {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) => {
                let errors = vec![FileError::Unreadable { path: path.to_owned(), source }];
                return Self { errors, is_lost: true, ..Self::default() };
            }
        };
        let Parsed { mut settings, problems, is_toml } = parse(&text);
        if let Some(folder) = path.parent() {
            settings.start_paths_at(folder);
        }
        let wrong = problems.iter().map(|problem| problem.path.clone()).collect();
        let error = |problem| FileError::Wrong { path: path.to_owned(), problem };
        Self { settings, errors: problems.into_iter().map(error).collect(), wrong, is_lost: !is_toml }
    }
}

/// The settings of a text without its mistakes.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) settings: FileSettings,
    pub(crate) problems: Vec<Problem>,
    pub(crate) is_toml: bool,
}

/// Reads the text of a file.
pub(crate) fn parse(text: &str) -> Parsed {
    let document = match SettingsDocument::parse(text, FileFormat::Toml) {
        Ok(document) => document,
        Err(problems) => return Parsed { settings: FileSettings::default(), problems, is_toml: false },
    };
    let mut report = Report::new(document.text());
    let top = document.root().object(&mut report);
    let settings = top.map(|top| FileSettings::read(&top, &mut report)).unwrap_or_default();
    Parsed { settings, problems: report.finish().problems, is_toml: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str, line: usize, parts: &[&str]) {
        let problems = parse(text).problems;
        let [problem] = &*problems else { panic!("{text}: {problems:?}") };
        assert_eq!(problem.line, line, "{problem}");
        let what = problem.to_string();
        for part in parts {
            assert!(what.contains(part), "{part:?} is not in: {what}");
        }
        assert!(!what.contains("s3cret") && !what.contains('\n'), "{what}");
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_the_remedy() {
        wrong("lisen = \"127.0.0.1:1\"", 1, &["lisen: unknown key", "did you mean `listen`?"]);
        wrong("# x\n\n[limits]\nmax_paylod = 1\n", 4, &["limits.max_paylod", "`max_payload`"]);
        wrong("[auth]\nkind = \"none\"\n[tsl]\n", 3, &["tsl:", "`tls`"]);
        wrong("token = \"s3cret\"", 1, &["token:", "`token` under [auth]"]);
        wrong("[tls]\ntls-cert = \"x\"", 2, &["tls.tls-cert", "`cert`"]);
        wrong("[audit]\nsomething_else = 1", 2, &["audit.something_else", "`file`", "`values`"]);
        wrong("[auth]\ntokn = \"s3cret\"", 2, &["`token`"]);
        wrong("listen = \"localhost\"", 1, &["listen", "127.0.0.1:7420"]);
        wrong("listen = 7420", 1, &["listen", "is a number", "string"]);
        wrong("\nping_interval = 0", 2, &["ping_interval", "from 1 to 3600"]);
        wrong("ping_interval = \"s3cret\"", 1, &["ping_interval"]);
        wrong("[limits]\njoins_per_minute = \"s3cret\"", 2, &["joins_per_minute", "\"off\""]);
        wrong("[limits]\njoins_per_minute = -1", 2, &["joins_per_minute", "\"off\""]);
        wrong("[auth]\ntokens = [\"s3cret\"]", 2, &["tokens"]);
        wrong("[auth]\nkind = \"password\"", 2, &["auth.kind", "is unknown", "`token`", "`mtls`"]);
        wrong("[traces]\nratio = 2.0", 2, &["ratio", "from 0 to 1"]);
        wrong("[auth]\njwt_public_key = 3", 2, &["jwt_public_key", "list"]);
        wrong("[auth]\ntoken = \"s3cret", 2, &[]);
        wrong("drain = 1\ndrain = 2", 2, &["drain", "duplicate"]);
        wrong("[auth]\ntoken = s3cret", 2, &[]);
        wrong("drain", 1, &["no value"]);
        wrong("[drain]\nx = 1", 1, &["drain"]);
        wrong("auth.jwt_leeway = true", 1, &["auth.jwt_leeway"]);
        wrong("auth = {kind = \"none\", tokn = \"s3cret\"}", 1, &["auth.tokn", "`token`"]);
        wrong("[[auth.tokens]]\n[[auth.tokens]]\nlabel = 3", 3, &["auth.tokens[1].label"]);
        wrong("[log]\nlevel = \"loud\"", 2, &["log.level", "loud", "debug"]);
    }

    #[test]
    fn every_mistake_is_told_and_the_rest_counts() {
        let text = "lisen = 1\ndrain = -1\nping_timeout = 7\n[tsl]\ncert = 1\n[limits]\nmax_calls = \"many\"\n\
                    joins_per_minute = 3\n[[auth.tokens]]\nlabel = \"a\"\ntokn = 1\n[[auth.tokens]]\nlabel = \"b\"\n";
        let parsed = parse(text);
        let found: Vec<(usize, &str)> = parsed.problems.iter().map(|found| (found.line, &*found.path)).collect();
        assert_eq!(
            found,
            [(1, "lisen"), (2, "drain"), (4, "tsl"), (7, "limits.max_calls"), (11, "auth.tokens[0].tokn")]
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
        let lines: Vec<usize> = parsed.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 5]);
    }
}
