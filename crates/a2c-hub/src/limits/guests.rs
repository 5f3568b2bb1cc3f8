//! How much comes from each address: connections, sessions, wrong credentials.
//!
//! A connection and a session are counted apart, because a session that is polled has no connection of its own, and one
//! connection can open many of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::bucket::Bucket;
use super::{Limits, Rate};

/// How long a refusal from an address is not written down again.
const QUIET: Duration = Duration::from_secs(60);

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Connection,
    Session,
}

/// Everybody who is here, by address.
#[derive(Debug)]
pub(crate) struct Guests {
    per_address: Option<usize>,
    failures: Option<Rate>,
    addresses: Mutex<HashMap<IpAddr, Address>>,
}

#[derive(Debug, Default)]
struct Address {
    connections: usize,
    sessions: usize,
    failed: Bucket,
    /// When a refusal was last written down.
    noted: Option<Instant>,
}

impl Address {
    fn count(&mut self, what: Count) -> &mut usize {
        match what {
            Count::Connection => &mut self.connections,
            Count::Session => &mut self.sessions,
        }
    }
}

/// One that was let in; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    guests: Arc<Guests>,
    address: IpAddr,
    what: Count,
}

/// An address has as many as it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{limit} connections from this address are open: close some of them")]
pub(crate) struct Crowded {
    pub(crate) limit: usize,
}

impl Guests {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let (per_address, failures) = (limits.connections_per_address, limits.failed_connects);
        Arc::new(Self { per_address, failures, addresses: Mutex::default() })
    }

    /// Counts one more.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr, what: Count) -> Result<Guest, Crowded> {
        let address = subscriber(address);
        let mut addresses = self.lock();
        let count = addresses.entry(address).or_default().count(what);
        if let Some(limit) = self.per_address
            && *count >= limit
        {
            return Err(Crowded { limit });
        }
        *count += 1;
        Ok(Guest { guests: self.clone(), address, what })
    }

    /// Whether it is worth writing down that somebody from an address was refused: once a minute.
    pub(crate) fn is_news(&self, address: IpAddr, now: Instant) -> bool {
        let mut addresses = self.lock();
        let known = addresses.entry(subscriber(address)).or_default();
        let is_news = known.noted.is_none_or(|at| now.saturating_duration_since(at) > QUIET);
        if is_news {
            known.noted = Some(now);
        }
        is_news
    }

    /// Notes a wrong credential.
    pub(crate) fn failed(&self, address: IpAddr, now: Instant) {
        if let Some(rate) = self.failures {
            let _ = self.lock().entry(subscriber(address)).or_default().failed.take(rate, now);
        }
    }

    /// How long no credential from an address is looked at, because so many were wrong.
    pub(crate) fn locked_out(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let rate = self.failures?;
        self.lock().get_mut(&subscriber(address))?.failed.wait(rate, now)
    }

    /// Forgets addresses from which nobody is here and nothing is held against.
    pub(crate) fn tidy(&self, now: Instant) {
        let failures = self.failures;
        self.lock().retain(|_, known| {
            known.connections + known.sessions > 0
                || known.noted.is_some_and(|at| now.saturating_duration_since(at) <= QUIET)
                || failures.is_some_and(|rate| !known.failed.is_full(rate, now))
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Address>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who an address stands for: one subscriber of IPv6 has as many addresses as there are in a /64.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut addresses = self.guests.lock();
        if let Some(known) = addresses.get_mut(&self.address) {
            *known.count(self.what) -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guests() -> Arc<Guests> {
        let mut limits = Limits::public();
        limits.connections_per_address = Some(2);
        limits.failed_connects = Some(Rate::per_minute(3));
        Guests::new(&limits)
    }

    #[test]
    fn each_address_has_its_own_room_and_gets_it_back() {
        let guests = guests();
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|a| a.parse::<IpAddr>().unwrap());
        let first = guests.enter(a, Count::Connection).unwrap();
        let _second = guests.enter(a, Count::Connection).unwrap();
        assert_eq!(guests.enter(a, Count::Connection).err(), Some(Crowded { limit: 2 }));
        assert!(guests.enter(a, Count::Session).is_ok());
        assert!(guests.enter(b, Count::Connection).is_ok());
        assert!(guests.enter("::ffff:10.0.0.1".parse().unwrap(), Count::Connection).is_err(), "the same address");
        drop(first);
        assert!(guests.enter(a, Count::Connection).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_subscriber() {
        let guests = guests();
        let _held: Vec<_> = ["2001:db8::1", "2001:db8::ffff"]
            .map(|a| guests.enter(a.parse().unwrap(), Count::Connection).unwrap())
            .into();
        assert!(guests.enter("2001:db8::2".parse().unwrap(), Count::Connection).is_err());
        assert!(guests.enter("2001:db8:0:1::2".parse().unwrap(), Count::Connection).is_ok());
    }

    #[test]
    fn wrong_credentials_lock_an_address_out_for_a_while() {
        let guests = guests();
        let (a, now) = ("10.0.0.1".parse().unwrap(), Instant::now());
        for _ in 0..3 {
            assert_eq!(guests.locked_out(a, now), None);
            guests.failed(a, now);
        }
        assert_eq!(guests.locked_out(a, now), Some(Duration::from_secs(20)));
        assert_eq!(guests.locked_out("10.0.0.2".parse().unwrap(), now), None);
        guests.tidy(now);
        assert!(guests.locked_out(a, now).is_some(), "not forgotten by tidying up");
        assert_eq!(guests.locked_out(a, now + Duration::from_secs(30)), None);
        guests.tidy(now + Duration::from_secs(600));
        assert!(guests.lock().is_empty());
    }
}
