//! The command line.

use clap::{Parser, ValueEnum};

use crate::servers::Server;

/// The hub under load, beside the servers it is compared with: tables on standard output, a verdict for each bar at the
/// end. Exits with an error when a call was lost, duplicated or answered wrongly.
#[derive(Debug, Parser)]
#[command(name = "hub-bench", bin_name = "cargo xtask bench hub")]
pub struct Options {
    /// A few minutes: fewer settings, shorter measurements, one round
    #[arg(long)]
    pub quick: bool,

    /// Measure only this; can be given several times, or as a list
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<Phase>,

    /// Measure calls only with so many offices: 1, 16, 128 or 1000
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    pub offices: Vec<usize>,

    /// Which servers to start
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_values = ["a2c", "relay", "node", "python"])]
    servers: Vec<Server>,

    /// How long to play with dying members; without --only, nothing else is done. Without a number: 600
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600")]
    pub chaos: Option<u64>,

    /// Let the servers and the load share all cores, instead of half of the cores for each
    #[arg(long)]
    pub share_cores: bool,

    /// Where chance starts from, as printed by an earlier run
    #[arg(long)]
    pub seed: Option<u64>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Phase {
    /// Calls per second, latencies, and server CPU per call
    Calls,
    /// Memory and CPU of members that do nothing
    Idle,
    /// Members that connect and join, per second
    Joins,
    /// A word to an office of a thousand
    Broadcast,
    /// CPU per call from one office to ten thousand
    Growth,
    /// Calls of one office beside another that is as loud as the limits allow
    Fairness,
    /// Full load while members die
    Chaos,
}

impl Options {
    /// Whether a phase is wanted.
    pub fn wants(&self, phase: Phase) -> bool {
        match self.only.as_slice() {
            [] => self.chaos.is_none() || phase == Phase::Chaos,
            only => only.contains(&phase),
        }
    }

    /// The servers that are needed: only ours promises anything to those who die.
    pub fn servers(&self) -> Vec<Server> {
        let others = Phase::value_variants().iter().any(|phase| *phase != Phase::Chaos && self.wants(*phase));
        self.servers.iter().copied().filter(|server| others || *server == Server::A2c).collect()
    }

    /// How long chaos lasts.
    pub fn chaos_seconds(&self) -> u64 {
        self.chaos.unwrap_or(if self.quick { 30 } else { 600 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Options {
        Options::try_parse_from(std::iter::once("bench").chain(line.split_whitespace())).expect(line)
    }

    #[test]
    fn phases_are_chosen() {
        let check = |line: &str, wanted: &[Phase]| {
            let options = parse(line);
            let found: Vec<_> = Phase::value_variants().iter().copied().filter(|phase| options.wants(*phase)).collect();
            assert_eq!(found, wanted, "{line}");
        };
        check("", Phase::value_variants());
        check("--only idle,joins", &[Phase::Idle, Phase::Joins]);
        check("--only idle --only chaos --chaos 5", &[Phase::Idle, Phase::Chaos]);
        check("--chaos", &[Phase::Chaos]);
    }

    #[test]
    fn chaos_has_a_length() {
        let table = [("", 600), ("--quick", 30), ("--chaos", 600), ("--chaos 7", 7), ("--chaos --quick", 600)];
        for (line, seconds) in table {
            assert_eq!(parse(line).chaos_seconds(), seconds, "{line}");
        }
    }
}
