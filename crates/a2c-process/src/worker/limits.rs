//! The limits of a worker, how they travel to it, and how they are set.

use std::io;
use std::time::Duration;

/// Where a worker finds its limits.
pub(super) const VARIABLE: &str = "A2C_WORKER_LIMITS";

/// What a worker may use; `None` is without limit. Memory and CPU time are counted for each process by itself, also for
/// those that the worker starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerLimits {
    /// How many bytes of address space it may have, its program and its stacks included (`RLIMIT_AS`).
    pub memory: Option<u64>,
    /// How long it may compute, in whole seconds, rounded up (`RLIMIT_CPU`).
    pub cpu_time: Option<Duration>,
    /// How long it may run.
    pub wall_clock: Option<Duration>,
}

/// Why a worker has no limits. It must not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerLimitsError {
    /// Nothing, or nothing readable, stands in its environment.
    #[error("{VARIABLE} does not hold the limits of a worker: the program is started by its parent, not by hand")]
    Variable,
    /// The operating system does not set them.
    #[error("the limits of the worker cannot be set")]
    Set(#[from] io::Error),
}

/// Sets the limits of this process, which is a worker.
///
/// A program that is to be a worker calls this first thing in `main`, before it reads input or starts threads, and ends if
/// it fails.
pub fn apply_worker_limits() -> Result<(), WorkerLimitsError> {
    let text = std::env::var(VARIABLE).map_err(|_| WorkerLimitsError::Variable)?;
    WorkerLimits::parse(&text).ok_or(WorkerLimitsError::Variable)?.set_for_self()?;
    Ok(())
}

impl WorkerLimits {
    /// The limits that a worker sets itself, as text.
    pub(super) fn to_text(self) -> String {
        let text = |limit: Option<u64>| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string());
        format!("{} {}", text(self.memory), text(self.cpu_seconds()))
    }

    /// Reads what [`WorkerLimits::to_text`] wrote.
    fn parse(text: &str) -> Option<Self> {
        let limit = |text: &str| match text {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        };
        let (memory, seconds) = text.split_once(' ')?;
        let cpu_time = limit(seconds)?.map(Duration::from_secs);
        Some(Self { memory: limit(memory)?, cpu_time, wall_clock: None })
    }

    fn cpu_seconds(self) -> Option<u64> {
        self.cpu_time.map(|time| (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1))
    }

    #[cfg(unix)]
    fn set_for_self(self) -> io::Result<()> {
        for (resource, limit) in self.kernel_limits() {
            rustix::process::setrlimit(resource, limit)?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn set_for_self(self) -> io::Result<()> {
        Ok(())
    }

    /// Sets the limits of a process that has just been started. A worker of ours has set them itself, or has failed.
    #[cfg(target_os = "linux")]
    pub(super) fn set_for(self, pid: u32) {
        let Some(process) = rustix::process::Pid::from_raw(pid.cast_signed()) else { return };
        for (resource, limit) in self.kernel_limits() {
            if let Err(error) = rustix::process::prlimit(Some(process), resource, limit) {
                tracing::debug!(pid, ?resource, %error, "the limit is left to the worker itself");
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn set_for(self, _: u32) {}

    /// What the kernel is told. It never gets more than this program has itself.
    #[cfg(unix)]
    fn kernel_limits(self) -> Vec<(rustix::process::Resource, rustix::process::Rlimit)> {
        use rustix::process::{Resource, Rlimit, getrlimit};
        let limit = |resource: Resource, soft: u64, hard: u64| {
            let own = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            (resource, Rlimit { current: Some(soft.min(own)), maximum: Some(hard.min(own)) })
        };
        // What a worker holds does not belong into a core file.
        let mut limits = vec![limit(Resource::Core, 0, 0)];
        limits.extend(self.memory.map(|bytes| limit(Resource::As, bytes, bytes)));
        // The signal at the soft limit says why it ends; a worker that ignores it is killed a second later.
        limits.extend(self.cpu_seconds().map(|seconds| limit(Resource::Cpu, seconds, seconds.saturating_add(1))));
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_travel_as_text() {
        let check = |memory, cpu_time: Option<Duration>, text: &str, read: Option<Duration>| {
            let limits = WorkerLimits { memory, cpu_time, wall_clock: Some(Duration::from_secs(7)) };
            assert_eq!(limits.to_text(), text);
            assert_eq!(WorkerLimits::parse(text), Some(WorkerLimits { memory, cpu_time: read, wall_clock: None }));
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        check(None, None, "- -", None);
        check(Some(1 << 40), seconds(5), "1099511627776 5", seconds(5));
        check(None, Some(Duration::from_millis(1500)), "- 2", seconds(2));
        check(None, Some(Duration::ZERO), "- 1", seconds(1));
        for text in ["", "1", "a 1", "1 -1", "1  2", "1 2 3"] {
            assert_eq!(WorkerLimits::parse(text), None, "{text:?}");
        }
    }
}
