//! The words that a text is about, by counting. Pure.
//!
//! Words of scripts with blanks are counted as they are, forms of one word together, and pairs that often stand side by side
//! as one term. Chinese has no blanks: what counts is every row of two to four signs that comes again, between different
//! neighbours, and is no accident of its parts (see `sign_rows`). A dictionary would find more: `jieba-rs` 0.11 was measured
//! at 113 s of processor time and 36 crates to build, 3 MB in the program, 33 MB of memory and 0.4 s when it is first used,
//! which is too much for words that are only hints.

mod sign_rows;
mod stop_words;

use std::collections::HashMap;

use self::sign_rows::SignRows;
use self::stop_words::is_stop_word;
use crate::words::WeightedText;

/// The characters of a text that are looked at.
const LOOKED_AT: usize = 400_000;

/// The different words that are counted.
const WORDS: usize = 50_000;

/// A word and its forms.
#[derive(Debug, Default)]
struct CountedWord {
    count: u32,
    /// How often it begins with a capital where it need not.
    capitals: u32,
    /// The form that came most often, and how often.
    shown: String,
    forms: Vec<(String, u32)>,
}

/// A term with how much it counts.
struct Term {
    text: String,
    score: f64,
}

/// The terms that these texts are about, the most important first.
pub fn keywords(texts: &[WeightedText<'_>], most: usize) -> Vec<String> {
    let (mut words, mut pairs) = (HashMap::new(), HashMap::new());
    let (mut signs, mut left) = (SignRows::default(), LOOKED_AT);
    for WeightedText { text, weight } in texts {
        let end = text.char_indices().nth(left).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        left -= text.chars().count().min(left);
        count_words(text, *weight, &mut words, &mut pairs);
        signs.count(text, *weight);
        if left == 0 {
            break;
        }
    }
    let mut terms = word_terms(words, &pairs);
    terms.extend(signs.terms().into_iter().map(|(text, score)| Term { text, score }));
    // Alike scores are in the order of the alphabet, so that a text always has the same keywords.
    terms.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.text.cmp(&b.text)));
    terms.into_iter().take(most).map(|term| term.text).collect()
}

fn count_words(
    text: &str,
    weight: u32,
    words: &mut HashMap<String, CountedWord>,
    pairs: &mut HashMap<(String, String), u32>,
) {
    let mut former: Option<String> = None;
    let mut begins_sentence = true;
    for piece in text.split_inclusive(|c: char| !is_letter(c)) {
        let word = piece.trim_end_matches(|c: char| !is_letter(c)).trim_matches(['-', '\'', '’']);
        let separator = &piece[piece.trim_end_matches(|c: char| !is_letter(c)).len()..];
        let lower = word.to_lowercase();
        let counts = lower.chars().count() >= 3 && !is_stop_word(&lower) && lower.chars().any(char::is_alphabetic);
        if counts && (words.len() < WORDS || words.contains_key(&lower)) {
            let entry = words.entry(lower.clone()).or_default();
            entry.count = entry.count.saturating_add(weight);
            let is_capital = word.chars().next().is_some_and(char::is_uppercase);
            entry.capitals += if is_capital && !begins_sentence { weight } else { 0 };
            match entry.forms.iter().position(|(form, _)| form == word) {
                Some(at) => entry.forms[at].1 += weight,
                None if entry.forms.len() < 8 => entry.forms.push((word.to_owned(), weight)),
                None => {}
            }
            if let Some(former) = former.take()
                && pairs.len() < WORDS
            {
                *pairs.entry((former, lower.clone())).or_default() += weight;
            }
            former = Some(lower).filter(|_| separator == " ");
        } else if !word.is_empty() || separator.trim() != "" {
            former = None;
        }
        begins_sentence = (begins_sentence && word.is_empty()) || separator.contains(['.', '!', '?', ':', '\n']);
    }
}

