//! How the processes of one owner are recognised, whatever they do.
//!
//! A process may start others that leave its process group and its session, and whose parents are gone. Two marks travel
//! to all of them, each by another way:
//!
//! - the environment variable [`VARIABLE`], which a process keeps unless it is started with an empty environment;
//! - on Linux also the soft limit of file locks, a number that the kernel hands down to every child across `fork`, `exec`
//!   and `setsid`, and that has had no effect of its own for twenty years.
//!
//! [`crate::reaper`] looks for both.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// Where a process finds its mark.
pub(crate) const VARIABLE: &str = "A2C_FAMILY";

/// How many bits of the limit count the starts; the others tell owners apart.
const START_BITS: u32 = 22;

/// Issues the marks of one owner's processes.
#[derive(Debug)]
pub(crate) struct MarkIssuer {
    owner: Uuid,
    issued: AtomicU64,
}

/// What all processes of an owner, or of one start, have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    /// Part of the value of [`VARIABLE`].
    text: String,
    /// The soft limit of file locks.
    locks: RangeInclusive<u64>,
}

impl MarkIssuer {
    pub(crate) fn new() -> Self {
        Self { owner: Uuid::new_v4(), issued: AtomicU64::new(0) }
    }

    /// The mark of one start.
    pub(crate) fn next(&self) -> ProcessMark {
        let start = self.issued.fetch_add(1, Ordering::Relaxed) % (1 << START_BITS);
        let locks = first_locks_limit(self.owner) + start;
        ProcessMark { text: format!("{}/{}", self.owner, Uuid::new_v4()), locks: locks..=locks }
    }

    /// The mark of all of them.
    pub(crate) fn mark_of_all(&self) -> ProcessMark {
        ProcessMark::of_owner(self.owner)
    }
}

impl ProcessMark {
    /// What all processes of an owner have in common.
    fn of_owner(owner: Uuid) -> Self {
        let first = first_locks_limit(owner);
        Self { text: format!("{owner}/"), locks: first..=first + ((1 << START_BITS) - 1) }
    }

    /// Reads the mark of an owner as [`ProcessMark::text`] writes it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self::of_owner(Uuid::parse_str(text.strip_suffix('/')?).ok()?))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The value of [`VARIABLE`] for a new process. The owner may itself be a process of another owner: its processes
    /// belong to both.
    pub(crate) fn variable(&self) -> OsString {
        let mut value = std::env::var_os(VARIABLE).unwrap_or_default();
        if !value.is_empty() {
            value.push(":");
        }
        value.push(&self.text);
        value
    }

    /// Sets the limit of a process that has just been started. Where that fails there is still the variable.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_locks_limit(&self, pid: u32) {
        use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
        let limit = Rlimit { current: Some(*self.locks.start()), maximum: getrlimit(Resource::Locks).maximum };
        let set = Pid::from_raw(pid.cast_signed()).map(|pid| prlimit(Some(pid), Resource::Locks, limit));
        if let Some(Err(error)) = set {
            tracing::debug!(pid, %error, "the process bears no mark in its limits");
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn set_locks_limit(&self, _: u32) {}

    /// Whether a process with these marks is meant.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_among(&self, marks: &SeenMarks) -> bool {
        let is_part =
            |value: &Vec<u8>| value.split(|byte| *byte == b':').any(|one| one.starts_with(self.text.as_bytes()));
        marks.variable.as_ref().is_some_and(is_part) || marks.locks.is_some_and(|locks| self.locks.contains(&locks))
    }
}

/// The marks that one process bears, of any owner.
#[cfg(target_os = "linux")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenMarks {
    variable: Option<Vec<u8>>,
    locks: Option<u64>,
}

#[cfg(target_os = "linux")]
impl SeenMarks {
    /// Reads them from the environment and the limits of a process, as the kernel shows them.
    pub(crate) fn read(environment: &[u8], limits: &str) -> Self {
        let value = |entry: &[u8]| Some(entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?.to_vec());
        let soft = limits.lines().find_map(|line| line.strip_prefix("Max file locks")?.split_whitespace().next());
        Self {
            variable: environment.split(|byte| *byte == 0).find_map(value),
            locks: soft.and_then(|soft| soft.parse().ok()),
        }
    }
}

/// 40 random bits of the owner, then zeros for the start: far below "unlimited".
fn first_locks_limit(owner: Uuid) -> u64 {
    let bytes = owner.as_bytes();
    bytes[..5].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)) << START_BITS
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn marks_are_recognised() {
        let (owner, other) = (MarkIssuer::new(), MarkIssuer::new());
        let (first, second) = (owner.next(), owner.next());
        let environment = |mark: &ProcessMark| format!("PATH=/bin\0{VARIABLE}={}\0X=1\0", mark.text()).into_bytes();
        let limits = |locks: u64| format!("Limit  Soft Limit\nMax file locks   {locks}  unlimited  locks\n");
        let check = |mark: &ProcessMark, of: &ProcessMark, expected: bool| {
            assert_eq!(mark.is_among(&SeenMarks::read(&environment(of), "")), expected, "{mark:?} {of:?}");
            let limited = SeenMarks::read(b"", &limits(*of.locks.start()));
            assert_eq!(mark.is_among(&limited), expected, "{mark:?} {of:?}");
        };
        check(&first, &first, true);
        check(&first, &second, false);
        check(&owner.mark_of_all(), &first, true);
        check(&owner.mark_of_all(), &second, true);
        check(&other.mark_of_all(), &first, false);
        let unlimited = SeenMarks::read(b"XA2C_FAMILY=x\0\0", "Max file locks  unlimited  unlimited  locks");
        assert_eq!(unlimited, SeenMarks::default());
        assert!(!first.is_among(&SeenMarks::read(format!("OTHER={}\0", first.text()).as_bytes(), "")));
        // An owner that is a process of another owner.
        let nested = format!("{VARIABLE}={}:{}\0", first.text(), other.next().text());
        let nested = SeenMarks::read(nested.as_bytes(), "");
        assert!(first.is_among(&nested) && other.mark_of_all().is_among(&nested));
        assert_eq!(ProcessMark::parse(owner.mark_of_all().text()), Some(owner.mark_of_all()));
        assert_eq!(ProcessMark::parse("nothing/"), None);
    }
}
