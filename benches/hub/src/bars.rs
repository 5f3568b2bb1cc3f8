//! The bars our hub has to clear, judged by the figures of the same run.

use std::fmt;

use crate::chaos::Outcome;
use crate::phases::calls::Setting;
use crate::phases::growth::{MANNERS, Manner};
use crate::phases::{broadcast, calls, fairness, growth, idle, joins};
use crate::servers::Server;

/// The setting that is named beside the worst one, because others have published theirs for it.
const USUAL: Setting = Setting { offices: 16, in_flight: 1, result_bytes: 200 };

/// All figures of a run; a phase that was left out has none.
#[derive(Default)]
pub struct Results {
    pub calls: Vec<calls::Row>,
    pub idle: Vec<idle::Row>,
    pub joins: Vec<joins::Row>,
    pub broadcast: Vec<broadcast::Row>,
    pub growth: Vec<growth::Row>,
    pub fairness: Vec<fairness::Row>,
    pub chaos: Option<Outcome>,
}

/// One bar and how it was cleared.
struct Verdict {
    bar: String,
    limit: &'static str,
    figure: String,
    cleared: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.cleared { "pass" } else { "MISS" };
        write!(f, "| {} | {} | {} | {word} |", self.bar, self.limit, self.figure)
    }
}

impl Results {
    /// The summary: one line for each bar of which there is a figure.
    pub fn summary(&self) -> String {
        let mut text = "\n## bars\n\n| bar | limit | figure | |\n|---|---:|---|---|\n".to_owned();
        for verdict in self.verdicts() {
            text.push_str(&format!("{verdict}\n"));
        }
        text
    }

    /// Whether a call was lost or answered wrongly anywhere: that is no matter of speed.
    pub fn is_sound(&self) -> bool {
        self.calls.iter().all(|row| row.server != Server::A2c || row.lost == 0)
            && self.chaos.as_ref().is_none_or(|outcome| outcome.totals.passed())
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut all = Vec::new();
        let cpu = |row: &calls::Row| row.cpu_micros;
        all.extend(self.ratio(Server::Relay, "CPU per call", ("≤ 1.15 ×", 1.15), |_| true, cpu));
        all.extend(self.ratio(Server::Node, "CPU per call", ("≤ 1.2 ×", 1.2), |_| true, cpu));
        all.extend(self.ratio(Server::Python, "CPU per call", ("≤ 0.05 ×", 0.05), |_| true, cpu));
        let one_office = |setting: Setting| setting.offices == 1;
        all.extend(self.ratio(Server::Relay, "p99 at 1 office", ("≤ 1.15 ×", 1.15), one_office, |row| row.p99_ms));
        all.extend(self.lost());
        all.extend(self.idle_memory());
        all.extend(self.join_rate());
        all.extend(self.broadcast_time());
        all.extend(MANNERS.into_iter().filter_map(|manner| self.growth_of(manner)));
        all.extend(self.fair_latency());
        all.extend(self.fair_memory());
        all.extend(self.chaos_outcome());
        all
    }

