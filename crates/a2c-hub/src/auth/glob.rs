//! Patterns for the names of offices and members.

use std::str::Chars;

/// A pattern for names: `*` matches any text, also an empty one, `?` one character, everything else itself.
///
/// There is no escape character; use `?` to match a `*` in a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Box<str>);

impl Glob {
    /// A pattern; every text is valid.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.into())
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern matches the whole name.
    ///
    /// Only the last `*` backtracks: a later match of the text between two stars cannot help the rest. So the work is
    /// bounded by the length of the pattern times the length of the name.
    pub fn matches(&self, name: &str) -> bool {
        let (mut pattern, mut name) = (self.0.chars(), name.chars());
        let mut star: Option<Star<'_, '_>> = None;
        loop {
            let here = name.clone();
            match (pattern.next(), name.next()) {
                (Some('*'), _) => {
                    star = Some(Star { pattern: pattern.clone(), name: here.clone() });
                    name = here;
                }
                (Some('?'), Some(_)) => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                (None, None) => return true,
                _ => {
                    let Some(star) = &mut star else { return false };
                    // The star matches one character more.
                    if star.name.next().is_none() {
                        return false;
                    }
                    (pattern, name) = (star.pattern.clone(), star.name.clone());
                }
            }
        }
    }
}

impl From<&str> for Glob {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

impl From<String> for Glob {
    fn from(pattern: String) -> Self {
        Self(pattern.into())
    }
}

/// Where matching continues when the text after a star does not match.
struct Star<'p, 'n> {
    /// The pattern after the star.
    pattern: Chars<'p>,
    /// The part of the name that the star has not matched.
    name: Chars<'n>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, fits, does_not_fit) in [
            ("", &[""][..], &["a"][..]),
            ("team", &["team"], &["", "tea", "teams", "Team", "a team"]),
            ("*", &["", "a", "a*b", "日本"], &[]),
            ("***", &["", "a"], &[]),
            ("?", &["a", "*", "日"], &["", "ab"]),
            ("team-*", &["team-", "team-a", "team-a-b"], &["team", "my-team-a"]),
            ("*-prod", &["-prod", "a-prod", "a-prod-prod"], &["prod", "a-prod-"]),
            ("*-prod-*", &["a-prod-b", "-prod--prod-"], &["a-prod", "prod-b"]),
            ("a*b?c*", &["abxc", "a-b-b-c", "abbbc"], &["abc", "abxd", "xabxc"]),
            ("日?*", &["日本", "日本語"], &["日", "本日"]),
            ("a.c", &["a.c"], &["abc"]),
            ("[ab]\\*", &["[ab]\\", "[ab]\\x"], &["a", "[ab]*"]),
        ] {
            for name in fits {
                assert!(Glob::new(pattern).matches(name), "{pattern:?} should fit {name:?}");
            }
            for name in does_not_fit {
                assert!(!Glob::new(pattern).matches(name), "{pattern:?} should not fit {name:?}");
            }
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        // Trying every split of the name between the stars would never end.
        let pattern = format!("{}b", "*a".repeat(64));
        let name = "a".repeat(4096);
        assert!(!Glob::new(&pattern).matches(&name));
        assert!(!Glob::new("*a*a*a*a*a*b").matches(&name));
        assert!(Glob::new(&pattern).matches(&format!("{name}b")));
    }

    /// The definition, without regard to speed.
    fn fits(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => fits(rest, name) || (!name.is_empty() && fits(pattern, &name[1..])),
            (['?', rest @ ..], [_, others @ ..]) => fits(rest, others),
            ([wanted, rest @ ..], [found, others @ ..]) => wanted == found && fits(rest, others),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_fits_what_its_definition_says(pattern in "[ab?*]{0,9}", name in "[ab]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Glob::new(&pattern).matches(&name), fits(&chars(&pattern), &chars(&name)));
        }
    }
}
