//! What the system says about processes, and about itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are not connections: files, pipes, the event queue, and some air.
const OTHER_DESCRIPTORS: u64 = 200;

/// CPU time of a process, in nanoseconds where the kernel counts them for each thread, else in its ticks of 10 ms.
pub fn cpu_nanos(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let exact: u64 = threads.filter_map(|thread| schedstat(&thread.path())).sum();
    if exact > 0 { exact } else { ticks(pid) * 10_000_000 }
}

/// Time on a core of one thread.
fn schedstat(thread: &Path) -> Option<u64> {
    fs::read_to_string(thread.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
}

fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program may hold spaces; the fields after it do not.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    [11, 12].iter().filter_map(|i| fields.get(*i)?.parse::<u64>().ok()).sum()
}

/// Resident memory of a process, in KiB.
pub fn rss_kib(pid: u32) -> u64 {
    status_kib(pid, "VmRSS:")
}

/// The most resident memory that a process ever had, in KiB.
pub fn peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:")
}

fn status_kib(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// Raises the number of descriptors to what is allowed, for this process and those it starts, and says how many
/// connections that makes.
pub fn connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    usize::try_from(allowed.saturating_sub(OTHER_DESCRIPTORS)).unwrap_or(usize::MAX)
}

/// Date, machine and versions, which belong to every figure.
pub fn about() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown processor");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}; {cores} cores, {model}; Linux {}; {}; Node {}; {}",
        says("date", &["-u", "+%F"]),
        kernel.trim(),
        says("rustc", &["--version"]),
        says("node", &["--version"]),
        says("python3", &["--version"]),
    )
}

fn says(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { format!("no {program}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn busy_time_is_counted_in_both_ways() {
        let pid = std::process::id();
        let (nanos, before) = (cpu_nanos(pid), ticks(pid));
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(200) || cpu_nanos(pid) - nanos < 100_000_000 {}
        assert!(ticks(pid) > before);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(rss_kib(std::process::id()) > 100);
        assert_eq!(rss_kib(u32::MAX), 0);
    }
}
