//! The office that is followed: reads news, and keeps the list of its Computers.
//!
//! The list comes from the hub's roll call; news changes it from there. While a roll is being called, news may tell of a
//! Computer what the answer does not know yet: about those that came or went meanwhile, news is right.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use a2c_link::RequestError;
use a2c_protocol::Role;
use a2c_protocol::notification::{ComputerUpdate, Notification};
use a2c_protocol::office::SessionInfo;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::computer::Computer;
use super::{Inner, Parts, longer, may_pass};
use crate::News;

type Members = Result<Vec<SessionInfo>, RequestError>;

pub(super) struct Office {
    inner: Arc<Inner>,
    news: broadcast::Receiver<News>,
    /// The question who is there, while it is open.
    roll_call: Option<BoxFuture<'static, Members>>,
    /// How long to wait before it is asked again, should it fail.
    pause: Duration,
    /// Who came or went since it was asked, while it is open.
    moved: BTreeSet<String>,
    /// Computers that left, while the follower has not been told.
    leaving: HashMap<String, CancellationToken>,
}

impl Office {
    pub(super) fn new(inner: Arc<Inner>, news: broadcast::Receiver<News>) -> Self {
        let pause = inner.options.retry;
        Self { inner, news, roll_call: None, pause, moved: BTreeSet::new(), leaving: HashMap::new() }
    }

