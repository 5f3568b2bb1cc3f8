//! The announcements of one office that wait for their turn. Pure: the caller passes the time.
//!
//! An office may cause so many deliveries a second. Beyond that its announcements wait, in the order in which they were
//! made: a repeated announcement waits once, and a member that comes and goes in between is not announced at all. So
//! what waits is bounded, and the other offices are not disturbed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Instant;

use bytes::Bytes;

use crate::limits::Rate;
use crate::limits::token_bucket::TokenBucket;
use crate::office::ConnId;

/// The number of announcements of one member that may wait.
pub(crate) const MAX_WAITING: usize = 64;

/// The announcements that wait, each with its packet.
#[derive(Debug)]
pub(crate) struct Announcements<P> {
    waiting: VecDeque<WaitingAnnouncement<P>>,
    /// The texts that wait, by sender.
    texts: HashMap<ConnId, SenderTexts>,
    pace: TokenBucket,
}

/// What waits of one member.
#[derive(Debug, Default)]
struct SenderTexts {
    count: usize,
    texts: HashSet<Bytes>,
}

#[derive(Debug)]
struct WaitingAnnouncement<P> {
    from: ConnId,
    what: AnnouncementKind,
    packet: P,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AnnouncementKind {
    Entered,
    Left,
    /// The text by which a repetition is recognised; none where it is not compared.
    Said(Option<Bytes>),
}

/// Too many announcements of the member wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyWaiting;

impl<P> Default for Announcements<P> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), texts: HashMap::new(), pace: TokenBucket::default() }
    }
}

impl<P> Announcements<P> {
    /// A member came in.
    pub(crate) fn entered(&mut self, from: ConnId, packet: P) {
        self.push(from, AnnouncementKind::Entered, packet);
    }

    /// A member left: what it said and what has not been announced is dropped.
    pub(crate) fn left(&mut self, from: ConnId, packet: P) {
        let mut was_announced = true;
        self.waiting.retain(|waiting| {
            let is_its_own = waiting.from == from && waiting.what != AnnouncementKind::Left;
            was_announced &= !(is_its_own && waiting.what == AnnouncementKind::Entered);
            !is_its_own
        });
        self.texts.remove(&from);
        if was_announced {
            self.push(from, AnnouncementKind::Left, packet);
        }
    }

    /// A member says something. A text that waits already is not added again.
    pub(crate) fn say(&mut self, from: ConnId, text: Option<Bytes>, packet: P) -> Result<(), TooManyWaiting> {
        if let Some(sender) = self.texts.get(&from) {
            if text.as_ref().is_some_and(|text| sender.texts.contains(text)) {
                return Ok(());
            }
            if sender.count >= MAX_WAITING {
                return Err(TooManyWaiting);
            }
        }
        let sender = self.texts.entry(from).or_default();
        sender.count += 1;
        sender.texts.extend(text.clone());
        self.push(from, AnnouncementKind::Said(text), packet);
        Ok(())
    }

    fn push(&mut self, from: ConnId, what: AnnouncementKind, packet: P) {
        self.waiting.push_back(WaitingAnnouncement { from, what, packet });
    }

