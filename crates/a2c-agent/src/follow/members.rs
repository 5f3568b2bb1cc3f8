//! Which Computers are in the office: a task that reads the Agent's events and keeps the list.
//!
//! The list comes from the hub (`server:list_room`); events change it from there. While the hub is asked, an event may tell
//! of a Computer what the answer does not know yet: about Computers that came or left meanwhile, the event is right.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use a2c_link::RequestError;
use a2c_protocol::Role;
use a2c_protocol::notification::{ComputerUpdate, Notification};
use a2c_protocol::office::SessionInfo;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::followed_computer::FollowedComputer;
use super::{FollowedParts, Inner, longer, may_pass};
use crate::{AgentEvent, AgentEvents};

type Answer = Result<Vec<SessionInfo>, RequestError>;

pub(super) struct MemberTracker {
    inner: Arc<Inner>,
    events: AgentEvents,
    /// The request for the members, while it is under way.
    query: Option<BoxFuture<'static, Answer>>,
    /// How long to wait before the next request, should this one fail.
    pause: Duration,
    /// Computers that came or left since the request began.
    moved: BTreeSet<String>,
    /// Computers that left, until the follower has been told.
    leaving: HashMap<String, CancellationToken>,
}

impl MemberTracker {
    pub(super) fn new(inner: Arc<Inner>, events: AgentEvents) -> Self {
        let pause = inner.options.retry;
        Self { inner, events, query: None, pause, moved: BTreeSet::new(), leaving: HashMap::new() }
    }

    pub(super) async fn run(mut self) {
        let stop = self.inner.stop.clone();
        loop {
            let answer = async {
                match &mut self.query {
                    Some(query) => query.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                event = self.events.recv() => match event {
                    Some(AgentEvent::Closed { .. }) | None => break,
                    Some(event) => self.handle(&event),
                },
                members = answer => self.answered(members),
            }
        }
        stop.cancel();
    }

    fn handle(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Notification(notification) => {
                self.inner.follower.notified(notification);
                self.notified(notification);
            }
            AgentEvent::Reconnected => self.query_members(None),
            AgentEvent::Missed { count } => {
                tracing::debug!(count, "events were missed; all Computers of the office are refreshed");
                self.query_members(None);
            }
            AgentEvent::SeatLost { .. } => {
                self.query = None;
                self.moved.clear();
                self.set_members(&[]);
            }
            _ => {}
        }
    }

    fn notified(&mut self, notification: &Notification) {
        let follower = self.inner.follower.clone();
        match notification {
            Notification::EnterOffice(change) => {
                if let Some(name) = &change.computer {
                    self.note_move(name);
                    self.enter(name);
                }
            }
            Notification::LeaveOffice(change) => {
                if let Some(name) = &change.computer {
                    self.note_move(name);
                    self.leave(name);
                }
            }
            Notification::UpdateToolList(of) => self.mark_stale(of, follower.after_tool_list_update(&of.computer)),
            Notification::UpdateConfig(of) => self.mark_stale(of, follower.after_config_update(&of.computer)),
            Notification::UpdateDesktop(of) => self.mark_stale(of, follower.after_desktop_update(&of.computer)),
            Notification::UpdateFinder(of) => self.mark_stale(of, follower.after_finder_update(&of.computer)),
            _ => {}
        }
    }

    fn note_move(&mut self, name: &str) {
        // Without a request there is no answer that this could be newer than.
        if self.query.is_some() {
            self.moved.insert(name.to_owned());
        }
    }

    /// Asks the hub for the members, after a pause where one is given.
    fn query_members(&mut self, pause: Option<Duration>) {
        let agent = self.inner.agent.clone();
        self.moved.clear();
        self.pause = pause.map_or(self.inner.options.retry, longer);
        let query = async move {
            tokio::time::sleep(pause.unwrap_or_default()).await;
            agent.members().await
        };
        self.query = Some(query.boxed());
    }

    fn answered(&mut self, members: Answer) {
        self.query = None;
        match members {
            Ok(members) => self.set_members(&members),
            Err(error) if may_pass(&error) => self.query_members(Some(self.pause)),
            Err(error) => tracing::debug!(%error, "the members of the office are not known"),
        }
    }

