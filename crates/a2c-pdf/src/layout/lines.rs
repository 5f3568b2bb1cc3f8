//! Lines out of words: what stands on one baseline, cut where a gap is wider than between words.

use super::script::text_runs_left;
use crate::content::{ContentRole, PageWord};
use crate::geometry::PageBox;

/// How far baselines of one line differ, by the size of the letters.
const BASELINE: f32 = 0.28;
/// The gap that ends a piece of a line, by the size of the letters.
const PIECE_GAP: f32 = 1.0;

/// The most words of a piece that may all be raised or lowered.
const SMALL_WORDS: usize = 6;
/// A line of more words is none that words are raised from.
const LINE_WORDS: usize = 2_000;
/// How many lines around a word may be the one that it is raised from.
const NEAR: usize = 100;

/// Words that stand together on one baseline.
#[derive(Debug, Clone)]
pub(crate) struct LinePiece {
    /// In the order in which they are read.
    pub(crate) words: Vec<PageWord>,
    pub(crate) place: PageBox,
    pub(crate) baseline: f32,
    /// The size of most letters.
    pub(crate) size: f32,
}

impl LinePiece {
    fn new(words: Vec<PageWord>) -> Option<Self> {
        let first = words.first()?;
        let mut place = first.place;
        words.iter().for_each(|word| place.add(word.place));
        let size = dominant_size(&words);
        let main = words.iter().find(|word| (word.size - size).abs() < 0.05 * size).unwrap_or(first);
        let baseline = main.baseline;
        Some(Self { words, place, baseline, size })
    }

    /// A piece of several, in their order.
    pub(super) fn joined(pieces: Vec<Self>) -> Option<Self> {
        Self::new(pieces.into_iter().flat_map(|piece| piece.words).collect())
    }

    /// Whether all of its letters are bold.
    pub(crate) fn is_bold(&self) -> bool {
        self.words.iter().all(|word| word.style.bold || !word.text.chars().any(char::is_alphanumeric))
            && self.words.iter().any(|word| word.style.bold)
    }

    /// Whether all of its letters are equally wide.
    pub(crate) fn is_fixed(&self) -> bool {
        self.words.iter().all(|word| word.style.fixed)
    }

    pub(crate) fn role(&self) -> ContentRole {
        self.words.first().map(|word| word.role).unwrap_or_default()
    }

    /// How many characters it has.
    pub(crate) fn length(&self) -> usize {
        self.words.iter().map(|word| super::script::visual_length(&word.text) + 1).sum::<usize>().saturating_sub(1)
    }
}

/// The size of most letters.
fn dominant_size(words: &[PageWord]) -> f32 {
    let mut sizes: Vec<(f32, usize)> = Vec::new();
    for word in words {
        let known = sizes.iter().position(|(size, _)| (*size - word.size).abs() < 0.25);
        match known {
            Some(at) => sizes[at].1 += word.text.len(),
            None if sizes.len() < 16 => sizes.push((word.size, word.text.len())),
            None => {}
        }
    }
    sizes.iter().max_by_key(|(_, count)| *count).map_or(1.0, |(size, _)| *size)
}

/// The pieces of lines of words that are all read in one frame.
pub(crate) fn line_pieces(mut words: Vec<PageWord>) -> Vec<LinePiece> {
    words.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.place.x0.total_cmp(&b.place.x0)));
    let mut pieces = Vec::new();
    let mut row: Vec<PageWord> = Vec::new();
    for word in words {
        let begins = row.first().is_some_and(|first| {
            (word.baseline - first.baseline).abs() > BASELINE * first.size.min(word.size).max(1.0)
        });
        if begins {
            cut_row(std::mem::take(&mut row), &mut pieces);
        }
        row.push(word);
    }
    cut_row(row, &mut pieces);
    attach_small(pieces)
}

