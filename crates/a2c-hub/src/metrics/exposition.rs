//! The text that Prometheus reads, format 0.0.4: for every metric its help, its type and its samples.

use std::fmt::{Display, Write as _};

use super::cells::{BOUNDS, CounterTable, Counters, Histogram};
use super::labels::Label;

/// Builds the text.
#[derive(Default)]
pub(super) struct Exposition {
    text: String,
}

impl Exposition {
    pub(super) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "counter");
        self.sample(name, "", value);
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "gauge");
        self.sample(name, "", value);
    }

    /// A gauge whose labels carry the information. The hub sets their values, so they need no escaping.
    pub(super) fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) {
        self.head(name, help, "gauge");
        let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        self.sample(name, &labels.join(","), 1);
    }

    pub(super) fn gauges<L: Label>(&mut self, name: &str, help: &str, value: impl Fn(L) -> u64) {
        self.head(name, help, "gauge");
        for &label in L::ALL {
            self.sample(name, &pair(label), value(label));
        }
    }

    pub(super) fn counters<L: Label>(&mut self, name: &str, help: &str, counters: &Counters<L>) {
        self.head(name, help, "counter");
        for &label in L::ALL {
            self.sample(name, &pair(label), counters.of(label).get());
        }
    }

    pub(super) fn grid<A: Label, B: Label>(&mut self, name: &str, help: &str, grid: &CounterTable<A, B>) {
        self.head(name, help, "counter");
        for &row in A::ALL {
            for &column in B::ALL {
                self.sample(name, &format!("{},{}", pair(row), pair(column)), grid.of(row, column).get());
            }
        }
    }

    pub(super) fn histograms<'a, L: Label>(&mut self, name: &str, help: &str, histogram: impl Fn(L) -> &'a Histogram) {
        self.head(name, help, "histogram");
        let (bucket, sum, count) = (format!("{name}_bucket"), format!("{name}_sum"), format!("{name}_count"));
        for &label in L::ALL {
            let (histogram, label) = (histogram(label), pair(label));
            let cumulative = histogram.cumulative();
            for (bound, within) in BOUNDS.into_iter().zip(cumulative) {
                self.sample(&bucket, &format!("{label},le=\"{}\"", seconds(bound)), within);
            }
            let total = cumulative[BOUNDS.len()];
            self.sample(&bucket, &format!("{label},le=\"+Inf\""), total);
            self.sample(&sum, &label, histogram.sum().as_secs_f64());
            self.sample(&count, &label, total);
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.text, "{name} {value}"),
            labels => writeln!(self.text, "{name}{{{labels}}} {value}"),
        };
    }
}

fn pair<L: Label>(label: L) -> String {
    format!("{}=\"{}\"", L::NAME, label.value())
}

/// A bound in the unit of the exposition.
fn seconds(millis: u64) -> f64 {
    std::time::Duration::from_millis(millis).as_secs_f64()
}
