//! Notifications of servers that speak MCP without `initialize`: such a server tells only what one open request asks for.
//!
//! [`Listening`] holds what is wanted; [`listen`] keeps a request open for it. When more is wanted, a new request replaces
//! the old one once the server has taken it, so that nothing is missed in between.

use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_supervise::{ChangeSignal, Coalescer, Pace};
use futures_util::FutureExt as _;
use rmcp::model::{ServerCapabilities, ServerNotification, SubscriptionFilter};
use rmcp::service::Subscription;
use rmcp::{Peer, RoleClient};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::call_failure::{CallFailure, ExpectedAnswer};

/// How many resources one request names: the library compares each with all that the server takes.
const MOST_RESOURCES: usize = 2_000;

/// How long the server may take to agree.
const AGREE_LIMIT: Duration = Duration::from_secs(30);

/// Resources are wanted one by one: a new request waits for the others.
const PACE: Pace = Pace::debounced(Duration::from_millis(20), Duration::from_millis(200));

/// The pauses before another try.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// A request that was open for so long worked.
const LASTING: Duration = Duration::from_secs(60);

/// What one session wants to be told.
#[derive(Default)]
pub(crate) struct Listening {
    wanted: Mutex<Wanted>,
    changed: ChangeSignal,
    answered: watch::Sender<Answered>,
}

/// The resources whose changes are wanted; the version counts the changes of the set.
#[derive(Default)]
struct Wanted {
    version: u64,
    uris: BTreeSet<String>,
}

/// What the server said to the set of this version.
#[derive(Clone, Default)]
struct Answered {
    version: u64,
    failure: Option<CallFailure>,
    agreed: Arc<HashSet<String>>,
}

impl Listening {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants to be told when a resource changes; returns when the server has agreed.
    pub(crate) async fn add(&self, uri: &str, deadline: Instant) -> Result<(), CallFailure> {
        const NOT_AGREED: CallFailure = CallFailure::UnexpectedAnswer(ExpectedAnswer::Subscription);
        let version = {
            let mut wanted = self.wanted();
            if wanted.uris.len() >= MOST_RESOURCES && !wanted.uris.contains(uri) {
                return Err(NOT_AGREED);
            }
            if wanted.uris.insert(uri.to_owned()) {
                wanted.version += 1;
            }
            wanted.version
        };
        self.changed.mark();
        let mut answered = self.answered.subscribe();
        let answer = tokio::time::timeout_at(deadline, answered.wait_for(|answered| answered.version >= version)).await;
        let answered = match answer {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) => return Err(CallFailure::NotRunning),
            Err(_) => return Err(CallFailure::Timeout),
        };
        match &answered.failure {
            Some(failure) => Err(failure.clone()),
            None if answered.agreed.contains(uri) => Ok(()),
            None => Err(NOT_AGREED),
        }
    }

    /// Does not want to be told any more.
    pub(crate) fn remove(&self, uri: &str) {
        let mut wanted = self.wanted();
        if wanted.uris.remove(uri) {
            wanted.version += 1;
            self.changed.mark();
        }
    }
}

/// What was heard.
pub(crate) enum Heard {
    ToolsChanged,
    ResourceListChanged,
    ResourceUpdated(String),
}

/// The request of this session: what the server offers to tell, and the resources.
fn filter(capabilities: &ServerCapabilities, uris: &BTreeSet<String>) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    let tools = capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
    filter.tools_list_changed = tools.filter(|offered| *offered);
    if let Some(resources) = &capabilities.resources {
        filter.resources_list_changed = resources.list_changed.filter(|offered| *offered);
        let uris: Vec<String> = uris.iter().cloned().collect();
        filter.resource_subscriptions = Some(uris).filter(|uris| !uris.is_empty());
    }
    filter
}

/// Asks the server to tell its changes. There is nothing to ask one that offers none.
pub(crate) async fn ask(peer: &Peer<RoleClient>, listening: &Listening) -> Option<Result<Subscription, CallFailure>> {
    let (version, filter) = {
        let wanted = listening.wanted();
        (wanted.version, filter(&peer.peer_info()?.capabilities, &wanted.uris))
    };
    if filter == SubscriptionFilter::new() {
        listening.answered.send_replace(Answered { version, ..Answered::default() });
        return None;
    }
    let asked = match tokio::time::timeout(AGREE_LIMIT, peer.listen(filter)).await {
        Ok(asked) => asked.map_err(CallFailure::from_service),
        Err(_) => Err(CallFailure::Timeout),
    };
    let (agreed, failure) = match &asked {
        Ok(subscription) => {
            (subscription.acknowledged().resource_subscriptions.iter().flatten().cloned().collect(), None)
        }
        Err(failure) => (HashSet::new(), Some(failure.clone())),
    };
    listening.answered.send_replace(Answered { version, failure, agreed: Arc::new(agreed) });
    Some(asked)
}

/// Keeps a request open for what is wanted, and passes on what the server tells.
pub(crate) async fn listen(
    peer: &Peer<RoleClient>,
    listening: &Listening,
    mut open: Option<Subscription>,
    heard: impl Fn(Heard),
) -> Infallible {
    let mut changes = Coalescer::new(PACE);
    let (mut pause, mut since) = (FIRST_RETRY, Instant::now());
    // Whether the server was asked and does not tell now; whether it may have left something untold.
    let mut is_broken = open.is_none() && listening.answered.borrow().failure.is_some();
    let mut missed = is_broken;
    loop {
        if is_broken {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_RETRY);
        } else {
            tokio::select! {
                () = changes.next(&listening.changed) => {}
                () = pass_on(&mut open, &heard) => {
                    // A server that ends each request at once would have us catch up again and again.
                    if since.elapsed() >= LASTING {
                        pause = FIRST_RETRY;
                    }
                    (open, is_broken, missed) = (None, true, true);
                    continue;
                }
            }
        }
        match ask(peer, listening).await {
            Some(Ok(new)) => {
                if let Some(mut old) = open.replace(new) {
                    while let Some(Ok(Some(notification))) = old.next().now_or_never() {
                        told(notification, &heard);
                    }
                }
                (is_broken, since) = (false, Instant::now());
                if std::mem::take(&mut missed) {
                    catch_up(listening, &heard);
                }
            }
            Some(Err(failure)) => {
                tracing::debug!(%failure, "the server does not tell its changes now");
                // What is open goes on.
                is_broken = open.is_none();
                missed |= is_broken;
            }
            None => (open, is_broken) = (None, false),
        }
    }
}

/// Passes on what the server tells until it stops telling.
async fn pass_on(open: &mut Option<Subscription>, heard: &impl Fn(Heard)) {
    let Some(subscription) = open else { return std::future::pending().await };
    while let Ok(Some(notification)) = subscription.next().await {
        told(notification, heard);
    }
}

fn told(notification: ServerNotification, heard: &impl Fn(Heard)) {
    match notification {
        ServerNotification::ToolListChangedNotification(_) => heard(Heard::ToolsChanged),
        ServerNotification::ResourceListChangedNotification(_) => heard(Heard::ResourceListChanged),
        ServerNotification::ResourceUpdatedNotification(updated) => heard(Heard::ResourceUpdated(updated.params.uri)),
        _ => {}
    }
}

/// Anything may have changed while nobody listened.
fn catch_up(listening: &Listening, heard: &impl Fn(Heard)) {
    heard(Heard::ToolsChanged);
    heard(Heard::ResourceListChanged);
    let uris: Vec<String> = listening.wanted().uris.iter().cloned().collect();
    uris.into_iter().for_each(|uri| heard(Heard::ResourceUpdated(uri)));
}
