//! Running headers and footers: lines at the edges of a page that stand on its neighbours too, but for their numbers.

use super::lines::LinePiece;
use super::rich::plain_text;
use crate::content::{PageWord, ReadingFrame};

/// How much of the height of a page its edges are.
const EDGE: f32 = 0.11;
/// How much further in the next line is looked for.
const NEXT: f32 = 0.06;
/// How far the body is from them, by the size of their letters.
const GAP: f32 = 1.7;
/// Where a number alone is the number of the page.
const NUMBER_EDGE: f32 = 0.09;
/// How far a line may lie from where it lies on the other page.
const SHIFT: f32 = 4.0;
/// The most lines at each edge.
const LINES: usize = 3;
/// The most words that are looked at.
const WORDS: usize = 2_000;

/// The lines at the edges of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PageEdges {
    lines: Vec<EdgeLine>,
}

#[derive(Debug, Clone, PartialEq)]
struct EdgeLine {
    baseline: f32,
    /// Its text with signs for numbers.
    shape: String,
    is_number: bool,
}

/// The lines of a page that are running headers and footers.
#[derive(Debug, Clone, Default)]
pub(crate) struct EdgeLines {
    baselines: Vec<f32>,
}

impl PageEdges {
    /// The edges of a page.
    pub(crate) fn of(words: &[PageWord], height: f32) -> Self {
        let is_near = |word: &&PageWord| {
            let from_edge = word.baseline.min(height - word.baseline);
            word.frame == ReadingFrame::RIGHT && from_edge < height * (EDGE + NEXT)
        };
        let mut near: Vec<&PageWord> = words.iter().filter(is_near).take(WORDS).collect();
        near.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
        let mut rows: Vec<Vec<&PageWord>> = Vec::new();
        for word in near {
            match rows.last_mut() {
                Some(row) if (word.baseline - row[0].baseline).abs() < 1.5 => row.push(word),
                _ => rows.push(vec![word]),
            }
        }
        let (above, mut below): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row[0].baseline < height / 2.0);
        below.reverse();
        let mut lines = Vec::new();
        for edge in [above, below] {
            let count = apart_from_body(&edge);
            let rows = edge.into_iter().take(count);
            lines.extend(rows.filter(|row| row[0].baseline.min(height - row[0].baseline) < height * EDGE).map(
                |mut row| {
                    row.sort_by(|a, b| a.place.x0.total_cmp(&b.place.x0));
                    let baseline = row[0].baseline;
                    let row: Vec<PageWord> = row.into_iter().cloned().collect();
                    let text = plain_text([row.as_slice()]);
                    let is_outer = baseline.min(height - baseline) < height * NUMBER_EDGE;
                    EdgeLine { baseline, shape: shape_of(&text), is_number: is_outer && is_page_number(&text) }
                },
            ));
        }
        Self { lines }
    }

    /// Whether there is nothing to compare.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines that are page numbers, or stand on one of these other pages too.
    pub(crate) fn running(&self, others: &[Self]) -> EdgeLines {
        let is_running = |line: &&EdgeLine| {
            let stands_on = |other: &Self| {
                other
                    .lines
                    .iter()
                    .any(|there| (there.baseline - line.baseline).abs() <= SHIFT && there.shape == line.shape)
            };
            line.is_number || (line.shape.chars().any(char::is_alphanumeric) && others.iter().any(stands_on))
        };
        EdgeLines { baselines: self.lines.iter().filter(is_running).map(|line| line.baseline).collect() }
    }
}

impl EdgeLines {
    /// Whether a piece belongs to one of the lines.
    pub(super) fn has(&self, piece: &LinePiece) -> bool {
        piece.words.first().is_some_and(|word| {
            word.frame == ReadingFrame::RIGHT && self.baselines.iter().any(|line| (line - piece.baseline).abs() < 1.5)
        })
    }
}

/// How many rows, from the edge of the page on, stand apart from the rows after them.
fn apart_from_body(rows: &[Vec<&PageWord>]) -> usize {
    let is_apart = |at: usize| {
        let (row, next) = (&rows[at], rows.get(at + 1));
        next.is_none_or(|next| (next[0].baseline - row[0].baseline).abs() > GAP * row[0].size.max(next[0].size))
    };
    (0..rows.len().min(LINES)).rev().find(|at| is_apart(*at)).map_or(0, |at| at + 1)
}

/// A text with a sign for each number.
fn shape_of(text: &str) -> String {
    let mut shape = String::new();
    for c in text.chars() {
        match c.is_numeric() {
            true if shape.ends_with('#') => {}
            true => shape.push('#'),
            false => shape.push(c),
        }
    }
    shape
}

/// Whether a text is the number of a page: `7`, `– 7 –`, `Page 7 of 9`, `第7页`, `xii`.
fn is_page_number(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = ["page", "of", "seite", "von", "第", "页", "共", "頁", "p."];
    let rest = words.iter().fold(lower.clone(), |rest, word| rest.replace(word, ""));
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    let others =
        rest.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace() && !"-–—/|.·[]()".contains(*c)).count();
    let is_roman = !lower.is_empty() && lower.len() <= 6 && lower.chars().all(|c| "ivxlc".contains(c));
    (others == 0 && (1..=8).contains(&digits)) || is_roman
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pages_are_known() {
        for (text, expected) in [
            ("7", true),
            ("– 7 –", true),
            ("Page 7 of 12", true),
            ("第 7 页 共 12 页", true),
            ("xii", true),
            ("Chapter 7", false),
            ("", false),
            ("2026-01-02", true),
            ("word", false),
        ] {
            assert_eq!(is_page_number(text), expected, "{text}");
        }
        assert_eq!(shape_of("Page 12 of 340"), "Page # of #");
    }
}
