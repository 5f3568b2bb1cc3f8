//! Redaction: secrets are replaced wherever they occur in a text or a JSON value.
//!
//! A secret is recognised in every spelling that software on the way may give it: as it is, percent-encoded, escaped as
//! in JSON (more than once, too), and as base64 at any place of a longer base64 text. Each line of a value with several
//! lines counts by itself, because most texts arrive line by line.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use zeroize::{Zeroize as _, Zeroizing};

use crate::json_text;
use crate::secret::{REDACTED, Secret};
use crate::spelling::Text;

/// Shorter values are too likely to be part of ordinary words; and what replaces them must be shorter than they are.
const SHORTEST: usize = 4;

/// Parts of a value (a line of several, a base64 text cut at both ends) are hidden from this length on.
const SHORTEST_PART: usize = 8;

/// Common values of settings: to redact them would black out ordinary sentences.
const ORDINARY: [&str; 6] = ["true", "false", "none", "null", "info", "debug"];

/// How often a text is gone through. Only a value that holds what replaces it needs more than two rounds.
const ROUNDS: usize = 16;

/// Secrets that are replaced by [`REDACTED`] wherever they occur. Cheap to clone; wiped with the last clone.
///
/// Values shorter than four bytes and very common ones, such as `true`, are not redacted.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Needles>);

/// What is looked for, in order, and for every byte how many of them begin with a lower one: most places of a text can
/// be passed over without comparing anything.
#[derive(Default)]
struct Needles {
    sorted: Vec<Zeroizing<String>>,
    lower: Vec<usize>,
}

impl Needles {
    fn new(mut needles: Vec<Zeroizing<String>>) -> Self {
        needles.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        needles.dedup();
        let lower = (0..=u8::MAX).map(|byte| needles.partition_point(|needle| needle.as_bytes()[0] < byte));
        Self { lower: lower.collect(), sorted: needles }
    }

    fn beginning_with(&self, bytes: Range<u8>) -> &[Zeroizing<String>] {
        // No UTF-8 holds the last byte, which has nothing behind it.
        &self.sorted[self.lower[usize::from(bytes.start)]..self.lower[usize::from(bytes.end)]]
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Redacts these values, in every spelling.
    pub fn new(values: impl IntoIterator<Item = impl Into<Secret>>) -> Self {
        let mut needles: Vec<Zeroizing<String>> = Vec::new();
        for value in values {
            let value = Zeroizing::from(value.into());
            let lines =
                value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_PART && line.len() < value.len());
            needles.extend(lines.filter(|line| !line.starts_with("-----")).map(|line| Zeroizing::new(line.to_owned())));
            if value.len() >= SHORTEST && !ORDINARY.contains(&value.to_ascii_lowercase().as_str()) {
                needles.extend(base64_spellings(&value));
                needles.push(value);
            }
        }
        Self(Arc::new(Needles::new(needles)))
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.0.sorted.is_empty()
    }

    /// The text without the secrets.
    pub fn redact(&self, text: &str) -> String {
        self.hidden(text).unwrap_or_else(|| text.to_owned())
    }

    /// The text without the secrets, if it holds any.
    fn hidden(&self, text: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut hidden: Option<Zeroizing<String>> = None;
        // What stands around a redacted value may form another one with what replaced it.
        for _ in 0..ROUNDS {
            let text = hidden.as_deref().map_or(text, String::as_str);
            let found = self.occurrences(text);
            if found.is_empty() {
                return hidden.map(|mut hidden| std::mem::take(&mut *hidden));
            }
            let mut shorter = String::with_capacity(text.len());
            let mut from = 0;
            for range in found {
                shorter.push_str(&text[from..range.start]);
                shorter.push_str(REDACTED);
                from = range.end;
            }
            shorter.push_str(&text[from..]);
            hidden = Some(Zeroizing::new(shorter));
        }
        // The text was made to keep the search busy: a value is wrapped many times over. No value is as short as this.
        Some(REDACTED.to_owned())
    }

    /// Redacts a text in place. Most texts hold no secret: that is found out first, and fast.
    pub fn redact_in_place(&self, text: &mut String) {
        if self.may_be_in(text)
            && let Some(hidden) = self.hidden(text)
        {
            *text = hidden;
        }
    }

