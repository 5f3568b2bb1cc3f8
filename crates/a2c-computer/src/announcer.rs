//! Tells the office what changed here: at once, but not again and again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2c_link::{Link, Seat};
use a2c_protocol::event;
use a2c_protocol::notification::ComputerUpdate;
use tokio::sync::watch;

use crate::machine::Machine;

/// The least time between two announcements of one kind: a burst of changes is one piece of news, and another one at its
/// end.
const PAUSE: Duration = Duration::from_millis(50);

/// Watches the machine and tells the office. `joined` counts how often the seat was taken: what could not be told
/// meanwhile is told then.
pub(crate) async fn announce(
    machine: Arc<Machine>,
    link: Link,
    seat: Seat,
    joined: watch::Receiver<u64>,
) -> Infallible {
    let voice = Voice { machine, link, update: ComputerUpdate { computer: seat.name }, joined };
    let (never, ..) = tokio::join!(
        voice.tell(Kind::Config),
        voice.tell(Kind::Tools),
        voice.tell(Kind::Desktop),
        voice.tell(Kind::Finder)
    );
    never
}

/// What there may be news of.
#[derive(Clone, Copy)]
enum Kind {
    Config,
    Tools,
    Desktop,
    Finder,
}

impl Kind {
    fn event(self) -> &'static str {
        match self {
            Self::Config => event::UPDATE_CONFIG,
            Self::Tools => event::UPDATE_TOOL_LIST,
            Self::Desktop => event::UPDATE_DESKTOP,
            Self::Finder => event::UPDATE_FINDER,
        }
    }

    /// Waits for news.
    async fn changed(self, machine: &Arc<Machine>) {
        let catalogue = &machine.surroundings.catalogue;
        match self {
            Self::Config => machine.config_changed.notified().await,
            Self::Tools => tools_changed(machine).await,
            Self::Desktop => catalogue.desktop_changed.notified().await,
            Self::Finder => catalogue.finder_changed.notified().await,
        }
    }
}

/// What speaks for the Computer.
struct Voice {
    machine: Arc<Machine>,
    link: Link,
    update: ComputerUpdate,
    joined: watch::Receiver<u64>,
}

impl Voice {
    /// Announces one kind of news, whenever there is some.
    async fn tell(&self, kind: Kind) -> Infallible {
        let (event, mut joined) = (kind.event(), self.joined.clone());
        loop {
            kind.changed(&self.machine).await;
            joined.mark_unchanged();
            while let Err(error) = self.link.emit(event, &self.update).await {
                // Whoever sees us come back asks for everything anyway; it is told all the same.
                tracing::debug!(%error, event, "not announced yet");
                if joined.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Waits until an Agent would see other tools.
async fn tools_changed(machine: &Arc<Machine>) {
    loop {
        // There may be news of a look that somebody else took.
        if machine.take_tool_news() {
            return;
        }
        machine.surroundings.changed.notified().await;
        refresh(machine.clone()).await;
        if machine.take_tool_news() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Has the picture of all tools made anew. A panic in there is a defect that has been reported; the office hears of the
/// next change.
pub(crate) async fn refresh(machine: Arc<Machine>) {
    let refreshing = machine.clone();
    let found = tokio::task::spawn_blocking(move || refreshing.refresh_tools()).await.unwrap_or_default();
    if !found.is_empty() {
        // Comparing takes a moment, and nobody waits for the log.
        tokio::task::spawn_blocking(move || machine.tools.tell(&found));
    }
}
