//! Grids out of rules: what a ruled table is drawn with. Pure.

use crate::content::PageRule;
use crate::geometry::PageBox;

/// How far rules of one line lie apart.
const SAME: f32 = 1.6;
/// How far two lines of a grid lie apart at least.
const APART: f32 = 3.0;
/// How far a rule ends from the one that it meets.
const MEET: f32 = 3.0;
/// The most crossings that are looked for: a page with more is a drawing.
const CROSSINGS: usize = 4_000_000;
/// The most lines of a grid.
const COLUMNS: usize = 200;
const ROWS: usize = 2_000;
const CELLS: usize = 50_000;

/// A grid of cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleGrid {
    /// The places of its vertical lines.
    pub(crate) xs: Vec<f32>,
    /// The places of its horizontal lines.
    pub(crate) ys: Vec<f32>,
    rules: Vec<PageRule>,
}

impl RuleGrid {
    pub(crate) fn place(&self) -> PageBox {
        let ends = |places: &[f32]| (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(0.0));
        let ((x0, x1), (y0, y1)) = (ends(&self.xs), ends(&self.ys));
        PageBox { x0, y0, x1, y1 }
    }

    pub(crate) fn columns(&self) -> usize {
        self.xs.len().saturating_sub(1)
    }

    pub(crate) fn rows(&self) -> usize {
        self.ys.len().saturating_sub(1)
    }

    /// The cell in which a point lies, as row and column.
    pub(crate) fn cell_at(&self, (x, y): (f32, f32)) -> Option<(usize, usize)> {
        let place = |places: &[f32], at: f32| {
            let after = places.partition_point(|place| *place <= at);
            (after > 0 && after < places.len()).then(|| after - 1)
        };
        Some((place(&self.ys, y)?, place(&self.xs, x)?))
    }

    /// For each cell, row by row, the cell that it is merged into: itself, or one to its left or above.
    pub(crate) fn merged_cells(&self) -> Vec<usize> {
        let (rows, columns) = (self.rows(), self.columns());
        // Which borders are drawn: left of a cell, and above it.
        let (mut left, mut above) = (vec![false; rows * columns], vec![false; rows * columns]);
        for rule in &self.rules {
            let (lines, across) = if rule.is_horizontal { (&self.ys, &self.xs) } else { (&self.xs, &self.ys) };
            let Some(line) = nearest(lines, rule.at) else { continue };
            for (at, ends) in across.windows(2).enumerate() {
                let middle = (ends[0] + ends[1]) / 2.0;
                if middle < rule.from || middle > rule.to {
                    continue;
                }
                let (row, column) = if rule.is_horizontal { (line, at) } else { (at, line) };
                if row < rows && column < columns {
                    let borders = if rule.is_horizontal { &mut above } else { &mut left };
                    borders[row * columns + column] = true;
                }
            }
        }
        let mut roots: Vec<usize> = (0..rows * columns).collect();
        for cell in 0..roots.len() {
            let (row, column) = (cell / columns, cell % columns);
            if column > 0 && !left[cell] {
                roots[cell] = roots[cell - 1];
            } else if row > 0 && !above[cell] {
                roots[cell] = roots[cell - columns];
            }
        }
        roots
    }
}

/// The grids that rules form.
pub(crate) fn rule_grids(rules: &[PageRule]) -> Vec<RuleGrid> {
    let (across, down): (Vec<PageRule>, Vec<PageRule>) = rules.iter().partition(|rule| rule.is_horizontal);
    let (across, down) = (merged(across), merged(down));
    if across.len() < 2 || down.is_empty() || across.len() * down.len() > CROSSINGS {
        return Vec::new();
    }
    // Which rules hang together: horizontal ones first, then vertical ones.
    let mut groups = DisjointSets::new(across.len() + down.len());
    for (h, horizontal) in across.iter().enumerate() {
        for (v, vertical) in down.iter().enumerate() {
            let meets = vertical.at >= horizontal.from - MEET
                && vertical.at <= horizontal.to + MEET
                && horizontal.at >= vertical.from - MEET
                && horizontal.at <= vertical.to + MEET;
            if meets {
                groups.join(h, across.len() + v);
            }
        }
    }
    let mut by_root: std::collections::BTreeMap<usize, Vec<PageRule>> = std::collections::BTreeMap::new();
    for (at, rule) in across.iter().chain(&down).enumerate() {
        by_root.entry(groups.root(at)).or_default().push(*rule);
    }
    by_root.into_values().filter_map(grid_of).collect()
}