    /// Redacts every text of a JSON value, names of fields included.
    pub fn redact_json(&self, value: &mut Value) {
        match value {
            _ if self.is_empty() => {}
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => self.redact_object(fields),
            _ => {}
        }
    }

    /// Redacts every text of a JSON object, names of fields included.
    pub fn redact_object(&self, fields: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        if fields.keys().any(|key| self.may_be_in(key)) {
            let named = std::mem::take(fields).into_iter();
            *fields = named.map(|(key, field)| (self.redact(&key), field)).collect();
        }
        fields.values_mut().for_each(|field| self.redact_json(field));
    }

    /// Redacts every text of a JSON text in place, names of fields included. It takes no more memory than the text and the
    /// longest of its texts do, where a tree of it may take a hundred times as much. What is no JSON stays as it is.
    pub fn redact_json_text(&self, json: &mut String) {
        if self.is_empty() || !self.may_be_in(json) {
            return;
        }
        let mut redacted = Vec::new();
        let mut copied = 0;
        for text in json_text::texts(json) {
            let quoted = &json[text.clone()];
            // A value is recognised as it is escaped, too, unless the very characters of another spelling are escaped: most
            // texts need not be copied.
            let is_searchable = memchr::memmem::find(quoted.as_bytes(), b"\\u00").is_none();
            if !self.may_be_in(quoted) || (is_searchable && self.occurrences(quoted).is_empty()) {
                continue;
            }
            let Ok(plain) = serde_json::from_str::<String>(quoted) else { continue };
            let hidden = self.hidden(&Zeroizing::new(plain));
            if let Some(hidden) = hidden {
                redacted.reserve(json.len() - copied);
                redacted.extend_from_slice(&json.as_bytes()[copied..text.start]);
                serde_json::to_writer(&mut redacted, &hidden).expect("a text can be written into memory");
                copied = text.end;
            }
        }
        if copied > 0 {
            redacted.extend_from_slice(&json.as_bytes()[copied..]);
            json.zeroize();
            *json = String::from_utf8(redacted).expect("texts and what stands between them are UTF-8");
        }
    }

    /// Whether one of them stands in a text as it is or in base64, or could in a spelling that takes longer to find.
    fn may_be_in(&self, text: &str) -> bool {
        let text = text.as_bytes();
        memchr::memchr3(b'\\', b'%', b'+', text).is_some()
            || self.0.sorted.iter().any(|needle| memchr::memmem::find(text, needle.as_bytes()).is_some())
    }

    /// Where secrets are, in order; those that overlap are one.
    fn occurrences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let searched = Text::new(text);
        // Where the run of backslashes ends in which we are.
        let mut run = 0;
        for (start, byte) in text.bytes().enumerate() {
            let end = if matches!(byte, b'\\' | b'%' | b'+') {
                let run_begins = start >= run;
                if run_begins {
                    run = searched.backslashes(start, 1).unwrap_or(run);
                }
                let needles = searched.firsts(start, run_begins).map(|bytes| self.0.beginning_with(bytes));
                needles.into_iter().flatten().filter_map(|needle| searched.end_of(needle, start)).max()
            } else {
                // Never in the middle of a character: no value begins there.
                let needles = self.0.beginning_with(byte..byte.saturating_add(1));
                needles.iter().filter_map(|needle| searched.end_of(needle, start)).max()
            };
            let Some(end) = end else { continue };
            match found.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ => found.push(start..end),
            }
        }
        found
    }
}

