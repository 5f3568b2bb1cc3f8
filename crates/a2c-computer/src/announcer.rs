//! Tells the office what changed here: at once, but not again and again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2c_link::{Link, Seat};
use a2c_protocol::event;
use a2c_protocol::notification::ComputerUpdate;
use a2c_supervise::{ChangeSignal, Coalescer, Pace};
use tokio::sync::watch;

use crate::core::Core;

/// The first change of a kind is announced at once, what follows it at most this often.
const PACE: Pace = Pace::at_most_every(Duration::from_millis(50));

/// Watches the Computer and tells the office. `joined` counts how often the seat was taken: what could not be announced
/// without a connection is announced then.
pub(crate) async fn announce(core: Arc<Core>, link: Link, seat: Seat, joined: watch::Receiver<u64>) -> Infallible {
    let announcer = Announcer { core, link, update: ComputerUpdate { computer: seat.name }, joined };
    let (never, ..) = tokio::join!(
        announcer.refresh_tools(),
        announcer.announce(Subject::Config),
        announcer.announce(Subject::Tools),
        announcer.announce(Subject::Desktop),
        announcer.announce(Subject::Finder)
    );
    never
}

/// What an announcement is about.
#[derive(Clone, Copy)]
enum Subject {
    Config,
    Tools,
    Desktop,
    Finder,
}

impl Subject {
    fn event(self) -> &'static str {
        match self {
            Self::Config => event::UPDATE_CONFIG,
            Self::Tools => event::UPDATE_TOOL_LIST,
            Self::Desktop => event::UPDATE_DESKTOP,
            Self::Finder => event::UPDATE_FINDER,
        }
    }

    fn signal(self, core: &Core) -> &ChangeSignal {
        match self {
            Self::Config => &core.config_changed,
            Self::Tools => &core.tools_changed,
            Self::Desktop => &core.context.catalogue.desktop_changed,
            Self::Finder => &core.context.catalogue.finder_changed,
        }
    }
}

struct Announcer {
    core: Arc<Core>,
    link: Link,
    update: ComputerUpdate,
    joined: watch::Receiver<u64>,
}

impl Announcer {
    /// Puts the list of all tools together again whenever a server or a rule changed. A list that differs for an Agent marks
    /// [`Subject::Tools`].
    async fn refresh_tools(&self) -> Infallible {
        let mut changes = Coalescer::new(PACE);
        loop {
            changes.next(&self.core.context.changed).await;
            self.core.refresh_tools().await;
        }
    }

    async fn announce(&self, subject: Subject) -> Infallible {
        let (event, mut joined) = (subject.event(), self.joined.clone());
        let mut changes = Coalescer::new(PACE);
        loop {
            changes.next(subject.signal(&self.core)).await;
            joined.mark_unchanged();
            while let Err(error) = self.link.emit(event, &self.update).await {
                // An Agent that sees the Computer come back asks for everything; the change is announced all the same.
                tracing::debug!(%error, event, "not announced yet");
                if joined.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}
