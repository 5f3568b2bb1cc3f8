//! Limits per address: connections, sessions and wrong credentials.
//!
//! Connections and sessions are counted apart, because a polling session has no connection of its own, and one
//! connection can open many sessions.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::token_bucket::TokenBucket;
use super::{HubLimits, Rate};

/// The interval between two log entries about refusals of one address for one reason.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// How many reasons of one address are logged in an interval. Some texts hold words of the client, who could make up any
/// number of them.
const MAX_REASONS: usize = 8;

/// What a slot is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotKind {
    Connection,
    Session,
}

/// The use of the hub by address, and its limits.
#[derive(Debug)]
pub(crate) struct AddressLimits {
    per_address: Option<usize>,
    failures: Option<Rate>,
    addresses: Mutex<HashMap<IpAddr, AddressUse>>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct AddressUse {
    connections: usize,
    sessions: usize,
    failed: TokenBucket,
    /// The refusals that were logged in the last interval.
    logged: Vec<LoggedRefusal>,
}

/// A refusal that was logged, and how many of the same followed it.
#[derive(Debug)]
struct LoggedRefusal {
    /// The hash of its reason.
    reason: u64,
    at: Instant,
    repeated: u64,
}

/// Whether a refusal is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalNote {
    /// It is, and this many of the same were not since the last one that was.
    Logged {
        /// How many were not.
        repeated: u64,
    },
    /// The same was logged a moment ago.
    Counted,
}

impl LoggedRefusal {
    fn is_recent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) <= LOG_INTERVAL
    }
}

impl AddressUse {
    fn count(&mut self, what: SlotKind) -> &mut usize {
        match what {
            SlotKind::Connection => &mut self.connections,
            SlotKind::Session => &mut self.sessions,
        }
    }
}

/// A connection or session that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct AddressSlot {
    address_limits: Arc<AddressLimits>,
    address: IpAddr,
    what: SlotKind,
}

/// The address has as many connections or sessions as it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{limit} connections from this address are open: close some of them")]
pub(crate) struct TooManyConnections {
    pub(crate) limit: usize,
}

impl AddressLimits {
    pub(crate) fn new(limits: &HubLimits) -> Arc<Self> {
        let (per_address, failures) = (limits.connections_per_address, limits.failed_connects);
        Arc::new(Self { per_address, failures, addresses: Mutex::default(), hasher: RandomState::new() })
    }

    /// Counts another connection or session, or refuses it.
    pub(crate) fn acquire(
        self: &Arc<Self>,
        address: IpAddr,
        what: SlotKind,
    ) -> Result<AddressSlot, TooManyConnections> {
        let address = subscriber(address);
        let mut addresses = self.lock();
        let count = addresses.entry(address).or_default().count(what);
        if let Some(limit) = self.per_address
            && *count >= limit
        {
            return Err(TooManyConnections { limit });
        }
        *count += 1;
        Ok(AddressSlot { address_limits: self.clone(), address, what })
    }

    /// Whether to log a refusal of this address for this reason: once a minute.
    pub(crate) fn note_refusal(&self, address: IpAddr, reason: &str, now: Instant) -> RefusalNote {
        let reason = self.hasher.hash_one(reason);
        let mut addresses = self.lock();
        let logged = &mut addresses.entry(subscriber(address)).or_default().logged;
        let known = logged.iter().position(|entry| entry.reason == reason);
        let repeated = match known {
            Some(place) if logged[place].is_recent(now) => {
                logged[place].repeated += 1;
                return RefusalNote::Counted;
            }
            Some(place) => logged.swap_remove(place).repeated,
            None => 0,
        };
        if logged.len() >= MAX_REASONS {
            logged.retain(|entry| entry.is_recent(now));
        }
        if logged.len() >= MAX_REASONS {
            return RefusalNote::Counted;
        }
        logged.push(LoggedRefusal { reason, at: now, repeated: 0 });
        RefusalNote::Logged { repeated }
    }

    /// Counts a wrong credential.
    pub(crate) fn credential_failed(&self, address: IpAddr, now: Instant) {
        if let Some(rate) = self.failures {
            let _ = self.lock().entry(subscriber(address)).or_default().failed.take(rate, now);
        }
    }

    /// How long the hub refuses credentials from this address because too many were wrong.
    pub(crate) fn locked_out(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let rate = self.failures?;
        self.lock().get_mut(&subscriber(address))?.failed.wait(rate, now)
    }

