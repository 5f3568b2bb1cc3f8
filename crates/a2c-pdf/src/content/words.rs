//! Words out of glyphs: by the gaps between them, and by the blanks that are drawn.

use super::glyph_text::{is_blank, push_text};
use super::marked::ContentRole;
use crate::font::FontStyle;
use crate::geometry::{PageBox, PlaneMatrix};

/// The gap between two glyphs that is the end of a word, by the size of the letters.
const WORD_GAP: f32 = 0.15;
/// How far a glyph goes back at most to belong to the word before it.
const BACKWARDS: f32 = 0.45;
/// How far up or down.
const BASELINE: f32 = 0.18;
/// The longest word, in bytes: text without blanks is cut there.
const LONGEST: usize = 1000;

/// The direction that lines run in, in tenths of a degree, clockwise from the right. Lines that do not run to the right are
/// turned until they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct ReadingFrame(i16);

impl ReadingFrame {
    pub(crate) const RIGHT: Self = Self(0);

    /// The direction of a vector on the page.
    fn of(x: f64, y: f64) -> Self {
        // Nearly all there is.
        if x > 0.0 && y.abs() < 0.001 * x {
            return Self::RIGHT;
        }
        let angle = (y.atan2(x).to_degrees() * 10.0).round() as i16;
        Self(if angle == -1800 { 1800 } else { angle })
    }

    /// The sine and the cosine of the direction.
    fn sin_cos(self) -> (f64, f64) {
        match self.0 {
            0 => (0.0, 1.0),
            900 => (1.0, 0.0),
            1800 => (0.0, -1.0),
            -900 => (-1.0, 0.0),
            angle => (f64::from(angle) / 10.0).to_radians().sin_cos(),
        }
    }

    /// A point of the page, turned.
    pub(crate) fn turn(self, (x, y): (f64, f64)) -> (f32, f32) {
        if self == Self::RIGHT {
            return (x as f32, y as f32);
        }
        let (sin, cos) = self.sin_cos();
        ((x * cos + y * sin) as f32, (y * cos - x * sin) as f32)
    }

    /// A point that was turned, back on the page.
    pub(crate) fn turn_back(self, (x, y): (f32, f32)) -> (f32, f32) {
        if self == Self::RIGHT {
            return (x, y);
        }
        let (x, y, (sin, cos)) = (f64::from(x), f64::from(y), self.sin_cos());
        ((x * cos - y * sin) as f32, (x * sin + y * cos) as f32)
    }

    /// A box of the page, turned.
    pub(crate) fn turn_box(self, place: PageBox) -> PageBox {
        let (x0, y0, x1, y1) = (place.x0.into(), place.y0.into(), place.x1.into(), place.y1.into());
        let corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|corner| self.turn(corner));
        let mut turned = PageBox { x0: corners[0].0, y0: corners[0].1, x1: corners[0].0, y1: corners[0].1 };
        corners.iter().for_each(|(x, y)| turned.add(PageBox { x0: *x, y0: *y, x1: *x, y1: *y }));
        turned
    }
}

/// A word on a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageWord {
    pub(crate) text: String,
    /// In the frame that its line is read in.
    pub(crate) place: PageBox,
    pub(crate) baseline: f32,
    /// The size of its letters.
    pub(crate) size: f32,
    /// The size that gaps between its letters are measured by: less than that of the letters where these are narrow.
    pub(crate) gap_size: f32,
    pub(crate) style: FontStyle,
    pub(crate) frame: ReadingFrame,
    pub(crate) role: ContentRole,
    /// Whether a blank is drawn after it.
    pub(crate) blank_after: bool,
}

/// A glyph on a page.
pub(super) struct PlacedGlyph<'t> {
    pub(super) text: &'t str,
    /// What leads from its own coordinates, in which its letters are 1 high, to the page.
    pub(super) matrix: PlaneMatrix,
    /// How far it goes, in these coordinates.
    pub(super) advance: f64,
    pub(super) is_vertical: bool,
    pub(super) style: FontStyle,
    pub(super) role: ContentRole,
    /// How high its letters are in these coordinates, where not 1.
    pub(super) em: f64,
}

/// Words under construction.
#[derive(Default)]
pub(super) struct WordBuilder {
    words: Vec<PageWord>,
    open: Option<PageWord>,
}

