//! The answers that are remembered, as many as fit.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use a2c_protocol::context::A2cResource;
use a2c_protocol::uri::{DpeDocumentUri, Host};
use jiff::{SignedDuration, Timestamp};

/// How much a Computer takes upon itself for `get_dpe`.
#[derive(Debug, Clone)]
pub(crate) struct ResolutionLimits {
    /// The largest document, in bytes of its JSON.
    pub(crate) max_bytes: usize,
    /// How many answers are remembered.
    pub(crate) remembered: usize,
    /// How long before it expires an address is no longer given: the Agent has to get there, too.
    pub(crate) renew_before: Duration,
}

impl Default for ResolutionLimits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, remembered: 10_000, renew_before: Duration::from_secs(60) }
    }
}

/// An answer that may be given again.
#[derive(Debug, Clone)]
pub(super) struct Remembered {
    pub(super) answer: A2cResource,
    /// The state of the document that it is of; `None` where that cannot be told from its etag.
    pub(super) etag: Option<String>,
    /// The MCP server that had it.
    pub(super) server: String,
    /// Whether a change since would have been heard of.
    pub(super) is_watched: bool,
    /// From when on it is not given any more.
    pub(super) until: Option<Timestamp>,
}

impl Remembered {
    pub(super) fn is_current(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// Until when an address is given that is made `now` and expires then: not in its last minute, but for half of its life.
pub(super) fn given_until(now: Timestamp, expires: Timestamp, renew_before: Duration) -> Timestamp {
    let life = now.duration_until(expires);
    let margin = SignedDuration::try_from(renew_before).unwrap_or(SignedDuration::MAX).min(life / 2);
    expires.checked_sub(margin.max(SignedDuration::ZERO)).unwrap_or(expires)
}

/// Remembered answers by document, the oldest forgotten first.
#[derive(Debug)]
pub(super) struct Shelf {
    answers: HashMap<DpeDocumentUri, (u64, Remembered)>,
    ages: BTreeMap<u64, DpeDocumentUri>,
    next: u64,
    capacity: usize,
}

impl Shelf {
    pub(super) fn new(capacity: usize) -> Self {
        Self { answers: HashMap::new(), ages: BTreeMap::new(), next: 0, capacity }
    }

    pub(super) fn get(&self, uri: &DpeDocumentUri) -> Option<&Remembered> {
        self.answers.get(uri).map(|(_, remembered)| remembered)
    }

    /// Remembers an answer; returns what was remembered before of that document, and of another that had to make room.
    pub(super) fn put(&mut self, uri: DpeDocumentUri, remembered: Remembered) -> Vec<Remembered> {
        let mut gone: Vec<_> = self.take(&uri).into_iter().collect();
        self.ages.insert(self.next, uri.clone());
        self.answers.insert(uri, (self.next, remembered));
        self.next += 1;
        while self.answers.len() > self.capacity {
            let Some((_, oldest)) = self.ages.pop_first() else { break };
            gone.extend(self.answers.remove(&oldest).map(|(_, remembered)| remembered));
        }
        gone
    }

    pub(super) fn take(&mut self, uri: &DpeDocumentUri) -> Option<Remembered> {
        let (age, remembered) = self.answers.remove(uri)?;
        self.ages.remove(&age);
        Some(remembered)
    }

    pub(super) fn take_host(&mut self, host: &Host, server: &str) -> Vec<Remembered> {
        self.take_where(|uri, remembered| uri.host() == host && remembered.server == server)
    }

    pub(super) fn take_server(&mut self, server: &str) -> Vec<Remembered> {
        self.take_where(|_, remembered| remembered.server == server)
    }

    fn take_where(&mut self, is_meant: impl Fn(&DpeDocumentUri, &Remembered) -> bool) -> Vec<Remembered> {
        let meant: Vec<_> =
            self.answers.iter().filter(|(uri, (_, r))| is_meant(uri, r)).map(|(uri, _)| uri.clone()).collect();
        meant.iter().filter_map(|uri| self.take(uri)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dpe::testing;

    fn remembered(server: &str) -> Remembered {
        let document = testing::inline("dpe://h/d", "{}");
        let answer = document.at("https://x.example/d");
        Remembered { answer, etag: None, server: server.into(), is_watched: true, until: None }
    }

    #[test]
    fn the_oldest_makes_room() {
        let uri = |n: usize| testing::uri(&format!("dpe://h/{n}"));
        let mut shelf = Shelf::new(2);
        for n in 0..2 {
            assert!(shelf.put(uri(n), remembered("s")).is_empty());
        }
        // Put again, the first is the youngest.
        assert_eq!(shelf.put(uri(0), remembered("s")).len(), 1);
        assert_eq!(shelf.put(uri(2), remembered("t")).len(), 1);
        assert!(shelf.get(&uri(1)).is_none() && shelf.get(&uri(0)).is_some());
        assert_eq!(shelf.take_server("t").len(), 1);
        assert_eq!(shelf.take_host(uri(0).host(), "s").len(), 1);
        assert!(shelf.answers.is_empty() && shelf.ages.is_empty());
    }

    #[test]
    fn addresses_are_not_given_in_their_last_minute_or_half() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (life, expected) in [(600, 540), (60, 30), (1, 0), (0, 0), (-5, -5)] {
            let until = given_until(now, now + SignedDuration::from_secs(life), Duration::from_secs(60));
            assert_eq!(now.duration_until(until).as_millis() / 1000, expected, "{life}");
        }
    }
}
