//! One Computer that is followed: what was last fetched of it, and the task that keeps it current.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2c_link::RequestError;
use a2c_protocol::context::GetFinderRet;
use a2c_protocol::tool::SmcpTool;
use a2c_supervise::ChangeSignal;
use tokio_util::sync::CancellationToken;

use super::{FollowedPart, FollowedParts, Inner, longer, may_pass};

/// A Computer of the office.
pub(super) struct FollowedComputer {
    name: String,
    last: Mutex<LastState>,
    tools: ChangeSignal,
    desktop: ChangeSignal,
    finder: ChangeSignal,
    /// It left, or following ended.
    stop: CancellationToken,
    /// The follower was told that it left.
    pub(super) gone: CancellationToken,
}

/// What was fetched last.
#[derive(Default)]
pub(super) struct LastState {
    pub(super) tools: Option<Arc<[SmcpTool]>>,
    pub(super) desktop: Option<Arc<[String]>>,
    pub(super) finder: Option<Arc<GetFinderRet>>,
}

/// One part, just fetched.
enum Fetched {
    Tools(Arc<[SmcpTool]>),
    Desktop(Arc<[String]>),
    Finder(Arc<GetFinderRet>),
}

impl FollowedComputer {
    /// Begins to follow a Computer; `before` ends when the follower was told that an earlier one of this name left.
    pub(super) fn start(inner: &Arc<Inner>, name: &str, before: Option<CancellationToken>) -> Arc<Self> {
        let computer = Arc::new(Self {
            name: name.to_owned(),
            last: Mutex::default(),
            tools: ChangeSignal::new(),
            desktop: ChangeSignal::new(),
            finder: ChangeSignal::new(),
            stop: inner.stop.child_token(),
            gone: CancellationToken::new(),
        });
        inner.tasks.spawn(computer.clone().run(inner.clone(), before));
        computer
    }

    /// It left.
    pub(super) fn leave(&self) {
        self.stop.cancel();
    }

    /// These parts are out of date.
    pub(super) fn mark_stale(&self, parts: FollowedParts) {
        for part in [FollowedPart::Tools, FollowedPart::Desktop, FollowedPart::Finder] {
            if parts.contains(part) {
                self.stale(part).mark();
            }
        }
    }

    pub(super) fn last(&self) -> MutexGuard<'_, LastState> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stale(&self, part: FollowedPart) -> &ChangeSignal {
        match part {
            FollowedPart::Tools => &self.tools,
            FollowedPart::Desktop => &self.desktop,
            FollowedPart::Finder => &self.finder,
        }
    }

    async fn run(self: Arc<Self>, inner: Arc<Inner>, before: Option<CancellationToken>) {
        // Also where a method of the follower panics, the next Computer of this name must not wait for ever.
        let _gone = self.gone.clone().drop_guard();
        if let Some(before) = before {
            before.cancelled().await;
        }
        if self.stop.is_cancelled() {
            return;
        }
        inner.follower.computer_entered(&self.name).await;
        tokio::join!(
            self.keep_current(&inner, FollowedPart::Tools),
            self.keep_current(&inner, FollowedPart::Desktop),
            self.keep_current(&inner, FollowedPart::Finder),
        );
        if !inner.stop.is_cancelled() {
            inner.follower.computer_left(&self.name).await;
        }
    }

    /// Refreshes a part whenever it is marked, until the Computer leaves.
    async fn keep_current(&self, inner: &Inner, part: FollowedPart) {
        let mut pause = None;
        loop {
            let again = async {
                match pause {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                () = self.stale(part).changed() => {}
                () = again => {}
            }
            let outcome = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                outcome = self.fetch(inner, part) => outcome,
            };
            pause = match outcome {
                Ok(fetched) => {
                    self.store(inner, fetched).await;
                    None
                }
                Err(error) => {
                    inner.follower.refresh_failed(&self.name, part, &error).await;
                    may_pass(&error).then(|| pause.map_or(inner.options.retry, longer))
                }
            };
        }
    }

    async fn fetch(&self, inner: &Inner, part: FollowedPart) -> Result<Fetched, RequestError> {
        let (follower, agent, name) = (&inner.follower, &inner.agent, &self.name);
        Ok(match part {
            FollowedPart::Tools => Fetched::Tools(follower.fetch_tools(agent, name).await?.into()),
            FollowedPart::Desktop => Fetched::Desktop(follower.fetch_desktop(agent, name).await?.into()),
            FollowedPart::Finder => Fetched::Finder(Arc::new(follower.fetch_finder(agent, name).await?)),
        })
    }

    /// Stores first, so that a follower that looks the part up finds what it is told.
    async fn store(&self, inner: &Inner, fetched: Fetched) {
        match fetched {
            Fetched::Tools(tools) => {
                self.last().tools = Some(tools.clone());
                inner.follower.tools_changed(&self.name, &tools).await;
            }
            Fetched::Desktop(windows) => {
                self.last().desktop = Some(windows.clone());
                inner.follower.desktop_changed(&self.name, &windows).await;
            }
            Fetched::Finder(finder) => {
                self.last().finder = Some(finder.clone());
                inner.follower.finder_changed(&self.name, &finder).await;
            }
        }
    }
}
