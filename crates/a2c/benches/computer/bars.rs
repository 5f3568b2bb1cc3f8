//! What is promised, and whether it holds.
#![allow(dead_code, reason = "each bench uses its own part")]

/// Every bar and what was measured.
#[derive(Default)]
pub(crate) struct Bars(Vec<Bar>);

struct Bar {
    what: String,
    limit: String,
    figure: String,
    holds: bool,
}

impl Bars {
    /// A figure that must not reach its limit.
    pub(crate) fn below(&mut self, what: &str, figure: f64, limit: f64, unit: &str) {
        self.add(what, format!("< {limit} {unit}"), format!("{figure:.3} {unit}"), figure < limit);
    }

    /// A ratio that must not exceed its limit.
    pub(crate) fn at_most(&mut self, what: &str, ratio: f64, limit: f64) {
        self.add(what, format!("≤ {limit} ×"), format!("{ratio:.2} ×"), ratio <= limit);
    }

    /// A ratio that must reach its limit.
    pub(crate) fn at_least(&mut self, what: &str, ratio: f64, limit: f64) {
        self.add(what, format!("≥ {limit} ×"), format!("{ratio:.2} ×"), ratio >= limit);
    }

    fn add(&mut self, what: &str, limit: String, figure: String, holds: bool) {
        self.0.push(Bar { what: what.to_owned(), limit, figure, holds });
    }

    pub(crate) fn all_hold(&self) -> bool {
        self.0.iter().all(|bar| bar.holds)
    }

    pub(crate) fn print(&self) {
        println!("{:<62} {:>10} {:>12}", "bar", "limit", "figure");
        for Bar { what, limit, figure, holds } in &self.0 {
            println!("{what:<62} {limit:>10} {figure:>12}  {}", if *holds { "pass" } else { "MISS" });
        }
    }
}
