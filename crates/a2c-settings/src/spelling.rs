//! The known word that a misspelt one stands for.

/// How alike two words have to be for one to be a misspelling of the other.
const MIN_LIKENESS: f64 = 0.8;

/// The known word that is most like this one, if any is.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let rated = known.into_iter().map(|name| (strsim::jaro_winkler(&word, &plain(name)), name));
    let (likeness, name) = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (likeness >= MIN_LIKENESS).then_some(name)
}

/// The known word of which this is certainly a misspelling: for places where other words are allowed too.
pub fn misspelling_of<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    known.iter().copied().find(|name| strsim::damerau_levenshtein(&word, &plain(name)) <= 2.min(name.len() / 4))
}

/// What to write instead of an unknown word: the nearest known one, or any of them.
pub fn remedy<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("write {}", one_of(known)),
    }
}

/// `one of ` and all words, quoted.
pub(crate) fn one_of<'a>(known: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    format!("one of {}", quoted.join(", "))
}

/// Compares `autoApply`, `auto-apply` and `auto_apply` as one word.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_and_else_all_are() {
        let known = ["auto_apply", "alias", "tags"];
        for (word, expected) in [
            ("autoApply", "did you mean `auto_apply`?"),
            ("allias", "did you mean `alias`?"),
            ("tag", "did you mean `tags`?"),
            ("zzz", "write one of `auto_apply`, `alias`, `tags`"),
        ] {
            assert_eq!(remedy(word, known), expected, "{word}");
        }
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn only_near_misses_are_misspellings() {
        let rules = ["disabled", "forbidden_tools", "tool_meta", "default_tool_meta", "vrl"];
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
            assert_eq!(misspelling_of(word, &rules), meant, "{word}");
        }
    }
}