    /// Takes the hub's answer over, except for Computers of which an event told since.
    pub(super) fn set_members(&mut self, members: &[SessionInfo]) {
        let computers = members.iter().filter(|member| member.role == Role::Computer);
        let listed: BTreeSet<String> = computers.map(|member| member.name.clone()).collect();
        let known: BTreeSet<String> = self.inner.computers().keys().cloned().collect();
        let (left, present) = reconcile(&known, &listed, &std::mem::take(&mut self.moved));
        left.iter().for_each(|name| self.leave(name));
        present.iter().for_each(|name| self.enter(name));
    }

    /// A Computer is there. One that is known already may have been away for a moment: all its parts are refreshed.
    fn enter(&mut self, name: &str) {
        let parts = self.inner.follower.after_enter(name);
        let before = self.leaving.remove(name);
        let mut computers = self.inner.computers();
        let computer = computers
            .entry(name.to_owned())
            .or_insert_with(|| FollowedComputer::start(&self.inner, name, before))
            .clone();
        drop(computers);
        computer.mark_stale(chosen(parts, self.inner.options.parts));
    }

    fn leave(&mut self, name: &str) {
        let Some(computer) = self.inner.computers().remove(name) else { return };
        computer.leave();
        self.leaving.retain(|_, gone| !gone.is_cancelled());
        self.leaving.insert(name.to_owned(), computer.gone.clone());
    }

    fn mark_stale(&self, of: &ComputerUpdate, parts: FollowedParts) {
        if let Some(computer) = self.inner.computers().get(&of.computer) {
            computer.mark_stale(chosen(parts, self.inner.options.parts));
        }
    }
}

/// Which Computers left and which are there, by an answer that knows nothing of those that moved since it was asked for.
fn reconcile(
    known: &BTreeSet<String>,
    listed: &BTreeSet<String>,
    moved: &BTreeSet<String>,
) -> (Vec<String>, Vec<String>) {
    let stayed = |names: Vec<&String>| names.into_iter().filter(|name| !moved.contains(*name)).cloned().collect();
    (stayed(known.difference(listed).collect()), stayed(listed.iter().collect()))
}

/// The parts that are both wanted now and followed at all.
fn chosen(parts: FollowedParts, followed: FollowedParts) -> FollowedParts {
    FollowedParts {
        tools: parts.tools && followed.tools,
        desktop: parts.desktop && followed.desktop,
        finder: parts.finder && followed.finder,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use a2c_hub::{Hub, HubConfig};
    use a2c_link::{JoinError, LinkOptions};
    use a2c_protocol::notification::OfficeChange;
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::{Agent, FollowOptions};

    #[tokio::test]
    async fn no_computer_remains_after_the_seat_is_lost() {
        let hub = Hub::start(HubConfig::on("127.0.0.1:0".parse().unwrap())).await.unwrap();
        let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.unwrap();
        let events = agent.subscribe();
        let inner = Arc::new(Inner {
            agent,
            follower: Arc::new(()),
            options: FollowOptions::default(),
            computers: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        let mut tracker = MemberTracker::new(inner.clone(), events);
        let came = OfficeChange { office_id: "o".into(), computer: Some("desk".into()), agent: None };
        for is_asked in [false, true] {
            if is_asked {
                tracker.query_members(None);
            }
            tracker.handle(&AgentEvent::Notification(Notification::EnterOffice(came.clone())));
            assert_eq!(inner.computers().len(), 1);
            tracker.handle(&AgentEvent::SeatLost { cause: JoinError::OfficeFull("taken".into()) });
            assert!(inner.computers().is_empty(), "asked: {is_asked}");
            assert!(tracker.moved.is_empty(), "nothing piles up");
        }
        inner.stop.cancel();
    }

    #[test]
    fn an_event_since_the_request_began_is_right() {
        #[track_caller]
        fn check(known: &str, listed: &str, moved: &str, left: &str, present: &str) {
            let names = |text: &str| text.chars().map(String::from).collect::<BTreeSet<_>>();
            let (gone, here) = reconcile(&names(known), &names(listed), &names(moved));
            assert_eq!((gone.concat().as_str(), here.concat().as_str()), (left, present));
        }
        check("", "", "", "", "");
        check("ab", "bc", "", "a", "bc");
        check("ab", "ab", "", "", "ab");
        check("ab", "", "", "ab", "");
        // `a` came after the hub was asked, `b` left after it.
        check("a", "b", "ab", "", "");
        check("ac", "bd", "ab", "c", "d");
    }
}
