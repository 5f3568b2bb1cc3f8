//! Following an office: what its Computers offer, kept current.
//!
//! How it flows: `members` reads the events of the Agent, tells the [`Follower`] at once, and marks the parts that are out
//! of date; it never waits for a Computer. Each Computer has a task of its own (`followed_computer`), in which each
//! [`FollowedPart`] is refreshed one request at a time: a part that is marked while its request runs is asked for once
//! more, however often it was marked. So the last state is always seen, bursts cost two requests, and a Computer that does
//! not answer delays no other.

mod followed_computer;
mod follower;
mod members;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_link::RequestError;
use a2c_protocol::ErrorCode;
use a2c_protocol::context::GetFinderRet;
use a2c_protocol::tool::SmcpTool;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::Agent;
use followed_computer::FollowedComputer;
pub use follower::{FollowedPart, FollowedParts, Follower};
use members::MemberTracker;

/// What is followed, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FollowOptions {
    /// What is kept current. Nothing else is ever asked for.
    pub parts: FollowedParts,
    /// How long to wait before a refresh that failed is tried again; twice as long after each further failure, a minute
    /// at most. A notification of the Computer ends the pause.
    pub retry: Duration,
}

impl Default for FollowOptions {
    fn default() -> Self {
        Self { parts: FollowedParts::ALL, retry: Duration::from_secs(1) }
    }
}

impl FollowOptions {
    /// What is kept current.
    pub fn with_parts(self, parts: FollowedParts) -> Self {
        Self { parts, ..self }
    }

    /// How long to wait before a refresh that failed is tried again.
    pub fn with_retry(self, retry: Duration) -> Self {
        Self { retry, ..self }
    }
}

/// An office that is being followed, and what is known of its Computers. Ends when it is dropped.
pub struct Following {
    inner: Arc<Inner>,
    _stop: DropGuard,
}

/// What the tasks share.
struct Inner {
    agent: Agent,
    follower: Arc<dyn Follower>,
    options: FollowOptions,
    computers: Mutex<BTreeMap<String, Arc<FollowedComputer>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Agent {
    /// Follows the office that the Agent has joined: fetches what its Computers offer, and fetches it again when they say
    /// that it changed, when the connection was lost, and when events were missed.
    ///
    /// `follower` is told; use `Arc::new(())` if you only want to look things up. This returns when the members of the
    /// office are known; what they offer comes in as they answer. An Agent that changes its office calls this
    /// again.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use a2c_agent::{Agent, Follower, FollowOptions, FollowedParts, async_trait};
    /// # use a2c_agent::protocol::tool::SmcpTool;
    /// struct Prompt;
    ///
    /// #[async_trait]
    /// impl Follower for Prompt {
    ///     async fn tools_changed(&self, computer: &str, tools: &[SmcpTool]) {
    ///         println!("{computer} has {} tools", tools.len());
    ///     }
    /// }
    ///
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// let options = FollowOptions::default().with_parts(FollowedParts::TOOLS | FollowedParts::DESKTOP);
    /// let office = agent.follow(Arc::new(Prompt), options).await?;
    /// for computer in office.computers() {
    ///     println!("{computer}: {:?}", office.desktop(&computer));
    /// }
    /// office.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn follow(
        &self,
        follower: Arc<impl Follower>,
        options: FollowOptions,
    ) -> Result<Following, RequestError> {
        // Events first, then the members: a Computer that comes in between is told twice rather than missed.
        let events = self.subscribe();
        let members = self.members().await?;
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            agent: self.clone(),
            follower,
            options,
            computers: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: stop.clone(),
        });
        let mut tracker = MemberTracker::new(inner.clone(), events);
        tracker.set_members(&members);
        inner.tasks.spawn(tracker.run());
        Ok(Following { inner, _stop: stop.drop_guard() })
    }
}

impl Following {
    /// The Computers that are in the office.
    pub fn computers(&self) -> Vec<String> {
        self.inner.computers().keys().cloned().collect()
    }

    /// The tools of a Computer, as last fetched.
    pub fn tools(&self, computer: &str) -> Option<Arc<[SmcpTool]>> {
        self.inner.computers().get(computer)?.last().tools.clone()
    }

    /// The Desktop of a Computer, as last fetched.
    pub fn desktop(&self, computer: &str) -> Option<Arc<[String]>> {
        self.inner.computers().get(computer)?.last().desktop.clone()
    }

    /// The first page of the Finder of a Computer, as last fetched.
    pub fn finder(&self, computer: &str) -> Option<Arc<GetFinderRet>> {
        self.inner.computers().get(computer)?.last().finder.clone()
    }

    /// Ends it, and waits until no method of the follower runs any more. Not to be awaited by one of them.
    pub async fn stop(self) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

impl Inner {
    fn computers(&self) -> MutexGuard<'_, BTreeMap<String, Arc<FollowedComputer>>> {
        self.computers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether asking again later may help. A lost connection is no matter of time: an event tells when it is back.
fn may_pass(error: &RequestError) -> bool {
    match error {
        RequestError::Timeout(_) | RequestError::Congested => true,
        RequestError::Refused(error) => {
            matches!(error.code, ErrorCode::Timeout | ErrorCode::LimitExceeded | ErrorCode::Internal)
        }
        _ => false,
    }
}

/// Twice as long as before, within reason.
fn longer(pause: Duration) -> Duration {
    (pause * 2).min(Duration::from_secs(60))
}
