//! What "case-insensitive" means in the Finder.

use a2c_protocol::context::DpeDocumentSummary;
use unicase::UniCase;

/// The text without its differences of case: the full case folding of Unicode.
///
/// Folding and not lower case, because a search is about parts of words: folding maps each character by itself, so
/// that what is part of a text is part of the folded text too. Lower case looks at the neighbours of a sigma, and keeps
/// `ß` and `SS` apart. The dotted `İ` folds to an `i` and a combining dot, as Unicode has it for all languages but
/// Turkish. Different ways to compose the same letter (`é` as one character or as two) stay different.
pub(super) fn fold(text: &str) -> String {
    UniCase::new(text).to_folded_case()
}

/// The folded texts in which a keyword is looked for, each by itself: title, keywords, summary.
///
/// The document's keywords count as one text with spaces between them, so that `annual report` finds a document with
/// the keywords `annual` and `report`, as the protocol's guide has it.
pub(super) fn searchable(document: &DpeDocumentSummary) -> [String; 3] {
    let keywords = document.keywords.as_deref().unwrap_or_default().join(" ");
    [fold(&document.title), fold(&keywords), fold(document.summary.as_deref().unwrap_or_default())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_in_any_script() {
        for (text, part) in [
            ("Annual REPORT", "report"),
            ("annual report", "RePoRt"),
            ("Übersicht", "übER"),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
            ("ὈΔΥΣΣΕΎΣ ὈΔΥΣΣΕΎΣ", "ύς ὀ"),
            ("σοφός", "ΣΟΦΌΣ"),
            ("ΣΟΦΌΣ", "σοφό"),
            ("σοφόσ", "ός"),
            ("STRASSE", "straße"),
            ("Straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("Straße", "ẞ"),
            ("İstanbul", "i̇stanbul"),
            ("İSTANBUL", "İstanbul"),
            ("ПРИВЕТ", "привет"),
            ("ﬁnance", "FI"),
            ("K", "k"), // the Kelvin sign
            ("财务年报", "年报"),
        ] {
            assert!(fold(text).contains(&fold(part)), "{part} in {text}");
        }
        for (text, part) in [("istanbul", "İ"), ("ı", "i"), ("resume", "é"), ("é", "e\u{301}")] {
            assert!(!fold(text).contains(&fold(part)), "{part} in {text}");
        }
    }
}
