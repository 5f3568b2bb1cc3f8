//! Rows of Chinese signs that are likely words: they come again, stand between different neighbours, and come more often
//! than their parts would by accident.

use std::collections::HashMap;

/// The longest row.
const LONGEST: usize = 4;

/// The different rows that are counted.
const ROWS: usize = 300_000;

/// Signs that hardly any term begins or ends with: particles, pronouns, conjunctions.
const PARTICLES: &str =
    "的了是在和与及或也就都而于从被把这那我你他她它们之其将着很更最但若每此还又只已让为以个些吗呢吧啊";

/// How often a row comes, and between which signs.
#[derive(Debug, Default, Clone)]
struct RowFacts {
    count: u32,
    before: [Option<char>; 3],
    after: [Option<char>; 3],
}

/// The rows of a text.
#[derive(Debug, Default)]
pub(super) struct SignRows {
    rows: HashMap<String, RowFacts>,
    signs: HashMap<char, u32>,
    total: u32,
}

/// Whether a character is a sign of Chinese writing.
pub(super) fn is_sign(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2fa1f}')
}

impl SignRows {
    /// Counts the rows of a text.
    pub(super) fn count(&mut self, text: &str, weight: u32) {
        for row in text.split(|c| !is_sign(c)).filter(|row| !row.is_empty()) {
            let signs: Vec<char> = row.chars().collect();
            for sign in &signs {
                *self.signs.entry(*sign).or_default() += weight;
                self.total = self.total.saturating_add(weight);
            }
            for length in 2..=LONGEST {
                for (at, window) in signs.windows(length).enumerate() {
                    let key: String = window.iter().collect();
                    if self.rows.len() >= ROWS && !self.rows.contains_key(&key) {
                        continue;
                    }
                    let facts = self.rows.entry(key).or_default();
                    facts.count = facts.count.saturating_add(weight);
                    // The edge of a sentence is a neighbour like any other.
                    remember(&mut facts.before, at.checked_sub(1).map_or('\0', |at| signs[at]));
                    remember(&mut facts.after, signs.get(at + length).copied().unwrap_or('\0'));
                }
            }
        }
    }

    /// The rows that are likely words, with how much they count.
    pub(super) fn terms(&self) -> Vec<(String, f64)> {
        let likely = self.rows.iter().filter(|(row, facts)| self.is_likely(row, facts));
        let likely: Vec<(&str, u32)> = likely.map(|(row, facts)| (row.as_str(), facts.count)).collect();
        let mut longer: HashMap<&str, u32> = HashMap::new();
        for (row, count) in &likely {
            for part in parts(row) {
                let most = longer.entry(part).or_default();
                *most = (*most).max(*count);
            }
        }
        // A row that comes nearly only within a longer one is a part of it.
        let whole = likely.iter().filter(|(row, count)| {
            longer.get(row).is_none_or(|of_longer| u64::from(*count) * 2 > u64::from(*of_longer) * 3)
        });
        let score = |row: &str, count: u32| f64::from(count) * (row.chars().count() as f64 / 2.0).sqrt();
        whole.map(|(row, count)| ((*row).to_owned(), score(row, *count))).collect()
    }

    fn is_likely(&self, row: &str, facts: &RowFacts) -> bool {
        let is_free = |neighbours: &[Option<char>; 3]| neighbours[1].is_some();
        let ends = [row.chars().next(), row.chars().next_back()];
        if facts.count < 2 || !is_free(&facts.before) || !is_free(&facts.after) {
            return false;
        }
        if ends.into_iter().flatten().any(|sign| PARTICLES.contains(sign))
            || row.chars().any(|sign| "的了".contains(sign))
        {
            return false;
        }
        self.cohesion(row, facts.count) >= 4.0
    }

    /// How many times more often a row comes than the two parts of it would meet by accident, at its weakest joint.
    fn cohesion(&self, row: &str, count: u32) -> f64 {
        let frequency = |part: &str| -> f64 {
            let mut signs = part.chars();
            let count = match (signs.next(), signs.next()) {
                (Some(sign), None) => self.signs.get(&sign).copied(),
                _ => self.rows.get(part).map(|facts| facts.count),
            };
            f64::from(count.unwrap_or(1).max(1))
        };
        let joints = row.char_indices().skip(1).map(|(at, _)| row.split_at(at));
        let strength =
            joints.map(|(left, right)| f64::from(count) * f64::from(self.total) / (frequency(left) * frequency(right)));
        strength.fold(f64::INFINITY, f64::min)
    }
}

/// The shorter rows within a row.
fn parts(row: &str) -> Vec<&str> {
    let places: Vec<usize> = row.char_indices().map(|(at, _)| at).chain([row.len()]).collect();
    let signs = places.len() - 1;
    let within = (2..signs).flat_map(|length| (0..=signs - length).map(move |start| (start, start + length)));
    within.map(|(start, end)| &row[places[start]..places[end]]).collect()
}

/// Remembers up to three different neighbours.
fn remember(neighbours: &mut [Option<char>; 3], sign: char) {
    if neighbours.contains(&Some(sign)) {
        return;
    }
    if let Some(free) = neighbours.iter_mut().find(|neighbour| neighbour.is_none()) {
        *free = Some(sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_within_a_longer_one_is_no_word() {
        assert_eq!(parts("火车站"), ["火车", "车站"]);
        let mut rows = SignRows::default();
        rows.count("去火车站，离火车站，火车站大", 1);
        let terms: Vec<String> = rows.terms().into_iter().map(|(row, _)| row).collect();
        assert_eq!(terms, ["火车站"]);
    }
}
