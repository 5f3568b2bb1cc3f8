//! How the processes of a Computer are known again, whatever they do.
//!
//! A server may start processes that leave its process group and its session, and whose parents are gone. Two marks
//! travel to all of them, each by another way:
//!
//! - the environment variable [`VARIABLE`], which a process keeps unless it is started with an empty environment;
//! - on Linux also the soft limit of file locks, a number that the kernel hands down to every child across `fork`, `exec`
//!   and `setsid`, and that has had no effect of its own for twenty years.
//!
//! [`super::kin`] looks for both.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// Where a process finds which family it belongs to.
pub(crate) const VARIABLE: &str = "A2C_FAMILY";

/// How many of a brand's bits count the starts; the others tell Computers apart.
const START_BITS: u32 = 22;

/// The processes of one Computer.
pub(crate) struct Family {
    computer: Uuid,
    starts: AtomicU64,
}

/// What the processes of a Computer, or of one start of one of its servers, have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marker {
    /// Part of the value of [`VARIABLE`].
    text: String,
    /// The soft limit of file locks.
    brand: RangeInclusive<u64>,
}

impl Family {
    pub(crate) fn new() -> Self {
        Self { computer: Uuid::new_v4(), starts: AtomicU64::new(0) }
    }

    /// The mark of one start of a server.
    pub(crate) fn start(&self) -> Marker {
        let start = self.starts.fetch_add(1, Ordering::Relaxed) % (1 << START_BITS);
        let brand = first_brand(self.computer) + start;
        Marker { text: format!("{}/{}", self.computer, Uuid::new_v4()), brand: brand..=brand }
    }

    /// The mark of all of them.
    pub(crate) fn marker(&self) -> Marker {
        Marker::of_computer(self.computer)
    }
}

impl Marker {
    /// What all processes of a Computer have in common.
    fn of_computer(computer: Uuid) -> Self {
        let first = first_brand(computer);
        Self { text: format!("{computer}/"), brand: first..=first + ((1 << START_BITS) - 1) }
    }

    /// Reads the mark of a Computer as [`Marker::text`] writes it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self::of_computer(Uuid::parse_str(text.strip_suffix('/')?).ok()?))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The value of [`VARIABLE`] for a new process. A Computer may itself be started by a server of another Computer:
    /// what belongs to it belongs to the other one too.
    pub(crate) fn variable(&self) -> OsString {
        let mut value = std::env::var_os(VARIABLE).unwrap_or_default();
        if !value.is_empty() {
            value.push(":");
        }
        value.push(&self.text);
        value
    }

    /// Brands a process that has just been started. Where that fails there is still the variable.
    #[cfg(target_os = "linux")]
    pub(crate) fn brand(&self, pid: u32) {
        use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
        let brand = Rlimit { current: Some(*self.brand.start()), maximum: getrlimit(Resource::Locks).maximum };
        let branded = Pid::from_raw(pid.cast_signed()).map(|pid| prlimit(Some(pid), Resource::Locks, brand));
        if let Some(Err(error)) = branded {
            tracing::debug!(pid, %error, "the process is not branded");
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn brand(&self, _: u32) {}

    /// Whether a process that bears these marks is meant.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_among(&self, marks: &Marks) -> bool {
        let is_part =
            |value: &Vec<u8>| value.split(|byte| *byte == b':').any(|one| one.starts_with(self.text.as_bytes()));
        marks.variable.as_ref().is_some_and(is_part) || marks.brand.is_some_and(|brand| self.brand.contains(&brand))
    }
}

/// The marks of one process, of whatever Computer.
#[cfg(target_os = "linux")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    variable: Option<Vec<u8>>,
    brand: Option<u64>,
}

#[cfg(target_os = "linux")]
impl Marks {
    /// Reads them from the environment and the limits of a process, as the kernel shows them.
    pub(crate) fn read(environment: &[u8], limits: &str) -> Self {
        let value = |entry: &[u8]| Some(entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?.to_vec());
        let soft = limits.lines().find_map(|line| line.strip_prefix("Max file locks")?.split_whitespace().next());
        Self {
            variable: environment.split(|byte| *byte == 0).find_map(value),
            brand: soft.and_then(|soft| soft.parse().ok()),
        }
    }
}

/// 40 random bits of the Computer, then zeros for the start: far below "unlimited".
fn first_brand(computer: Uuid) -> u64 {
    let bytes = computer.as_bytes();
    bytes[..5].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)) << START_BITS
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn marks_are_recognised() {
        let (family, other) = (Family::new(), Family::new());
        let (first, second) = (family.start(), family.start());
        let environment = |marker: &Marker| format!("PATH=/bin\0{VARIABLE}={}\0X=1\0", marker.text()).into_bytes();
        let limits = |brand: u64| format!("Limit  Soft Limit\nMax file locks   {brand}  unlimited  locks\n");
        let check = |marker: &Marker, of: &Marker, expected: bool| {
            assert_eq!(marker.is_among(&Marks::read(&environment(of), "")), expected, "{marker:?} {of:?}");
            let branded = Marks::read(b"", &limits(*of.brand.start()));
            assert_eq!(marker.is_among(&branded), expected, "{marker:?} {of:?}");
        };
        check(&first, &first, true);
        check(&first, &second, false);
        check(&family.marker(), &first, true);
        check(&family.marker(), &second, true);
        check(&other.marker(), &first, false);
        assert_eq!(Marks::read(b"XA2C_FAMILY=x\0\0", "Max file locks  unlimited  unlimited  locks"), Marks::default());
        assert!(!first.is_among(&Marks::read(format!("OTHER={}\0", first.text()).as_bytes(), "")));
        // A Computer within a Computer.
        let nested = format!("{VARIABLE}={}:{}\0", first.text(), other.start().text());
        let nested = Marks::read(nested.as_bytes(), "");
        assert!(first.is_among(&nested) && other.marker().is_among(&nested));
        assert_eq!(Marker::parse(family.marker().text()), Some(family.marker()));
        assert_eq!(Marker::parse("nothing/"), None);
    }
}