/// What is recognisable of a value in base64, whatever stands before and after it in the encoded text: for each of the
/// three ways to fall on groups of three bytes, the digits that depend on the value alone.
fn base64_spellings(value: &str) -> Vec<Zeroizing<String>> {
    let mut found = Vec::new();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        found.push(Zeroizing::new(engine.encode(value)));
        for before in 0..3 {
            let mut bytes = Zeroizing::new(vec![0; before]);
            bytes.extend_from_slice(value.as_bytes());
            let digits = Zeroizing::new(engine.encode(bytes.as_slice()));
            // A digit is six bits: the first ones hold bits of what stands before, the last one of what comes after.
            let first = (before * 8).div_ceil(6);
            let last = bytes.len() * 8 / 6;
            if last.saturating_sub(first) >= SHORTEST_PART {
                found.push(Zeroizing::new(digits[first..last].to_owned()));
            }
        }
    }
    found.retain(|digits| digits.len() >= SHORTEST_PART - 2);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redactor(values: &[&str]) -> Redactor {
        Redactor::new(values.iter().copied())
    }

    #[test]
    fn values_are_hidden_in_every_spelling() {
        let check = |value: &str, text: &str, expected: &str| {
            assert_eq!(redactor(&[value]).redact(text), expected, "{value:?} in {text:?}");
        };
        check("s3cret", "the key s3cret, s3crets", "the key ***, ***s");
        check("no", "no", "no");
        check("true", "it is true", "it is true");
        check("p@ss/word", "?k=p%40ss%2Fword&x", "?k=***&x");
        check("p@ss/word", "?k=p%40ss%2fword", "?k=***");
        check("p@ss/word", "?k=p%40ss/word", "?k=***");
        check("pass word", "k=pass+word", "k=***");
        check("a\"b\\c", r#"{"k":"a\"b\\c"}"#, r#"{"k":"***"}"#);
        check("a\"b\\c", r#""{\"k\":\"a\\\"b\\\\c\"}""#, r#""{\"k\":\"***\"}""#);
        check("line\ntwo", r"line\ntwo", "***");
        check("schlüssel", r"schl\u00fcssel", "***");
        check("key😀key", r"key\ud83d\ude00key", "***");
        check("key\u{1b}key", r"key\u{1b}key", "***");
        check("correct horse", "Y29ycmVjdCBob3JzZQ==", "***==");
        // "user:" before it: four bits of it hang in the digit before.
        check("correct horse", "dXNlcjpjb3JyZWN0IGhvcnNl", "dXNlcjp***");
    }

    #[test]
    fn a_key_of_several_lines_is_hidden_line_by_line() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----\n";
        let hidden = redactor(&[key]).redact("read: kqhkiG9w0BAQ\n-----END KEY-----");
        assert_eq!(hidden, "read: ***\n-----END KEY-----");
    }

    #[test]
    fn overlapping_values_are_one() {
        assert_eq!(redactor(&["abcd", "cdef", "s3cret", "s3cret-longer"]).redact("abcdef s3cret-longer"), "*** ***");
        assert_eq!(redactor(&["a***b"]).redact("aa***bb"), "***");
    }

    #[test]
    fn results_are_scrubbed_in_every_text() {
        let mut value =
            serde_json::json!({"a": ["x s3cret-1 y", {"b": "czNjcmV0LTE="}], "s3cret-1": 1, "n": 7, "ok": "s3cre"});
        redactor(&["s3cret-1"]).redact_json(&mut value);
        let expected = serde_json::json!({"a": ["x *** y", {"b": "***="}], "***": 1, "n": 7, "ok": "s3cre"});
        assert_eq!(value, expected);
    }

    #[test]
    fn a_json_text_is_redacted_like_its_tree() {
        let redactor = redactor(&["s3cret-1", "nabcd", "12345678", "a\"b\\c"]);
        for json in [
            r#"{"a": ["x s3cret-1 y", {"b": "czNjcmV0LTE="}], "s3cret-1": 1, "n": 7, "ok": "s3cre"}"#,
            r#"{"line\nabcd": "\nabcd nabcd", "number": 12345678, "text": "12345678"}"#,
            r#"["a\"b\\c", "a\u0022b\u005cc", "{\"k\":\"a\\\"b\\\\c\"}"]"#,
            r#"["s3cret-1", "s3cret\u00251", "s3cret%\u0032d1", "s3cret\u0025\u0032d1"]"#,
            r#""s3cret-1""#,
            r#"[{"":0},{}]"#,
        ] {
            let mut tree: Value = serde_json::from_str(json).unwrap();
            redactor.redact_json(&mut tree);
            let mut text = json.to_owned();
            redactor.redact_json_text(&mut text);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), tree, "{json}");
        }
        let mut broken = r#"{"s3cret-1"#.to_owned();
        redactor.redact_json_text(&mut broken);
        assert_eq!(broken, r#"{"s3cret-1"#);
    }

    /// Lines that make a careless search slow: it would go over the rest of each from every place in it.
    #[test]
    fn what_is_meant_to_keep_the_search_busy_passes() {
        let values =
            ["TopS3cretValue42", r"\\server\share\key", "%5C%5Cx", "😀 key 😀", "u{u{key", "pass word", "a***b"];
        let redactor = redactor(&values);
        for piece in [r"\", "%5C", r"\a", r"\u{", r"\u{0", r"\ud83d", "%", "+", r"%5C\", "x", "ü"] {
            let line = piece.repeat(8100 / piece.len());
            for _ in 0..10 {
                assert!(redactor.redact(&line) == line, "{piece} repeated");
            }
        }
        let line = r"\".repeat(8100);
        for _ in 0..200 {
            assert!(redactor.redact(&line) == line);
        }
        let nested = format!("{}***{}", "a".repeat(4000), "b".repeat(4000));
        assert_eq!(redactor.redact(&nested), REDACTED);
    }

    #[test]
    fn nothing_is_printed() {
        assert_eq!(format!("{:?}", redactor(&["s3cret"])), "Redactor");
    }

    fn escaped(text: &str) -> String {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }

    fn spelt(secret: &str, how: u8) -> String {
        match how {
            0 => secret.to_owned(),
            1 => secret.bytes().map(|b| format!("%{b:02X}")).collect(),
            2 => escaped(secret),
            3 => escaped(&escaped(secret)),
            4 => STANDARD_NO_PAD.encode(secret),
            _ => URL_SAFE_NO_PAD.encode(secret),
        }
    }

    proptest! {
        #[test]
        fn hiding_leaves_no_secret_in(
            secret in r#"[a-c*+%\\"u0 ü😀/\n]{4,12}"#, other in "[a-c*]{4,6}",
            before in r#"[a-c*\\%]{0,6}"#, after in r#"[a-c*\\%]{0,6}"#, how in 0..6u8,
        ) {
            let spelling = spelt(&secret, how);
            let hidden = redactor(&[&secret, &other]).redact(&format!("{before}{spelling}{after}{other}"));
            prop_assert!(!hidden.contains(&secret), "{hidden:?}");
            prop_assert!(!hidden.contains(&other), "{hidden:?}");
            prop_assert!(hidden.contains(REDACTED));
        }

        #[test]
        fn no_place_is_passed_over_where_a_value_stands(
            values in proptest::collection::vec(r#"[a-c*+%\\"u05Cnx ü😀/\n]{4,6}"#, 1..4),
            text in r#"([a-c*+%\\"u05Cnx ü😀/{}]|%5[Cc]|%25|\\n|\\x0a|\\u0061|\\u\{fc\}|\\ud83d|\\ude00){0,40}"#,
            which in any::<prop::sample::Index>(), how in 0..6u8, at in any::<prop::sample::Index>(),
        ) {
            let redactor = redactor(&values.iter().map(String::as_str).collect::<Vec<_>>());
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            let text = format!("{}{}{}", &text[..at], spelt(&values[which.index(values.len())], how), &text[at..]);
            let hidden = redactor.redact(&text);
            for (start, _) in hidden.char_indices() {
                for needle in &redactor.0.sorted {
                    prop_assert_eq!(Text::new(&hidden).end_of(needle, start), None, "{:?} in {:?}", needle, hidden);
                }
            }
        }

        #[test]
        fn a_spelling_is_recognised_in_the_middle_of_others(
            secret in r#"[a-c%\\"u0 ü😀/\n]{6,12}"#, how in 0..6u8,
        ) {
            let spelling = spelt(&secret, how);
            let hidden = redactor(&[&secret]).redact(&format!("<{spelling}>"));
            prop_assert!(!hidden.contains(&spelling), "{hidden:?}");
        }

        #[test]
        fn base64_is_recognised_wherever_it_stands(secret in "[ -~]{9,20}", before in "[ -~]{0,5}", after in "[ -~]{0,5}") {
            let text = STANDARD_NO_PAD.encode(format!("{before}{secret}{after}"));
            let hidden = redactor(&[&secret]).redact(&text);
            prop_assert!(hidden.contains(REDACTED), "{hidden:?}");
            // At most a digit at either end, and what stands around it, is left.
            prop_assert!(hidden.len() <= REDACTED.len() + (before.len() + after.len()) * 4 / 3 + 6, "{hidden:?}");
        }

        #[test]
        fn texts_without_secrets_stay(text in "[d-z %\\\\]{0,40}") {
            prop_assert_eq!(redactor(&["aabbcc"]).redact(&text), text);
        }
    }
}
