//! Matrices and boxes, in points. Pages are upright here: y grows downwards. Pure.

use hayro_syntax::object::Number;

/// A transformation of the plane, as PDF writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlaneMatrix {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
    pub(crate) d: f64,
    pub(crate) e: f64,
    pub(crate) f: f64,
}

impl PlaneMatrix {
    pub(crate) const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// A matrix of six numbers.
    pub(crate) fn new(numbers: [f64; 6]) -> Self {
        let [a, b, c, d, e, f] = numbers;
        Self { a, b, c, d, e, f }
    }

    /// A matrix of six operands.
    pub(crate) fn of_operands(numbers: [&Number; 6]) -> Self {
        Self::new(numbers.map(Number::as_f64))
    }

    /// What first does `self` and then `outer`.
    pub(crate) fn then(&self, outer: &Self) -> Self {
        Self {
            a: self.a * outer.a + self.b * outer.c,
            b: self.a * outer.b + self.b * outer.d,
            c: self.c * outer.a + self.d * outer.c,
            d: self.c * outer.b + self.d * outer.d,
            e: self.e * outer.a + self.f * outer.c + outer.e,
            f: self.e * outer.b + self.f * outer.d + outer.f,
        }
    }

    /// What first moves by this much.
    pub(crate) fn moved(&self, x: f64, y: f64) -> Self {
        let (e, f) = self.apply(x, y);
        Self { e, f, ..*self }
    }

    /// Where a point comes to lie.
    pub(crate) fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f)
    }

    /// The box around a rectangle after the transformation.
    pub(crate) fn apply_box(&self, x0: f64, y0: f64, x1: f64, y1: f64) -> PageBox {
        let corners = [self.apply(x0, y0), self.apply(x1, y0), self.apply(x0, y1), self.apply(x1, y1)];
        let mut all = PageBox::around(corners[0]);
        corners[1..].iter().for_each(|corner| all.add(PageBox::around(*corner)));
        all
    }
}

/// A box on a page.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct PageBox {
    pub(crate) x0: f32,
    pub(crate) y0: f32,
    pub(crate) x1: f32,
    pub(crate) y1: f32,
}

impl PageBox {
    /// A point.
    pub(crate) fn around((x, y): (f64, f64)) -> Self {
        let (x, y) = (x as f32, y as f32);
        Self { x0: x, y0: y, x1: x, y1: y }
    }

    /// Grows to hold another box.
    pub(crate) fn add(&mut self, other: Self) {
        self.x0 = self.x0.min(other.x0);
        self.y0 = self.y0.min(other.y0);
        self.x1 = self.x1.max(other.x1);
        self.y1 = self.y1.max(other.y1);
    }

    pub(crate) fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    pub(crate) fn height(&self) -> f32 {
        self.y1 - self.y0
    }

    pub(crate) fn center(&self) -> (f32, f32) {
        ((self.x0 + self.x1) / 2.0, (self.y0 + self.y1) / 2.0)
    }

    /// Whether a point lies in it.
    pub(crate) fn has(&self, (x, y): (f32, f32)) -> bool {
        (self.x0..=self.x1).contains(&x) && (self.y0..=self.y1).contains(&y)
    }

    /// Whether all its numbers are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        [self.x0, self.y0, self.x1, self.y1].iter().all(|number| number.is_finite())
    }
}

/// How a page lies: what turns its coordinates upright, and its size then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageFrame {
    pub(crate) matrix: PlaneMatrix,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl PageFrame {
    /// The frame of a page. Sizes are clamped: a page of a million kilometres is a page.
    pub(crate) fn of(page: &hayro_syntax::page::Page<'_>) -> Self {
        let (width, height) = page.render_dimensions();
        let matrix = PlaneMatrix::new(page.initial_transform(true).as_coeffs());
        Self { matrix, width: width.clamp(1.0, 1e6), height: height.clamp(1.0, 1e6) }
    }

    /// A rectangle of the page, upright.
    pub(crate) fn upright(&self, rect: hayro_syntax::object::Rect) -> PageBox {
        self.matrix.apply_box(rect.x0, rect.y0, rect.x1, rect.y1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_transformation_comes_first() {
        let scale = PlaneMatrix::new([2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        let shift = PlaneMatrix::new([1.0, 0.0, 0.0, 1.0, 10.0, 20.0]);
        assert_eq!(scale.then(&shift).apply(1.0, 1.0), (12.0, 22.0));
        assert_eq!(shift.then(&scale).apply(1.0, 1.0), (22.0, 42.0));
        assert_eq!(scale.moved(3.0, 4.0).apply(0.0, 0.0), (6.0, 8.0));
        let turned = PlaneMatrix::new([0.0, 1.0, -1.0, 0.0, 0.0, 0.0]).apply_box(0.0, 0.0, 2.0, 1.0);
        assert_eq!(turned, PageBox { x0: -1.0, y0: 0.0, x1: 0.0, y1: 2.0 });
    }
}