fn cut_row(mut row: Vec<PageWord>, pieces: &mut Vec<LinePiece>) {
    row.sort_by(|a, b| a.place.x0.total_cmp(&b.place.x0));
    let mut piece: Vec<PageWord> = Vec::new();
    for word in row {
        if let Some(last) = piece.last_mut() {
            // Drawn twice, to look bold or to throw a shadow.
            let again = (word.place.x0 - last.place.x0).abs() < 0.3 * word.size && word.text == last.text;
            if again {
                last.blank_after |= word.blank_after;
                continue;
            }
            let gap = word.place.x0 - last.place.x1;
            if gap > PIECE_GAP * word.size.max(last.size) && !is_marker_gap(&piece, gap) {
                pieces.extend(LinePiece::new(in_reading_order(std::mem::take(&mut piece))));
            }
        }
        piece.push(word);
    }
    pieces.extend(LinePiece::new(in_reading_order(piece)));
}

/// Whether a gap stands between the sign of a list and its text.
fn is_marker_gap(piece: &[PageWord], gap: f32) -> bool {
    matches!(piece, [only] if super::lists::is_marker(&only.text) && gap <= 4.0 * only.size)
}

/// Words of scripts that run to the left are read from the right.
fn in_reading_order(mut words: Vec<PageWord>) -> Vec<PageWord> {
    if text_runs_left(words.iter().map(|word| word.text.as_str())) {
        words.reverse();
        for word in &mut words {
            if word.text.chars().any(super::script::runs_left) {
                word.text = word.text.chars().rev().collect();
            }
        }
    }
    words
}

/// Puts raised and lowered words to the line that they belong to.
fn attach_small(mut pieces: Vec<LinePiece>) -> Vec<LinePiece> {
    pieces.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.place.x0.total_cmp(&b.place.x0)));
    let mut small: Vec<usize> = (0..pieces.len()).filter(|at| pieces[*at].words.len() <= SMALL_WORDS).collect();
    // The smallest first: what is raised from a raised word goes along with it.
    small.sort_by(|a, b| pieces[*a].size.total_cmp(&pieces[*b].size));
    for at in small {
        let homes: Vec<Option<usize>> = pieces[at].words.iter().map(|word| home_of(at, word, &pieces)).collect();
        if homes.iter().all(Option::is_none) {
            continue;
        }
        let words = std::mem::take(&mut pieces[at].words);
        for (word, home) in words.into_iter().zip(homes) {
            let line = &mut pieces[home.unwrap_or(at)];
            let place = line.words.iter().position(|other| other.place.x0 > word.place.x0).unwrap_or(line.words.len());
            line.place.add(word.place);
            line.words.insert(place, word);
        }
    }
    pieces.retain(|piece| !piece.words.is_empty());
    pieces
}

/// The line that a word of a piece is raised or lowered from. Pieces are sorted by their baselines.
fn home_of(from: usize, word: &PageWord, pieces: &[LinePiece]) -> Option<usize> {
    let reach = word.size * 1.2;
    let first = pieces.partition_point(|line| line.baseline < word.baseline - reach);
    let near = pieces.iter().enumerate().skip(first).take_while(|(_, line)| line.baseline <= word.baseline + reach);
    let touches = |line: &LinePiece| {
        let range = -0.3 * line.size..=0.28 * line.size;
        let touching = |other: &PageWord| {
            range.contains(&(word.place.x0 - other.place.x1)) || range.contains(&(other.place.x0 - word.place.x1))
        };
        // Words are sorted: the ones beside it are enough.
        let beside = line.words.partition_point(|other| other.place.x0 < word.place.x0);
        let beside = beside.saturating_sub(2)..line.words.len().min(beside + 2);
        line.words.len() < LINE_WORDS && line.words[beside].iter().any(touching)
    };
    let is_home = |(at, line): &(usize, &LinePiece)| {
        let shift = (line.baseline - word.baseline).abs();
        *at != from && word.size < 0.85 * line.size && shift <= 0.6 * line.size && touches(line)
    };
    near.take(NEAR).find(is_home).map(|(at, _)| at)
}
