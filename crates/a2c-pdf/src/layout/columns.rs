//! The order in which the parts of a page are read: columns from left to right, each from top to bottom; what spans columns
//! divides them. Pure.

use crate::geometry::PageBox;

/// How often a page is divided within a division.
const DEPTH: usize = 8;
/// The most columns are looked for among so many parts; more are read from top to bottom.
const PARTS: usize = 50_000;
/// The fewest lines of a column.
const LINES: usize = 3;
/// The fewest characters that lines of a column have, in the middle: less is a table.
const PROSE: usize = 14;
/// How many strips a page is divided into to look for gaps.
const STRIPS: usize = 1_000;

/// A part of a page that has to be put in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LayoutPart {
    pub(crate) place: PageBox,
    /// Which it is.
    pub(crate) index: usize,
    /// How many characters it has; 0 for what is no text.
    pub(crate) length: usize,
}

/// The parts of a page column by column, in reading order.
pub(crate) fn reading_columns(parts: Vec<LayoutPart>, letter: f32) -> Vec<Vec<LayoutPart>> {
    let mut columns = Vec::new();
    divide(parts, letter.max(1.0), 0, &mut columns);
    columns
}

fn divide(mut parts: Vec<LayoutPart>, letter: f32, depth: usize, columns: &mut Vec<Vec<LayoutPart>>) {
    parts.sort_by(|a, b| a.place.y0.total_cmp(&b.place.y0).then(a.place.x0.total_cmp(&b.place.x0)));
    let gutter = if depth < DEPTH && parts.len() <= PARTS { find_gutter(&parts, letter) } else { None };
    let Some(gutter) = gutter else {
        if !parts.is_empty() {
            columns.push(parts);
        }
        return;
    };
    let (mut left, mut right, mut spanning) = (Vec::new(), Vec::new(), Vec::new());
    let flush = |left: &mut Vec<LayoutPart>, right: &mut Vec<LayoutPart>, columns: &mut Vec<Vec<LayoutPart>>| {
        divide(std::mem::take(left), letter, depth + 1, columns);
        divide(std::mem::take(right), letter, depth + 1, columns);
    };
    for part in parts {
        let is_spanning = part.place.x0 < gutter && part.place.x1 > gutter;
        if is_spanning {
            flush(&mut left, &mut right, columns);
            spanning.push(part);
            continue;
        }
        divide(std::mem::take(&mut spanning), letter, depth + 1, columns);
        if part.place.x1 <= gutter { left.push(part) } else { right.push(part) }
    }
    divide(spanning, letter, depth + 1, columns);
    flush(&mut left, &mut right, columns);
}

/// Where two columns part, if they do.
fn find_gutter(parts: &[LayoutPart], letter: f32) -> Option<f32> {
    if parts.len() < 2 * LINES {
        return None;
    }
    let mut area = parts[0].place;
    parts.iter().for_each(|part| area.add(part.place));
    let strip = area.width() / STRIPS as f32;
    if !strip.is_finite() || strip <= 0.0 {
        return None;
    }
    // How many parts cover each strip, as differences first.
    let mut cover = vec![0_i64; STRIPS + 2];
    let strip_of = |x: f32| (((x - area.x0) / strip) as usize).min(STRIPS);
    for part in parts {
        cover[strip_of(part.place.x0)] += 1;
        cover[strip_of(part.place.x1) + 1] -= 1;
    }
    let mut covered = 0;
    for count in &mut cover {
        covered += *count;
        *count = covered;
    }
    let allowed = (parts.len() / 3) as i64;
    let narrowest = ((0.9 * letter) / strip) as usize;
    let mut best: Option<(i64, usize, f32)> = None;
    let mut at = 0;
    while at < STRIPS {
        if cover[at] > allowed {
            at += 1;
            continue;
        }
        // A run of strips that are equally covered.
        let level = cover[at];
        let end = (at..STRIPS).find(|strip| cover[*strip] != level).unwrap_or(STRIPS);
        let is_inside = at > 0 && end < STRIPS;
        if is_inside && end - at >= narrowest.max(1) {
            let x = area.x0 + (at + end) as f32 / 2.0 * strip;
            let better = best.is_none_or(|(cover, width, _)| level < cover || (level == cover && end - at > width));
            if better && parts_columns(parts, x) {
                best = Some((level, end - at, x));
            }
        }
        at = end;
    }
    best.map(|(.., x)| x)
}