    pub(super) async fn run(mut self) {
        let stop = self.inner.stop.clone();
        loop {
            let roll_call = async {
                match &mut self.roll_call {
                    Some(answer) => answer.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                news = self.news.recv() => match news {
                    Ok(News::Closed { .. }) | Err(RecvError::Closed) => break,
                    Ok(news) => self.heard(&news),
                    Err(RecvError::Lagged(missed)) => {
                        tracing::debug!(missed, "news was missed; looking at the whole office again");
                        self.call_roll(None);
                    }
                },
                members = roll_call => self.answered(members),
            }
        }
        stop.cancel();
    }

    fn heard(&mut self, news: &News) {
        match news {
            News::Notification(notification) => {
                self.inner.follower.notified(notification);
                self.notified(notification);
            }
            News::Reconnected => self.call_roll(None),
            News::SeatLost { .. } => {
                self.roll_call = None;
                self.moved.clear();
                self.roll_called(&[]);
            }
            _ => {}
        }
    }

    fn notified(&mut self, notification: &Notification) {
        let follower = self.inner.follower.clone();
        match notification {
            Notification::EnterOffice(change) => {
                if let Some(name) = &change.computer {
                    self.moved(name);
                    self.enter(name);
                }
            }
            Notification::LeaveOffice(change) => {
                if let Some(name) = &change.computer {
                    self.moved(name);
                    self.leave(name);
                }
            }
            Notification::UpdateToolList(of) => self.mark(of, follower.after_tool_list_update(&of.computer)),
            Notification::UpdateConfig(of) => self.mark(of, follower.after_config_update(&of.computer)),
            Notification::UpdateDesktop(of) => self.mark(of, follower.after_desktop_update(&of.computer)),
            Notification::UpdateFinder(of) => self.mark(of, follower.after_finder_update(&of.computer)),
            _ => {}
        }
    }

    fn moved(&mut self, name: &str) {
        // Without a question there is no answer that this could be newer than.
        if self.roll_call.is_some() {
            self.moved.insert(name.to_owned());
        }
    }

    /// Asks who is there, after a pause where one is given.
    fn call_roll(&mut self, pause: Option<Duration>) {
        let agent = self.inner.agent.clone();
        self.moved.clear();
        self.pause = pause.map_or(self.inner.options.retry, longer);
        let ask = async move {
            tokio::time::sleep(pause.unwrap_or_default()).await;
            agent.members().await
        };
        self.roll_call = Some(ask.boxed());
    }

    fn answered(&mut self, members: Members) {
        self.roll_call = None;
        match members {
            Ok(members) => self.roll_called(&members),
            Err(error) if may_pass(&error) => self.call_roll(Some(self.pause)),
            Err(error) => tracing::debug!(%error, "the members of the office are not known"),
        }
    }

    /// Takes the answer over, except for those of whom news told since.
    pub(super) fn roll_called(&mut self, members: &[SessionInfo]) {
        let computers = members.iter().filter(|member| member.role == Role::Computer);
        let there: BTreeSet<String> = computers.map(|member| member.name.clone()).collect();
        let known: BTreeSet<String> = self.inner.computers().keys().cloned().collect();
        let (left, present) = reconcile(&known, &there, &std::mem::take(&mut self.moved));
        left.iter().for_each(|name| self.leave(name));
        present.iter().for_each(|name| self.enter(name));
    }

    /// A Computer is there. One that is known already may have been away for a moment: all of it is refreshed.
    fn enter(&mut self, name: &str) {
        let parts = self.inner.follower.after_enter(name);
        let before = self.leaving.remove(name);
        let mut computers = self.inner.computers();
        let computer =
            computers.entry(name.to_owned()).or_insert_with(|| Computer::start(&self.inner, name, before)).clone();
        drop(computers);
        computer.mark(chosen(parts, self.inner.options.parts));
    }

    fn leave(&mut self, name: &str) {
        let Some(computer) = self.inner.computers().remove(name) else { return };
        computer.leave();
        self.leaving.retain(|_, gone| !gone.is_cancelled());
        self.leaving.insert(name.to_owned(), computer.gone.clone());
    }

    fn mark(&self, of: &ComputerUpdate, parts: Parts) {
        if let Some(computer) = self.inner.computers().get(&of.computer) {
            computer.mark(chosen(parts, self.inner.options.parts));
        }
    }
}

/// Who left and who is there, by a roll call that knows nothing of those who moved since it was begun.
fn reconcile(
    known: &BTreeSet<String>,
    there: &BTreeSet<String>,
    moved: &BTreeSet<String>,
) -> (Vec<String>, Vec<String>) {
    let stayed = |names: Vec<&String>| names.into_iter().filter(|name| !moved.contains(*name)).cloned().collect();
    (stayed(known.difference(there).collect()), stayed(there.iter().collect()))
}

/// What is both wanted now and followed at all.
fn chosen(parts: Parts, followed: Parts) -> Parts {
    Parts {
        tools: parts.tools && followed.tools,
        desktop: parts.desktop && followed.desktop,
        finder: parts.finder && followed.finder,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use a2c_hub::{Hub, HubConfig};
    use a2c_link::LinkOptions;
    use a2c_protocol::notification::OfficeChange;
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::{Agent, FollowOptions};

    #[tokio::test]
    async fn nobody_is_left_without_a_seat_not_even_who_was_only_told_of() {
        let hub = Hub::start(HubConfig::on("127.0.0.1:0".parse().unwrap())).await.unwrap();
        let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.unwrap();
        let news = agent.subscribe();
        let inner = Arc::new(Inner {
            agent,
            follower: Arc::new(()),
            options: FollowOptions::default(),
            computers: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        let mut office = Office::new(inner.clone(), news);
        let came = OfficeChange { office_id: "o".into(), computer: Some("desk".into()), agent: None };
        for is_asked in [false, true] {
            if is_asked {
                office.call_roll(None);
            }
            office.heard(&News::Notification(Notification::EnterOffice(came.clone())));
            assert_eq!(inner.computers().len(), 1);
            office.heard(&News::SeatLost { reason: "taken".into() });
            assert!(inner.computers().is_empty(), "asked: {is_asked}");
            assert!(office.moved.is_empty(), "nothing piles up");
        }
        inner.stop.cancel();
    }

    #[test]
    fn news_that_came_since_a_roll_call_began_is_right() {
        #[track_caller]
        fn check(known: &str, there: &str, moved: &str, left: &str, present: &str) {
            let names = |text: &str| text.chars().map(String::from).collect::<BTreeSet<_>>();
            let (gone, here) = reconcile(&names(known), &names(there), &names(moved));
            assert_eq!((gone.concat().as_str(), here.concat().as_str()), (left, present));
        }
        check("", "", "", "", "");
        check("ab", "bc", "", "a", "bc");
        check("ab", "ab", "", "", "ab");
        check("ab", "", "", "ab", "");
        // `a` came after the roll was called, `b` left after it.
        check("a", "b", "ab", "", "");
        check("ac", "bd", "ab", "c", "d");
    }
}