    /// Our figure as a multiple of another's, in the setting where it is worst.
    fn ratio(
        &self,
        other: Server,
        what: &str,
        (limit, most): (&'static str, f64),
        compared: impl Fn(Setting) -> bool,
        figure: impl Fn(&calls::Row) -> f64,
    ) -> Option<Verdict> {
        let of = |server: Server, setting: Setting| {
            self.calls.iter().find(|row| row.server == server && row.setting == setting).map(&figure)
        };
        let settings = self.calls.iter().filter(|row| row.server == Server::A2c).map(|row| row.setting);
        let mut ratios: Vec<(f64, Setting)> = settings
            .filter(|setting| compared(*setting))
            .filter_map(|setting| Some((of(Server::A2c, setting)? / of(other, setting)?, setting)))
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (worst, Setting { offices, in_flight, result_bytes }) = *ratios.last()?;
        let middle = ratios[ratios.len() / 2].0;
        let usual = ratios.iter().find(|(_, setting)| *setting == USUAL);
        let usual = usual.map(|(ratio, _)| format!(", {ratio:.3} at 16 offices of one call")).unwrap_or_default();
        let cleared = ratios.iter().filter(|(ratio, _)| *ratio <= most).count();
        Some(Verdict {
            bar: format!("{what}, against {other}"),
            limit,
            figure: format!(
                "worst {worst:.3} (offices {offices}, in flight {in_flight}, {result_bytes} B), median {middle:.3}{usual}; \
                 cleared in {cleared} of {} settings",
                ratios.len()
            ),
            cleared: worst <= most,
        })
    }

    fn lost(&self) -> Option<Verdict> {
        let ours = self.calls.iter().filter(|row| row.server == Server::A2c);
        let lost = ours.map(|row| row.lost).reduce(|a, b| a + b)?;
        Some(Verdict { bar: "calls lost".into(), limit: "0", figure: lost.to_string(), cleared: lost == 0 })
    }

    fn idle_memory(&self) -> Option<Verdict> {
        let row = self.idle.iter().find(|row| row.server == Server::A2c)?;
        Some(Verdict {
            bar: "RSS per idle joined connection".into(),
            limit: "< 20 KiB",
            figure: format!("{:.1} KiB with {} connections, {} of them gone", row.kib_each, row.members, row.gone),
            cleared: row.kib_each < 20.0 && row.gone == 0,
        })
    }

    fn join_rate(&self) -> Option<Verdict> {
        let row = self.joins.iter().find(|row| row.server == Server::A2c)?;
        let cleared = row.per_second > 2000.0;
        Some(Verdict {
            bar: "connect + join".into(),
            limit: "> 2000/s",
            figure: format!("{:.0}/s", row.per_second),
            cleared,
        })
    }

    fn broadcast_time(&self) -> Option<Verdict> {
        let row = self.broadcast.iter().find(|row| row.server == Server::A2c)?;
        Some(Verdict {
            bar: "broadcast to 1,000 computers".into(),
            limit: "< 50 ms",
            figure: format!("p50 {:.1} ms, p99 {:.1} ms", row.p50_ms, row.p99_ms),
            cleared: row.p99_ms < 50.0,
        })
    }

    fn growth_of(&self, manner: Manner) -> Option<Verdict> {
        let most = |server: Server| {
            let rows = self.growth.iter().filter(|row| row.server == server && row.manner == manner);
            rows.max_by_key(|row| row.many)
        };
        let growth::Row { few, many, percent, .. } = most(Server::A2c)?;
        // What the same stack does without any rule or index.
        let relay = most(Server::Relay).map(|row| format!("; bare relay {:+.0} %", row.percent)).unwrap_or_default();
        Some(Verdict {
            bar: format!("growth of CPU per call, {manner}"),
            limit: "< 20 %",
            figure: format!("{percent:+.0} % from {few} to {many} offices{relay}"),
            cleared: *percent < 20.0,
        })
    }

    fn fair_latency(&self) -> Option<Verdict> {
        let ratio = |row: &fairness::Row| if row.lost == 0 { row.beside_ms / row.apart_ms } else { f64::INFINITY };
        let worst = self.fairness.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
        Some(Verdict {
            bar: "p99 of calls beside a loud office, against apart from it".into(),
            limit: "≤ 3 ×",
            figure: format!("worst {:.2} × ({:?})", ratio(worst), worst.burden),
            cleared: ratio(worst) <= 3.0,
        })
    }

    fn fair_memory(&self) -> Option<Verdict> {
        let worst = self.fairness.iter().max_by_key(|row| row.excess_mib)?;
        Some(Verdict {
            bar: "memory above max_memory beside a loud office".into(),
            limit: "< 64 MiB",
            figure: format!("{} MiB ({:?})", worst.excess_mib, worst.burden),
            cleared: worst.excess_mib < 64,
        })
    }

    fn chaos_outcome(&self) -> Option<Verdict> {
        let Outcome { totals, seconds } = self.chaos.as_ref()?;
        Some(Verdict {
            bar: format!("{seconds} s of chaos"),
            limit: "0 lost or twice",
            figure: format!(
                "{} calls, {} deaths: {} lost, {} duplicated, {} wrong",
                totals.calls,
                totals.deaths(),
                totals.lost,
                totals.duplicated,
                totals.wrong
            ),
            cleared: totals.passed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(server: Server, offices: usize, cpu_micros: f64, p99_ms: f64) -> calls::Row {
        let setting = Setting { offices, in_flight: 1, result_bytes: 200 };
        calls::Row { server, setting, p99_ms, cpu_micros, lost: 0 }
    }

    fn growth(many: usize, percent: f64) -> growth::Row {
        growth::Row { server: Server::A2c, manner: MANNERS[0], few: 1, many, percent }
    }

    fn judged(results: &Results, bar: &str) -> bool {
        let verdicts = results.verdicts();
        verdicts.iter().find(|verdict| verdict.bar.starts_with(bar)).expect(bar).cleared
    }

    #[test]
    fn the_worst_setting_decides() {
        let mut results = Results {
            calls: vec![
                calls(Server::A2c, 1, 11.0, 1.0),
                calls(Server::Relay, 1, 10.0, 1.0),
                calls(Server::A2c, 16, 10.0, 9.0),
                calls(Server::Relay, 16, 10.0, 1.0),
            ],
            ..Results::default()
        };
        assert!(judged(&results, "CPU per call"));
        assert!(judged(&results, "p99"), "only one office counts");
        results.calls[2].cpu_micros = 12.0;
        assert!(!judged(&results, "CPU per call"));
        results.calls[0].p99_ms = 1.2;
        assert!(!judged(&results, "p99"));
        assert!(results.is_sound());
        results.calls[0].lost = 1;
        assert!(!results.is_sound() && !judged(&results, "calls lost"));
    }

    #[test]
    fn growth_is_judged_by_the_most_offices() {
        let of = |rows| Results { growth: rows, ..Results::default() };
        assert!(judged(&of(vec![growth(100, 40.0), growth(1000, 19.0)]), "growth"));
        assert!(!judged(&of(vec![growth(1000, 21.0), growth(100, 0.0)]), "growth"));
    }

    #[test]
    fn what_was_not_measured_has_no_verdict() {
        assert!(Results::default().verdicts().is_empty());
    }
}