impl WordBuilder {
    pub(super) fn push(&mut self, glyph: &PlacedGlyph<'_>) {
        let m = &glyph.matrix;
        let (frame, reach) = match glyph.is_vertical {
            true => (ReadingFrame::of(-m.c, -m.d), (0.0, -glyph.advance)),
            false => (ReadingFrame::of(m.a, m.b), (glyph.advance, 0.0)),
        };
        let (height, width) =
            if glyph.is_vertical { (m.a.hypot(m.b), m.c.hypot(m.d)) } else { (m.c.hypot(m.d), m.a.hypot(m.b)) };
        let (size, gap_size) = ((height * glyph.em) as f32, (width.min(height) * glyph.em) as f32);
        let (start, baseline) = frame.turn((m.e, m.f));
        let (end, _) = frame.turn(m.apply(reach.0, reach.1));
        if ![start, baseline, end, size].iter().all(|number| number.is_finite()) || size <= 0.0 {
            return;
        }
        if is_blank(glyph.text) && !glyph.text.is_empty() {
            self.blank();
            return;
        }
        let (x0, x1) = (start.min(end), start.max(end));
        let place = PageBox { x0, y0: baseline - size * 0.75, x1, y1: baseline + size * 0.22 };
        if let Some(word) = &mut self.open
            && word.frame == frame
            && word.role == glyph.role
            && word.style == glyph.style
            && (word.baseline - baseline).abs() <= BASELINE * size
            && word.size <= size * 1.3
            && size <= word.size * 1.3
            && word.text.len() < LONGEST
        {
            let gap = place.x0 - word.place.x1;
            if gap <= WORD_GAP * gap_size && gap >= -BACKWARDS * size {
                push_text(&mut word.text, glyph.text);
                word.place.add(place);
                return;
            }
        }
        self.finish_word();
        if glyph.text.is_empty() {
            return;
        }
        let mut text = String::with_capacity(12);
        push_text(&mut text, glyph.text);
        let (style, role) = (glyph.style, glyph.role);
        self.open = Some(PageWord { text, place, baseline, size, gap_size, style, frame, role, blank_after: false });
    }

    /// A blank that is drawn.
    fn blank(&mut self) {
        if let Some(mut word) = self.open.take() {
            word.blank_after = true;
            self.keep(word);
        }
    }

    fn finish_word(&mut self) {
        if let Some(word) = self.open.take() {
            self.keep(word);
        }
    }

    fn keep(&mut self, word: PageWord) {
        if !word.text.is_empty() && word.place.is_finite() {
            self.words.push(word);
        }
    }

    /// All words, in the order in which they were drawn.
    pub(super) fn finish(mut self) -> Vec<PageWord> {
        self.finish_word();
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(glyphs: &[(&str, f64, f64)]) -> Vec<String> {
        let mut builder = WordBuilder::default();
        for (text, x, y) in glyphs {
            builder.push(&PlacedGlyph {
                text,
                matrix: PlaneMatrix::new([10.0, 0.0, 0.0, -10.0, *x, *y]),
                advance: 0.5,
                is_vertical: false,
                style: FontStyle::default(),
                role: ContentRole::Body,
                em: 1.0,
            });
        }
        builder.finish().into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn gaps_and_blanks_end_words() {
        assert_eq!(words(&[("a", 0.0, 0.0), ("b", 5.0, 0.0), ("c", 13.0, 0.0)]), ["ab", "c"]);
        assert_eq!(words(&[("a", 0.0, 0.0), (" ", 5.0, 0.0), ("c", 10.0, 0.0)]), ["a", "c"]);
        assert_eq!(words(&[("a", 0.0, 0.0), ("b", 5.5, 0.0), ("c", 5.0, 20.0)]), ["ab", "c"]);
        assert_eq!(words(&[("ﬁ", 0.0, 0.0), ("n", 5.0, f64::NAN), ("d", 5.0, 0.0)]), ["fid"]);
    }

    #[test]
    fn points_turn_and_turn_back() {
        for (x, y) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (0.9, 0.3)] {
            let frame = ReadingFrame::of(x, y);
            let (u, v) = frame.turn((x, y));
            assert!(u > 0.9 && v.abs() < 0.01, "{x} {y}: {u} {v}");
            let (a, b) = frame.turn_back((u, v));
            assert!((f64::from(a) - x).abs() < 0.01 && (f64::from(b) - y).abs() < 0.01);
        }
    }

    #[test]
    fn turned_lines_are_read_along_their_direction() {
        let mut builder = WordBuilder::default();
        for (text, y) in [("u", 100.0), ("p", 95.0)] {
            builder.push(&PlacedGlyph {
                text,
                matrix: PlaneMatrix::new([0.0, -10.0, -10.0, 0.0, 50.0, y]),
                advance: 0.5,
                is_vertical: false,
                style: FontStyle::default(),
                role: ContentRole::Body,
                em: 1.0,
            });
        }
        let words = builder.finish();
        assert_eq!((words.len(), words[0].text.as_str(), words[0].frame), (1, "up", ReadingFrame(-900)));
    }
}
