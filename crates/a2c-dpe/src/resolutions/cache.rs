//! Cached answers, up to a number of documents.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use a2c_protocol::context::A2cResource;
use a2c_protocol::uri::{DpeDocumentUri, Host};
use jiff::{SignedDuration, Timestamp};

/// An answer that may be given again.
#[derive(Debug, Clone)]
pub(super) struct CachedAnswer {
    pub(super) answer: A2cResource,
    /// The state of the document that was published; `None` if no etag tells it.
    pub(super) etag: Option<String>,
    /// The MCP server that had the document.
    pub(super) server: String,
    /// Whether the server has announced every change since.
    pub(super) is_watched: bool,
    /// When the answer stops being given.
    pub(super) until: Option<Timestamp>,
}

impl CachedAnswer {
    pub(super) fn is_current(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// Until when an address is given that is made `now` and expires at `expires`: not in its last `renew_before`, but at
/// least for half of its life.
pub(super) fn given_until(now: Timestamp, expires: Timestamp, renew_before: Duration) -> Timestamp {
    let life = now.duration_until(expires);
    let margin = SignedDuration::try_from(renew_before).unwrap_or(SignedDuration::MAX).min(life / 2);
    expires.checked_sub(margin.max(SignedDuration::ZERO)).unwrap_or(expires)
}

/// Answers by document; the oldest goes first.
#[derive(Debug)]
pub(super) struct AnswerCache {
    answers: HashMap<DpeDocumentUri, (u64, CachedAnswer)>,
    ages: BTreeMap<u64, DpeDocumentUri>,
    next: u64,
    capacity: usize,
}

impl AnswerCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { answers: HashMap::new(), ages: BTreeMap::new(), next: 0, capacity }
    }

    pub(super) fn get(&self, uri: &DpeDocumentUri) -> Option<&CachedAnswer> {
        self.answers.get(uri).map(|(_, cached)| cached)
    }

    /// Caches an answer; returns the earlier answer for that document, and the ones that had to make room.
    pub(super) fn put(&mut self, uri: DpeDocumentUri, cached: CachedAnswer) -> Vec<CachedAnswer> {
        let mut removed: Vec<_> = self.take(&uri).into_iter().collect();
        self.ages.insert(self.next, uri.clone());
        self.answers.insert(uri, (self.next, cached));
        self.next += 1;
        while self.answers.len() > self.capacity {
            let Some((_, oldest)) = self.ages.pop_first() else { break };
            removed.extend(self.answers.remove(&oldest).map(|(_, cached)| cached));
        }
        removed
    }

    pub(super) fn take(&mut self, uri: &DpeDocumentUri) -> Option<CachedAnswer> {
        let (age, cached) = self.answers.remove(uri)?;
        self.ages.remove(&age);
        Some(cached)
    }

    pub(super) fn take_host(&mut self, host: &Host, server: &str) -> Vec<CachedAnswer> {
        self.take_where(|uri, cached| uri.host() == host && cached.server == server)
    }

    pub(super) fn take_server(&mut self, server: &str) -> Vec<CachedAnswer> {
        self.take_where(|_, cached| cached.server == server)
    }

    fn take_where(&mut self, is_selected: impl Fn(&DpeDocumentUri, &CachedAnswer) -> bool) -> Vec<CachedAnswer> {
        let selected: Vec<_> =
            self.answers.iter().filter(|(uri, (_, r))| is_selected(uri, r)).map(|(uri, _)| uri.clone()).collect();
        selected.iter().filter_map(|uri| self.take(uri)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn cached(server: &str) -> CachedAnswer {
        let document = testing::inline("dpe://h/d", "{}");
        let answer = document.at("https://x.example/d");
        CachedAnswer { answer, etag: None, server: server.into(), is_watched: true, until: None }
    }

    #[test]
    fn the_oldest_makes_room() {
        let uri = |n: usize| testing::uri(&format!("dpe://h/{n}"));
        let mut cache = AnswerCache::new(2);
        for n in 0..2 {
            assert!(cache.put(uri(n), cached("s")).is_empty());
        }
        // Put again, the first is the youngest.
        assert_eq!(cache.put(uri(0), cached("s")).len(), 1);
        assert_eq!(cache.put(uri(2), cached("t")).len(), 1);
        assert!(cache.get(&uri(1)).is_none() && cache.get(&uri(0)).is_some());
        assert_eq!(cache.take_server("t").len(), 1);
        assert_eq!(cache.take_host(uri(0).host(), "s").len(), 1);
        assert!(cache.answers.is_empty() && cache.ages.is_empty());
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
