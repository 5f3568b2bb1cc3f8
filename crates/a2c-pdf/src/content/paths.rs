//! The rules of a page: straight lines along its edges, which is what tables are drawn with.

use crate::geometry::PlaneMatrix;

/// The most rules that are kept: a page with more is a drawing.
const RULES: usize = 20_000;
/// The shortest rule.
const SHORTEST: f32 = 3.0;
/// The widest line that is a rule.
const WIDEST: f32 = 3.5;
/// How far a rule strays at most.
const STRAY: f32 = 0.6;
/// The most points of one path.
const POINTS: usize = 4_000;

/// A straight line along an edge of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PageRule {
    pub(crate) is_horizontal: bool,
    /// Where it lies across its direction.
    pub(crate) at: f32,
    /// Where it begins.
    pub(crate) from: f32,
    /// Where it ends.
    pub(crate) to: f32,
}

#[derive(Clone, Copy)]
enum PathPart {
    /// From and to.
    Line((f32, f32), (f32, f32)),
    Rectangle((f32, f32), (f32, f32)),
}

/// The path under construction, and the rules so far.
#[derive(Default)]
pub(super) struct PathCollector {
    parts: Vec<PathPart>,
    start: (f32, f32),
    last: (f32, f32),
    pub(super) rules: Vec<PageRule>,
}

impl PathCollector {
    pub(super) fn move_to(&mut self, matrix: &PlaneMatrix, x: f64, y: f64) {
        self.start = point(matrix, x, y);
        self.last = self.start;
    }

    pub(super) fn line_to(&mut self, matrix: &PlaneMatrix, x: f64, y: f64) {
        let to = point(matrix, x, y);
        self.add(PathPart::Line(self.last, to));
        self.last = to;
    }

    /// A curve is no rule, but it moves on.
    pub(super) fn curve_to(&mut self, matrix: &PlaneMatrix, x: f64, y: f64) {
        self.last = point(matrix, x, y);
    }

    pub(super) fn close(&mut self) {
        self.add(PathPart::Line(self.last, self.start));
        self.last = self.start;
    }

    pub(super) fn rectangle(&mut self, matrix: &PlaneMatrix, [x, y, width, height]: [f64; 4]) {
        self.add(PathPart::Rectangle(point(matrix, x, y), point(matrix, x + width, y + height)));
        self.move_to(matrix, x, y);
    }

    fn add(&mut self, part: PathPart) {
        if self.parts.len() < POINTS {
            self.parts.push(part);
        }
    }

    /// The path is not drawn.
    pub(super) fn forget(&mut self) {
        self.parts.clear();
    }

    /// The outline of the path is drawn.
    pub(super) fn stroke(&mut self, width: f64) {
        if width as f32 > WIDEST {
            return;
        }
        for part in std::mem::take(&mut self.parts) {
            match part {
                PathPart::Line(from, to) => self.line(from, to),
                PathPart::Rectangle((x0, y0), (x1, y1)) => {
                    let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
                    corners.windows(2).for_each(|side| self.line(side[0], side[1]));
                }
            }
        }
    }

    /// The inside of the path is drawn: a thin rectangle is a rule, others shade.
    pub(super) fn fill(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        for part in &parts {
            if let PathPart::Rectangle(from, to) = part {
                self.thin(*from, *to);
            }
        }
        // A rectangle that was drawn line by line.
        if let [PathPart::Line(from, _), PathPart::Line(..), PathPart::Line(to, _), ..] = parts.as_slice()
            && (3..=5).contains(&parts.len())
        {
            self.thin(*from, *to);
        }
    }

    fn thin(&mut self, (x0, y0): (f32, f32), (x1, y1): (f32, f32)) {
        let (width, height) = ((x1 - x0).abs(), (y1 - y0).abs());
        if height <= WIDEST && width > height {
            self.line((x0, (y0 + y1) / 2.0), (x1, (y0 + y1) / 2.0));
        } else if width <= WIDEST && height > width {
            self.line(((x0 + x1) / 2.0, y0), ((x0 + x1) / 2.0, y1));
        }
    }

    fn line(&mut self, (x0, y0): (f32, f32), (x1, y1): (f32, f32)) {
        if self.rules.len() >= RULES || ![x0, y0, x1, y1].iter().all(|number| number.is_finite()) {
            return;
        }
        let (width, height) = ((x1 - x0).abs(), (y1 - y0).abs());
        if height <= STRAY && width >= SHORTEST {
            let (from, to) = (x0.min(x1), x0.max(x1));
            self.rules.push(PageRule { is_horizontal: true, at: (y0 + y1) / 2.0, from, to });
        } else if width <= STRAY && height >= SHORTEST {
            let (from, to) = (y0.min(y1), y0.max(y1));
            self.rules.push(PageRule { is_horizontal: false, at: (x0 + x1) / 2.0, from, to });
        }
    }
}

fn point(matrix: &PlaneMatrix, x: f64, y: f64) -> (f32, f32) {
    let (x, y) = matrix.apply(x, y);
    (x as f32, y as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_and_thin_boxes_are_rules() {
        let page = PlaneMatrix::IDENTITY;
        let mut paths = PathCollector::default();
        paths.move_to(&page, 0.0, 10.0);
        paths.line_to(&page, 100.0, 10.0);
        paths.line_to(&page, 150.0, 60.0);
        paths.stroke(1.0);
        paths.rectangle(&page, [0.0, 20.0, 80.0, 0.5]);
        paths.fill();
        paths.rectangle(&page, [0.0, 20.0, 80.0, 50.0]);
        paths.fill();
        let rule = |at: f32, to: f32| PageRule { is_horizontal: true, at, from: 0.0, to };
        assert_eq!(paths.rules, [rule(10.0, 100.0), rule(20.25, 80.0)]);
        paths.rectangle(&page, [0.0, 0.0, 10.0, 10.0]);
        paths.stroke(1.0);
        assert_eq!(paths.rules.len(), 6);
    }
}
