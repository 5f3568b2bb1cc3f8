//! Which of several sources decides a setting: a flag, the environment, the file, or the default.

use std::fmt;

/// Where a value comes from; a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// No source gives a value.
    Default,
    /// The file.
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

/// A value and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// What each source says about one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers<T> {
    /// The value of the flag.
    pub flag: Option<T>,
    /// The value of the environment variable.
    pub environment: Option<T>,
    /// The value in the file.
    pub file: Option<T>,
}

impl<T> Default for Layers<T> {
    fn default() -> Self {
        Self { flag: None, environment: None, file: None }
    }
}

impl<T> Layers<T> {
    /// The value of the strongest source, if any has one.
    pub fn strongest(self) -> Option<Setting<T>> {
        let sources = [(self.flag, Origin::Flag), (self.environment, Origin::Environment), (self.file, Origin::File)];
        sources.into_iter().find_map(|(value, origin)| Some(Setting { value: value?, origin }))
    }

    /// The value of the strongest source, or the default.
    pub fn or(self, default: T) -> Setting<T> {
        self.strongest().unwrap_or(Setting { value: default, origin: Origin::Default })
    }
}

/// One line of an [`Overview`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewRow {
    /// The name of the setting.
    pub name: &'static str,
    /// Its value, without secrets.
    pub shown: String,
    /// Where the value comes from.
    pub origin: Origin,
}

/// Every setting with its value and its origin, to be shown: never with a secret in it.
#[derive(Debug, Clone, Default)]
pub struct Overview(Vec<OverviewRow>);

impl Overview {
    /// The text for a setting without a value.
    pub const NOT_SET: &'static str = "-";

    /// The text for a setting whose value cannot be used. The value itself may be a secret in the wrong place.
    pub const UNUSABLE: &'static str = "(unusable)";

    /// Decides a setting that has a default, and adds its row.
    pub fn pick<T: fmt::Display>(&mut self, name: &'static str, layers: Layers<T>, default: T) -> T {
        let Setting { value, origin } = layers.or(default);
        self.add(name, value.to_string(), origin);
        value
    }

    /// Decides a setting that may have no value, and adds its row. `show` leaves secrets out.
    pub fn pick_if_set<T>(
        &mut self,
        name: &'static str,
        layers: Layers<T>,
        show: impl FnOnce(&T) -> String,
    ) -> Option<T> {
        let picked = layers.strongest();
        match &picked {
            Some(Setting { value, origin }) => self.add(name, show(value), *origin),
            None => self.add(name, Self::NOT_SET.to_owned(), Origin::Default),
        }
        picked.map(|setting| setting.value)
    }

    /// Adds a row for a setting that was decided elsewhere.
    pub fn add(&mut self, name: &'static str, shown: String, origin: Origin) {
        self.0.push(OverviewRow { name, shown, origin });
    }

    /// Where the value of a setting comes from.
    pub fn origin(&self, name: &str) -> Origin {
        self.0.iter().find(|row| row.name == name).map_or(Origin::Default, |row| row.origin)
    }

    /// Shows that a source gives a value that cannot be used, unless a stronger source gives one that can.
    pub fn mark_unusable(&mut self, name: &str, origin: Origin) {
        let weaker = self.0.iter_mut().filter(|row| row.name == name && row.origin < origin);
        weaker.for_each(|row| (row.shown, row.origin) = (Self::UNUSABLE.to_owned(), origin));
    }

    /// All rows, in the order in which they were decided.
    pub fn rows(&self) -> &[OverviewRow] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        for (flag, environment, file, expected) in [
            (Some(1), Some(2), Some(3), (1, Origin::Flag)),
            (None, Some(2), Some(3), (2, Origin::Environment)),
            (None, None, Some(3), (3, Origin::File)),
            (None, None, None, (4, Origin::Default)),
        ] {
            let Setting { value, origin } = Layers { flag, environment, file }.or(4);
            assert_eq!((value, origin), expected);
        }
        assert_eq!(Layers::<u8>::default().strongest(), None);
    }

    #[test]
    fn the_overview_shows_values_origins_and_what_cannot_be_used() {
        let mut overview = Overview::default();
        overview.pick("drain", Layers { file: Some(3), ..Layers::default() }, 10);
        overview.pick("limit", Layers { flag: Some(3), ..Layers::default() }, 10);
        overview.pick_if_set("token", Layers { environment: Some("s3cret"), ..Layers::default() }, |_| "***".into());
        overview.pick_if_set("audit", Layers::<&str>::default(), ToString::to_string);
        overview.mark_unusable("drain", Origin::Environment);
        overview.mark_unusable("limit", Origin::Environment);
        overview.mark_unusable("audit", Origin::File);
        let rows: Vec<String> =
            overview.rows().iter().map(|row| format!("{} {} {}", row.name, row.shown, row.origin)).collect();
        assert_eq!(
            rows,
            ["drain (unusable) environment", "limit 3 flag", "token *** environment", "audit (unusable) file"]
        );
        assert_eq!((overview.origin("token"), overview.origin("other")), (Origin::Environment, Origin::Default));
    }
}
