//! Where settings come from, and which of several wins.

use std::fmt;

/// Where a value comes from; the later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// The TOML file.
    File,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// A setting as it is shown: never with a secret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As it is called in the file, with its table.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) shown: String,
    /// Where that comes from.
    pub(crate) origin: Origin,
}

/// Every setting that was decided about, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Vec<Entry>);

/// What is shown of a setting that nobody has made.
pub(crate) const NOT_SET: &str = "-";

/// What is shown of a setting that was made in vain. Not what was said: it may be a secret in the wrong place.
pub(crate) const UNUSABLE: &str = "(unusable)";

impl Ledger {
    /// Decides about a setting that has a default, and writes it down.
    pub(crate) fn pick<T: fmt::Display>(
        &mut self,
        name: &'static str,
        given: Option<(T, Origin)>,
        file: Option<T>,
        default: T,
    ) -> T {
        let (value, origin) = strongest(given, file).unwrap_or((default, Origin::Default));
        self.note(name, value.to_string(), origin);
        value
    }

    /// Decides about a setting that need not be there.
    pub(crate) fn pick_if_set<T>(
        &mut self,
        name: &'static str,
        given: Option<(T, Origin)>,
        file: Option<T>,
        show: impl Fn(&T) -> String,
    ) -> Option<T> {
        let picked = strongest(given, file);
        let (shown, origin) = match &picked {
            Some((value, origin)) => (show(value), *origin),
            None => (NOT_SET.to_owned(), Origin::Default),
        };
        self.note(name, shown, origin);
        picked.map(|(value, _)| value)
    }

    /// Writes down what was decided elsewhere.
    pub(crate) fn note(&mut self, name: &'static str, shown: String, origin: Origin) {
        self.0.push(Entry { name, shown, origin });
    }

    /// Where the value of a setting comes from.
    pub(crate) fn origin(&self, name: &str) -> Origin {
        self.0.iter().find(|entry| entry.name == name).map_or(Origin::Default, |entry| entry.origin)
    }

    /// Shows that something was said about a setting and could not be used, unless something stronger was said, too.
    pub(crate) fn mark_unusable(&mut self, name: &str, origin: Origin) {
        let beaten = self.0.iter_mut().filter(|entry| entry.name == name && entry.origin < origin);
        beaten.for_each(|entry| (entry.shown, entry.origin) = (UNUSABLE.to_owned(), origin));
    }

    /// All of it.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0
    }
}

/// Flag and environment beat the file.
pub(crate) fn strongest<T>(given: Option<(T, Origin)>, file: Option<T>) -> Option<(T, Origin)> {
    given.or(file.map(|value| (value, Origin::File)))
}