    /// Removes addresses without connections, sessions, recent refusals and wrong credentials.
    pub(crate) fn remove_idle(&self, now: Instant) {
        let failures = self.failures;
        self.lock().retain(|_, known| {
            known.connections + known.sessions > 0
                || known.logged.iter().any(|entry| entry.is_recent(now))
                || failures.is_some_and(|rate| !known.failed.is_full(rate, now))
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, AddressUse>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that stands for a subscriber: one subscriber of IPv6 has all addresses of a /64.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut addresses = self.address_limits.lock();
        if let Some(known) = addresses.get_mut(&self.address) {
            *known.count(self.what) -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_limits() -> Arc<AddressLimits> {
        let mut limits = HubLimits::public();
        limits.connections_per_address = Some(2);
        limits.failed_connects = Some(Rate::per_minute(3));
        AddressLimits::new(&limits)
    }

    #[test]
    fn each_address_has_its_own_room_and_gets_it_back() {
        let address_limits = address_limits();
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|a| a.parse::<IpAddr>().unwrap());
        let first = address_limits.acquire(a, SlotKind::Connection).unwrap();
        let _second = address_limits.acquire(a, SlotKind::Connection).unwrap();
        assert_eq!(address_limits.acquire(a, SlotKind::Connection).err(), Some(TooManyConnections { limit: 2 }));
        assert!(address_limits.acquire(a, SlotKind::Session).is_ok());
        assert!(address_limits.acquire(b, SlotKind::Connection).is_ok());
        assert!(
            address_limits.acquire("::ffff:10.0.0.1".parse().unwrap(), SlotKind::Connection).is_err(),
            "the same address"
        );
        drop(first);
        assert!(address_limits.acquire(a, SlotKind::Connection).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_subscriber() {
        let address_limits = address_limits();
        let _held: Vec<_> = ["2001:db8::1", "2001:db8::ffff"]
            .map(|a| address_limits.acquire(a.parse().unwrap(), SlotKind::Connection).unwrap())
            .into();
        assert!(address_limits.acquire("2001:db8::2".parse().unwrap(), SlotKind::Connection).is_err());
        assert!(address_limits.acquire("2001:db8:0:1::2".parse().unwrap(), SlotKind::Connection).is_ok());
    }

    #[test]
    fn each_reason_of_an_address_is_logged_once_a_minute() {
        let address_limits = address_limits();
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|a| a.parse::<IpAddr>().unwrap());
        let (start, first) = (Instant::now(), RefusalNote::Logged { repeated: 0 });
        let note = |address, reason: &str, seconds| {
            address_limits.note_refusal(address, reason, start + Duration::from_secs(seconds))
        };
        assert_eq!([note(a, "expired", 0), note(a, "wrong role", 0), note(b, "expired", 0)], [first; 3]);
        assert_eq!([note(a, "expired", 1), note(a, "expired", 60)], [RefusalNote::Counted; 2]);
        address_limits.remove_idle(start + Duration::from_secs(60));
        assert_eq!(note(a, "expired", 61), RefusalNote::Logged { repeated: 2 });
        address_limits.remove_idle(start + Duration::from_secs(200));
        assert!(address_limits.lock().is_empty());
    }

    #[test]
    fn reasons_that_a_client_makes_up_are_few() {
        let address_limits = address_limits();
        let (a, start) = ("10.0.0.1".parse().unwrap(), Instant::now());
        let logged_at = |now| {
            let notes = (0..1000).map(|n| address_limits.note_refusal(a, &format!("version {n}"), now));
            notes.filter(|note| matches!(note, RefusalNote::Logged { .. })).count()
        };
        assert_eq!(logged_at(start), MAX_REASONS);
        assert_eq!(logged_at(start + 2 * LOG_INTERVAL), MAX_REASONS);
    }

    #[test]
    fn wrong_credentials_lock_an_address_out_for_a_while() {
        let address_limits = address_limits();
        let (a, now) = ("10.0.0.1".parse().unwrap(), Instant::now());
        for _ in 0..3 {
            assert_eq!(address_limits.locked_out(a, now), None);
            address_limits.credential_failed(a, now);
        }
        assert_eq!(address_limits.locked_out(a, now), Some(Duration::from_secs(20)));
        assert_eq!(address_limits.locked_out("10.0.0.2".parse().unwrap(), now), None);
        address_limits.remove_idle(now);
        assert!(address_limits.locked_out(a, now).is_some(), "not forgotten by tidying up");
        assert_eq!(address_limits.locked_out(a, now + Duration::from_secs(30)), None);
        address_limits.remove_idle(now + Duration::from_secs(600));
        assert!(address_limits.lock().is_empty());
    }
}