/// Whether there are columns of text on both sides of a place.
fn parts_columns(parts: &[LayoutPart], x: f32) -> bool {
    let side = |is_left: bool| {
        let here = parts.iter().filter(move |part| if is_left { part.place.x1 <= x } else { part.place.x0 >= x });
        here.filter(|part| part.length > 0).collect::<Vec<_>>()
    };
    let (left, right) = (side(true), side(false));
    let (left_length, right_length) = (middle_length(&left), middle_length(&right));
    let (fewer, more) = (left.len().min(right.len()), left.len().max(right.len()));
    let shorter = left_length.min(right_length);
    // The last column of a text may be a line long: beside a long column of long lines.
    let is_text = shorter >= PROSE && (fewer >= LINES || (fewer >= 1 && more >= 3 * LINES && shorter >= 2 * PROSE));
    if !is_text {
        return false;
    }
    // Side by side, not one below the other.
    let extent = |parts: &[&LayoutPart]| {
        let top = parts.iter().map(|part| part.place.y0).fold(f32::MAX, f32::min);
        let bottom = parts.iter().map(|part| part.place.y1).fold(f32::MIN, f32::max);
        (top, bottom)
    };
    let ((a, b), (c, d)) = (extent(&left), extent(&right));
    let overlap = b.min(d) - a.max(c);
    overlap > 0.3 * (b - a).min(d - c)
}

/// How many characters parts have, in the middle.
fn middle_length(parts: &[&LayoutPart]) -> usize {
    let mut lengths: Vec<usize> = parts.iter().map(|part| part.length).collect();
    let middle = lengths.len() / 2;
    if lengths.is_empty() { 0 } else { *lengths.select_nth_unstable(middle).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(index: usize, x0: f32, x1: f32, row: f32, length: usize) -> LayoutPart {
        LayoutPart { place: PageBox { x0, y0: row * 12.0, x1, y1: row * 12.0 + 10.0 }, index, length }
    }

    fn order(parts: Vec<LayoutPart>) -> Vec<Vec<usize>> {
        reading_columns(parts, 10.0).iter().map(|column| column.iter().map(|part| part.index).collect()).collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other_below_what_spans_them() {
        let mut parts = vec![part(0, 100.0, 400.0, 0.0, 40)];
        for row in 0..4 {
            parts.push(part(1 + row, 0.0, 240.0, 2.0 + row as f32, 50));
            parts.push(part(11 + row, 260.0, 500.0, 2.2 + row as f32, 50));
        }
        parts.push(part(20, 0.0, 500.0, 8.0, 100));
        assert_eq!(order(parts), [vec![0], vec![1, 2, 3, 4], vec![11, 12, 13, 14], vec![20]]);
    }

    #[test]
    fn short_cells_are_no_columns() {
        let mut parts = Vec::new();
        for row in 0..5 {
            parts.push(part(row * 2, 0.0, 60.0, row as f32, 8));
            parts.push(part(row * 2 + 1, 200.0, 230.0, row as f32, 4));
        }
        assert_eq!(order(parts).len(), 1);
    }

    #[test]
    fn three_columns_are_found() {
        let mut parts = Vec::new();
        for row in 0..4 {
            for column in 0..3 {
                let x = column as f32 * 180.0;
                parts.push(part(column * 10 + row, x, x + 160.0, row as f32, 30));
            }
        }
        assert_eq!(order(parts), [vec![0, 1, 2, 3], vec![10, 11, 12, 13], vec![20, 21, 22, 23]]);
    }

    #[test]
    fn masses_and_nonsense_end() {
        assert_eq!(order((0..60_000).map(|n| part(n, 0.0, 1.0, n as f32, 1)).collect()).len(), 1);
        assert_eq!(order(vec![part(0, f32::INFINITY, 0.0, 0.0, 20); 10]).len(), 1);
        assert!(order(vec![]).is_empty());
    }
}