fn grid_of(rules: Vec<PageRule>) -> Option<RuleGrid> {
    let places = |horizontal: bool| {
        let along = rules.iter().filter(move |rule| rule.is_horizontal == horizontal).map(|rule| rule.at);
        let across = rules.iter().filter(move |rule| rule.is_horizontal != horizontal);
        let start = across.clone().map(|rule| rule.from).fold(f32::MAX, f32::min);
        let end = across.map(|rule| rule.to).fold(f32::MIN, f32::max);
        let mut places: Vec<f32> = along.collect();
        if places.is_empty() {
            return places;
        }
        places.sort_by(f32::total_cmp);
        places.dedup_by(|next, last| *next - *last < APART);
        // A grid that is open at its sides ends where its rules do.
        if places.first().is_some_and(|first| start < first - 5.0) {
            places.insert(0, start);
        }
        if places.last().is_some_and(|last| end > last + 5.0) {
            places.push(end);
        }
        places
    };
    let (ys, xs) = (places(true), places(false));
    let (columns, rows) = (xs.len().saturating_sub(1), ys.len().saturating_sub(1));
    let is_grid = columns >= 1
        && rows >= 1
        && columns * rows >= 2
        && columns <= COLUMNS
        && rows <= ROWS
        && columns * rows <= CELLS;
    is_grid.then_some(RuleGrid { xs, ys, rules })
}

/// Rules that go on in each other, as one.
fn merged(mut rules: Vec<PageRule>) -> Vec<PageRule> {
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    // Those of one line first, by where they begin.
    let mut line = 0;
    for at in 1..=rules.len() {
        if at == rules.len() || rules[at].at - rules[at - 1].at > SAME {
            rules[line..at].sort_by(|a, b| a.from.total_cmp(&b.from));
            line = at;
        }
    }
    let mut out: Vec<PageRule> = Vec::new();
    for rule in rules {
        match out.last_mut() {
            Some(last)
                if (rule.at - last.at).abs() <= SAME && rule.from <= last.to + MEET && rule.from >= last.from =>
            {
                last.to = last.to.max(rule.to);
            }
            _ => out.push(rule),
        }
    }
    out
}

fn nearest(places: &[f32], at: f32) -> Option<usize> {
    let after = places.partition_point(|place| *place < at);
    let near = [after.checked_sub(1), Some(after)];
    let near = near.into_iter().flatten().filter(|index| *index < places.len());
    near.min_by(|a, b| (places[*a] - at).abs().total_cmp(&(places[*b] - at).abs()))
        .filter(|index| (places[*index] - at).abs() <= APART)
}

/// Sets that are joined one by one.
struct DisjointSets {
    parents: Vec<usize>,
}

impl DisjointSets {
    fn new(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(is_horizontal: bool, at: f32, from: f32, to: f32) -> PageRule {
        PageRule { is_horizontal, at, from, to }
    }

    #[test]
    fn crossing_rules_are_a_grid_with_merged_cells() {
        let mut rules: Vec<PageRule> = [0.0, 20.0, 40.0].map(|y| rule(true, y, 0.0, 90.0)).to_vec();
        rules.extend([0.0, 90.0].map(|x| rule(false, x, 0.0, 40.0)));
        // The middle line only in the second row.
        rules.push(rule(false, 45.0, 20.0, 40.0));
        let grids = rule_grids(&rules);
        assert_eq!(grids.len(), 1);
        let grid = &grids[0];
        assert_eq!((grid.rows(), grid.columns()), (2, 2));
        assert_eq!(grid.merged_cells(), [0, 0, 2, 3]);
        assert_eq!(grid.cell_at((50.0, 30.0)), Some((1, 1)));
        assert_eq!(grid.cell_at((50.0, 50.0)), None);
    }

    #[test]
    fn open_grids_end_where_their_rules_do() {
        let mut rules: Vec<PageRule> = [0.0, 20.0, 40.0].map(|y| rule(true, y, 0.0, 90.0)).to_vec();
        rules.push(rule(false, 45.0, 0.0, 40.0));
        assert_eq!(rule_grids(&rules)[0].xs, [0.0, 45.0, 90.0]);
    }

    #[test]
    fn boxes_lines_and_drawings_are_no_grids() {
        assert!(rule_grids(&[rule(true, 0.0, 0.0, 9.0), rule(true, 5.0, 0.0, 9.0)]).is_empty());
        let corner = [
            rule(true, 0.0, 0.0, 90.0),
            rule(true, 50.0, 0.0, 90.0),
            rule(false, 0.0, 0.0, 50.0),
            rule(false, 90.0, 0.0, 50.0),
        ];
        assert!(rule_grids(&corner).is_empty());
        let mut many: Vec<PageRule> = (0..3000).map(|n| rule(true, n as f32 * 3.0, 0.0, 9e3)).collect();
        many.extend((0..3000).map(|n| rule(false, n as f32 * 3.0, 0.0, 9e3)));
        assert!(rule_grids(&many).is_empty());
    }
}