    /// The next announcement and its sender, unless the office has to wait. It goes to so many members.
    pub(crate) fn next(&mut self, rate: Option<Rate>, receivers: usize, now: Instant) -> Option<(ConnId, P)> {
        if self.waiting.is_empty() {
            return None;
        }
        if let Some(rate) = rate {
            self.pace.spend(rate, receivers as f64, now).ok()?;
        }
        let next = self.waiting.pop_front()?;
        if let AnnouncementKind::Said(text) = &next.what
            && let Some(sender) = self.texts.get_mut(&next.from)
        {
            sender.count -= 1;
            if let Some(text) = text {
                sender.texts.remove(text);
            }
            if sender.count == 0 {
                self.texts.remove(&next.from);
            }
        }
        Some((next.from, next.packet))
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: ConnId = ConnId(1);
    const B: ConnId = ConnId(2);

    fn text(text: &'static str) -> Option<Bytes> {
        Some(Bytes::from_static(text.as_bytes()))
    }

    fn all(announcements: &mut Announcements<&'static str>) -> Vec<(ConnId, &'static str)> {
        std::iter::from_fn(|| announcements.next(None, 1, Instant::now())).collect()
    }

    #[test]
    fn what_waits_already_is_not_said_twice() {
        let mut announcements = Announcements::default();
        for _ in 0..3 {
            announcements.say(A, text("tools"), "a: tools").unwrap();
            announcements.say(B, text("tools"), "b: tools").unwrap();
            announcements.say(A, text("desktop"), "a: desktop").unwrap();
        }
        assert_eq!(all(&mut announcements), [(A, "a: tools"), (B, "b: tools"), (A, "a: desktop")]);
        announcements.say(A, text("tools"), "again").unwrap();
        assert_eq!(all(&mut announcements), [(A, "again")], "what went out may come again");
    }

    #[test]
    fn a_member_that_says_ever_new_things_is_refused_and_the_others_are_not() {
        let mut announcements = Announcements::default();
        for _ in 0..MAX_WAITING {
            announcements.say(A, None, "x").unwrap();
        }
        assert_eq!(announcements.say(A, None, "x"), Err(TooManyWaiting));
        assert_eq!(announcements.say(B, None, "y"), Ok(()));
        assert!(announcements.next(None, 1, Instant::now()).is_some());
        assert_eq!(announcements.say(A, None, "x"), Ok(()));
    }

    #[test]
    fn an_office_has_a_pace() {
        let rate = Rate::per_second(100);
        let (mut announcements, now) = (Announcements::default(), Instant::now());
        for _ in 0..4 {
            announcements.say(A, None, "x").unwrap();
        }
        assert!(announcements.next(Some(rate), 60, now).is_some());
        assert!(announcements.next(Some(rate), 60, now).is_some(), "one announcement may go beyond the pace");
        assert!(announcements.next(Some(rate), 60, now).is_none());
        assert!(!announcements.is_empty());
        let soon = now + std::time::Duration::from_millis(300);
        assert!(announcements.next(Some(rate), 60, soon).is_some());
    }

    #[test]
    fn a_member_that_comes_and_goes_meanwhile_is_not_announced() {
        let mut announcements = Announcements::default();
        announcements.entered(A, "a enters");
        announcements.say(A, None, "a speaks").unwrap();
        announcements.left(A, "a leaves");
        assert_eq!(all(&mut announcements), []);
        announcements.left(A, "a leaves");
        announcements.entered(A, "a enters");
        announcements.left(A, "a leaves again");
        assert_eq!(all(&mut announcements), [(A, "a leaves")]);
    }

    proptest! {
        /// However members come, speak and go, what waits is bounded and the others see them come before they go.
        #[test]
        fn what_waits_is_bounded_and_in_order(steps in proptest::collection::vec((0u8..4, 0u64..5, 0usize..3), 0..600)) {
            let mut announcements = Announcements::default();
            let mut inside = HashSet::new();
            let mut seen = HashSet::new();
            for (what, conn, word) in steps {
                let conn = ConnId(conn);
                match what {
                    0 if inside.insert(conn) => announcements.entered(conn, "enter"),
                    1 if inside.remove(&conn) => announcements.left(conn, "leave"),
                    2 if inside.contains(&conn) => {
                        let _ = announcements.say(conn, text(["x", "y", "z"][word]), "say");
                    }
                    3 => if let Some((from, packet)) = announcements.next(None, 1, Instant::now()) {
                        match packet {
                            "enter" => prop_assert!(seen.insert(from)),
                            "leave" => prop_assert!(seen.remove(&from)),
                            _ => prop_assert!(seen.contains(&from)),
                        }
                    }
                    _ => {}
                }
                prop_assert!(announcements.waiting.len() <= 5 * 5);
            }
            while let Some((from, packet)) = announcements.next(None, 1, Instant::now()) {
                match packet {
                    "enter" => prop_assert!(seen.insert(from)),
                    "leave" => prop_assert!(seen.remove(&from)),
                    _ => prop_assert!(seen.contains(&from)),
                }
            }
            prop_assert_eq!(seen, inside);
            prop_assert!(announcements.texts.is_empty());
        }
    }
}
