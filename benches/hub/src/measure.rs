//! What the system says about a process, and how figures are shown.

use std::time::Duration;

use crate::load::Setting;

/// CPU time of a process, in microseconds.
pub fn cpu_micros(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: u64 = [11, 12].iter().filter_map(|i| fields.get(*i)?.parse::<u64>().ok()).sum();
    // The kernel counts in hundredths of a second wherever this runs.
    ticks * 10_000
}

/// Resident memory of a process, in KiB.
pub fn rss_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// What one round of load came to.
pub struct Figures {
    pub calls: usize,
    pub lost: usize,
    pub took: Duration,
    pub times: Vec<Duration>,
    pub cpu_micros: u64,
    pub rss_kib: u64,
}

impl Figures {
    pub const HEADER: &'static str = "\
| server | offices | in flight | result | calls | lost | calls/s | p50 ms | p99 ms | p99.9 ms | CPU µs/call | RSS MiB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

    pub fn row(&self, server: &str, setting: &Setting) -> String {
        let ms = |p: f64| {
            let index = ((self.times.len() as f64 * p) as usize).min(self.times.len().saturating_sub(1));
            self.times.get(index).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let rate = self.calls as f64 / self.took.as_secs_f64();
        let cpu = self.cpu_micros as f64 / self.calls as f64;
        format!(
            "| {server} | {} | {} | {} | {} | {rate:.0} | {:.2} | {:.2} | {:.2} | {cpu:.1} | {:.0} |",
            setting.label(),
            setting.result_bytes,
            self.calls,
            self.lost,
            ms(0.5),
            ms(0.99),
            ms(0.999),
            self.rss_kib as f64 / 1024.0,
        )
    }
}
