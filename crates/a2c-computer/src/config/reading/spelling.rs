//! Words for keys and values that nobody knows.

/// How alike two words have to be for one to be a slip of the other.
const ALIKE: f64 = 0.8;

/// The word that was probably meant.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let rated = known.map(|name| (strsim::jaro_winkler(&word, &plain(name)), name));
    let (likeness, name) = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (likeness >= ALIKE).then_some(name)
}

/// The word of which this is surely a misspelling, in surroundings where any other word may stand.
pub(super) fn slip_of<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    known.iter().copied().find(|name| strsim::damerau_levenshtein(&word, &plain(name)) <= 2.min(name.len() / 4))
}

/// `autoApply`, `auto-apply` and `auto_apply` are one word.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// What to write instead.
pub(super) fn remedy<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("write one of {}", known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slips_are_taken_for_a_rule() {
        let rules = crate::config::keys::RULES;
        for (word, meant) in [
            ("forbiden_tools", Some("forbidden_tools")),
            ("forbiddenTools", Some("forbidden_tools")),
            ("toolMeta", Some("tool_meta")),
            ("disabeld", Some("disabled")),
            ("disabledTools", None),
            ("enabled", None),
            ("autoApprove", None),
            ("url", None),
            ("tools", None),
        ] {
            assert_eq!(slip_of(word, rules), meant, "{word}");
        }
    }
}
