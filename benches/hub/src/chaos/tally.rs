//! What happened to all members together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::fate::End;
use super::pending_calls::Entry;

/// Surprises that are kept in words; of more only the number is of interest.
const KEPT: usize = 20;

/// Counts of everything.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    pub calls: u64,
    pub right: u64,
    pub errors: BTreeMap<i64, u64>,
    /// Calls whose Agent died before the answer.
    pub abandoned: u64,
    pub lost: u64,
    pub duplicated: u64,
    pub wrong: u64,
    /// Members that the hub sent away though they did nothing wrong.
    pub cut_off: u64,
    pub joins: u64,
    pub refused: u64,
    pub ends: BTreeMap<End, u64>,
    /// The longest time a member had to wait for its seat: its silent predecessor had to be noticed.
    pub longest_wait: Duration,
    /// The first surprises, in words.
    pub unexpected: Vec<String>,
}

/// The totals while they grow.
#[derive(Default)]
pub struct Tally(Mutex<Totals>);

impl Tally {
    pub fn note(&self, what: impl FnOnce(&mut Totals)) {
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        what(&mut totals);
        totals.unexpected.truncate(KEPT);
    }

    pub fn totals(&self) -> Totals {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Totals {
    /// Counts one acknowledgement of a call.
    pub fn enter(&mut self, entry: Entry) {
        match entry {
            Entry::Right => self.right += 1,
            Entry::Error(code) => *self.errors.entry(code).or_default() += 1,
            Entry::Duplicate => self.duplicated += 1,
            Entry::Wrong(what) => {
                self.wrong += 1;
                self.unexpected.push(format!("wrong: {what}"));
            }
        }
    }

    pub fn deaths(&self) -> u64 {
        self.ends.values().sum()
    }

    /// Calls that ended in a way that is accounted for.
    fn accounted(&self) -> u64 {
        self.right + self.errors.values().sum::<u64>() + self.abandoned + self.lost
    }

    /// Whether every call was answered exactly once, and rightly.
    pub fn passed(&self) -> bool {
        let nothing_bad = self.lost + self.duplicated + self.wrong + self.cut_off == 0;
        nothing_bad && self.unexpected.is_empty() && self.right > 0 && self.accounted() == self.calls
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<_> = self.errors.iter().map(|(code, count)| format!("{count} × {code}")).collect();
        let ends: Vec<_> = self.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        writeln!(
            f,
            "calls: {} = {} right + errors ({}) + {} whose Agent died + {} lost; besides {} duplicated, {} wrong",
            self.calls,
            self.right,
            errors.join(", "),
            self.abandoned,
            self.lost,
            self.duplicated,
            self.wrong
        )?;
        write!(
            f,
            "members: {} joins, {} refused because the seat was still held (longest wait {:.1} s); {}; {} cut off by the hub",
            self.joins,
            self.refused,
            self.longest_wait.as_secs_f64(),
            ends.join(", "),
            self.cut_off
        )?;
        for what in &self.unexpected {
            write!(f, "\nunexpected: {what}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Totals {
        Totals { calls: 10, right: 8, errors: [(404, 1)].into(), abandoned: 1, ..Totals::default() }
    }

    #[test]
    fn one_fault_of_any_kind_fails_the_run() {
        assert!(good().passed());
        assert!(!Totals::default().passed(), "nothing done is nothing shown");
        let faults: [fn(&mut Totals); 6] = [
            |totals| (totals.lost, totals.right) = (1, 7),
            |totals| totals.duplicated = 1,
            |totals| totals.wrong = 1,
            |totals| totals.cut_off = 1,
            |totals| totals.calls = 11,
            |totals| totals.unexpected.push("surprise".into()),
        ];
        for (number, fault) in faults.iter().enumerate() {
            let mut totals = good();
            fault(&mut totals);
            assert!(!totals.passed(), "fault {number}");
        }
    }
}