/// Whether a character belongs to a word that stands between blanks.
fn is_letter(c: char) -> bool {
    (c.is_alphanumeric() || matches!(c, '-' | '\'' | '’')) && !sign_rows::is_sign(c) && !is_kana(c)
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

fn word_terms(mut words: HashMap<String, CountedWord>, pairs: &HashMap<(String, String), u32>) -> Vec<Term> {
    join_forms(&mut words);
    let mut terms = Vec::new();
    let mut used: HashMap<&str, u32> = HashMap::new();
    let mut often: Vec<(&(String, String), u32)> =
        pairs.iter().filter(|(_, count)| **count >= 3).map(|(pair, count)| (pair, *count)).collect();
    often.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    for ((first, second), count) in often {
        let of = |word: &String| words.get(word).map_or(0, |word| word.count);
        // Side by side more often than alone.
        if count * 2 >= of(first).max(of(second)) && first != second {
            let shown = |word: &String| words.get(word).map_or_else(|| word.clone(), |word| word.shown.clone());
            terms.push(Term { text: format!("{} {}", shown(first), shown(second)), score: f64::from(count) * 2.2 });
            *used.entry(first).or_default() += count;
            *used.entry(second).or_default() += count;
        }
    }
    for (word, counted) in &words {
        let count = counted.count.saturating_sub(used.get(word.as_str()).copied().unwrap_or(0));
        if count < 2 {
            continue;
        }
        let length = word.chars().count() as f64;
        let is_name = counted.capitals * 2 > counted.count;
        let score = f64::from(count) * (length / 4.0).clamp(0.5, 2.0).sqrt() * if is_name { 1.3 } else { 1.0 };
        terms.push(Term { text: counted.shown.clone(), score });
    }
    terms
}

/// Counts the forms of a word with it: plurals and cases that only add an ending.
fn join_forms(words: &mut HashMap<String, CountedWord>) {
    const ENDINGS: [&str; 9] = ["s", "es", "e", "n", "en", "er", "ern", "ed", "ing"];
    let mut names: Vec<String> = words.keys().cloned().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        let stem = ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending));
        let stem = stem.filter(|stem| stem.chars().count() >= 4).find(|stem| words.contains_key(*stem));
        let Some(stem) = stem.map(str::to_owned) else { continue };
        if let Some(form) = words.remove(&name)
            && let Some(word) = words.get_mut(&stem)
        {
            word.count += form.count;
            word.capitals += form.capitals;
            word.forms.extend(form.forms);
        }
    }
    for (name, word) in words {
        let best = word.forms.iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        word.shown = best.map_or_else(|| name.clone(), |(form, _)| form.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, most: usize) -> Vec<String> {
        keywords(&[WeightedText { text, weight: 1 }], most)
    }

    #[test]
    fn an_english_text_is_about_its_nouns() {
        let text = "The harbour of the old town is full of fishing boats. Each morning the boats leave the harbour before \
            the sun is up, and the fishing crews come back at noon. The town lives from fishing: nets are mended on the \
            quay, and the market sells what the crews bring. When a storm closes the harbour, the market stays empty and \
            the crews repair their boats. A new lighthouse was built last year. The lighthouse guides the boats through \
            the narrow entrance of the harbour, and the crews trust the lighthouse more than any instrument.";
        let found = of(text, 6);
        for word in ["harbour", "boats", "lighthouse", "crews", "fishing"] {
            assert!(found.iter().any(|term| term.contains(word)), "{word} in {found:?}");
        }
        assert!(!found.iter().any(|term| ["the", "and", "from", "when"].contains(&term.as_str())), "{found:?}");
    }

    #[test]
    fn a_german_text_is_about_its_nouns() {
        let text = "Die Werkstatt repariert Fahrräder aller Art. Ein Fahrrad wird zuerst geprüft, dann bestellt die Werkstatt \
            die Ersatzteile. Viele Kunden bringen ihre Fahrräder im Frühling. Im Winter ist es ruhig, und die Werkstatt baut \
            eigene Fahrräder aus gebrauchten Ersatzteilen. Die Kunden schätzen, dass jede Rechnung erklärt wird. Wer ein \
            Fahrrad kauft, bekommt die erste Prüfung ohne Rechnung. Die Ersatzteile kommen aus der Region.";
        let found = of(text, 6);
        for word in ["Werkstatt", "Fahrr", "Ersatzteile", "Kunden"] {
            assert!(found.iter().any(|term| term.starts_with(word)), "{word} in {found:?}");
        }
        assert!(!found.iter().any(|term| ["die", "und", "wird", "ein"].contains(&term.as_str())), "{found:?}");
    }

    #[test]
    fn a_chinese_text_is_about_rows_of_signs_that_come_again() {
        let text = "这座城市正在建设新的地铁线路。地铁公司表示，新线路将连接火车站和机场。居民希望地铁线路早日开通，因为公共交通\
            一直很拥挤。火车站附近的商店也期待更多顾客。地铁公司计划在明年完成测试，测试完成以后机场和火车站之间只需要二十分钟。\
            专家认为公共交通的发展可以减少污染，也能让居民的生活更方便。机场的负责人说，公共交通是城市发展的基础。";
        let found = of(text, 8);
        for word in ["火车站", "公共交通", "机场"] {
            assert!(found.iter().any(|term| term == word), "{word} in {found:?}");
        }
        assert!(found.iter().any(|term| term.contains("地铁")), "{found:?}");
        assert!(!found.iter().any(|term| term.contains(['的', '和', '也'])), "{found:?}");
    }

    #[test]
    fn headings_count_more_and_pairs_are_terms() {
        let texts = [
            WeightedText { text: "Machine learning in practice", weight: 3 },
            WeightedText { text: "Machine learning needs data. Data is rare. Rust is fast.", weight: 1 },
        ];
        let found = keywords(&texts, 3);
        assert_eq!(found[0].to_lowercase(), "machine learning", "{found:?}");
        assert!(keywords(&[], 5).is_empty());
        assert!(of("one two three", 5).is_empty(), "what comes once says nothing");
    }

    #[test]
    fn masses_of_words_are_bounded() {
        let text: String = (0..200_000).map(|n| format!("w{n:x}z ")).collect();
        assert!(of(&text, 5).len() <= 5);
        let signs: String = (0..500_000_u32).filter_map(|n| char::from_u32(0x4e00 + n * 7 % 20_000)).collect();
        assert!(of(&signs, 5).len() <= 5);
    }
}
