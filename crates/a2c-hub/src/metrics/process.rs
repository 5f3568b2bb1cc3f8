//! Statistics of this process, read from the system on demand.

/// The statistics of this process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProcessStats {
    /// Processor time so far, in seconds.
    pub(super) cpu_seconds: f64,
    /// Memory in use, in bytes.
    pub(super) resident_bytes: u64,
    /// Open file descriptors, connections among them.
    pub(super) open_fds: u64,
    /// The limit of open file descriptors.
    pub(super) max_fds: Option<u64>,
    /// When it started, in seconds since 1970.
    pub(super) start_time: f64,
}

#[cfg(target_os = "linux")]
impl ProcessStats {
    /// Reads `/proc`; `None` where it cannot be read.
    pub(super) fn read() -> Option<Self> {
        use std::fs::read_to_string;

        let stat = ProcStat::parse(&read_to_string("/proc/self/stat").ok()?)?;
        let boot =
            read_to_string("/proc/stat").ok()?.lines().find_map(|line| line.strip_prefix("btime ")?.parse().ok());
        let boot: u64 = boot?;
        let ticks = |count: u64| count as f64 / rustix::param::clock_ticks_per_second() as f64;
        // One entry is the descriptor of this reading.
        let entries = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
        Some(Self {
            cpu_seconds: ticks(stat.cpu_ticks),
            resident_bytes: stat.resident_pages * rustix::param::page_size() as u64,
            open_fds: entries.saturating_sub(1),
            max_fds: max_fds(&read_to_string("/proc/self/limits").ok()?),
            start_time: boot as f64 + ticks(stat.start_ticks),
        })
    }
}

#[cfg(not(target_os = "linux"))]
impl ProcessStats {
    /// Not implemented for other systems.
    pub(super) fn read() -> Option<Self> {
        None
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq)]
struct ProcStat {
    cpu_ticks: u64,
    start_ticks: u64,
    resident_pages: u64,
}

#[cfg(target_os = "linux")]
impl ProcStat {
    /// Reads `/proc/PID/stat`: numbers, after a name that may hold anything, blanks and brackets included.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The manual counts from 1 and with the two fields that are cut off here.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { cpu_ticks: field(14)? + field(15)?, start_ticks: field(22)?, resident_pages: field(24)? })
    }
}

/// The soft limit; none where it is unlimited.
#[cfg(target_os = "linux")]
fn max_fds(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let text = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 140 15 16 17 18 19 20 21 2200 2300 240 25\n";
        assert_eq!(ProcStat::parse(text), Some(ProcStat { cpu_ticks: 155, start_ticks: 2200, resident_pages: 240 }));
        assert_eq!(ProcStat::parse("7 (a) S 1"), None);
        assert_eq!(ProcStat::parse(""), None);
    }

    #[test]
    fn this_process_is_seen_as_it_is() {
        let seen = ProcessStats::read().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        assert!(seen.start_time > now - 86_400.0 && seen.start_time <= now + 1.0, "{seen:?} at {now}");
        assert!(seen.resident_bytes > 100_000 && seen.open_fds >= 3, "{seen:?}");
        assert!(seen.max_fds.is_none_or(|max| max >= seen.open_fds), "{seen:?}");
    }

    #[test]
    fn limits_may_be_unlimited() {
        let limits = "Limit    Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n";
        assert_eq!(max_fds(limits), Some(1024));
        assert_eq!(max_fds("Max open files            unlimited            unlimited            files"), None);
    }
}
