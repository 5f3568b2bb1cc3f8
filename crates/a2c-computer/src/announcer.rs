//! Tells the office what changed here: at once, but not again and again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2c_link::{Link, Seat};
use a2c_protocol::event;
use a2c_protocol::notification::ComputerUpdate;
use tokio::sync::Notify;

use crate::machine::Machine;

/// The least time between two looks at what changed: a burst of changes is one piece of news.
const PAUSE: Duration = Duration::from_millis(100);

/// What is to be told.
#[derive(Default)]
struct News {
    tools: bool,
    config: bool,
}

/// Watches the machine and tells the office. `joined` rings when the seat was taken again: what could not be told
/// meanwhile is told then.
pub(crate) async fn announce(machine: Arc<Machine>, link: Link, seat: Seat, joined: Arc<Notify>) -> Infallible {
    let update = ComputerUpdate { computer: seat.name };
    let mut news = News::default();
    loop {
        tokio::select! {
            () = machine.surroundings.changed.notified() => refresh(machine.clone()).await,
            () = machine.config_changed.notified() => news.config = true,
            () = joined.notified() => {}
        }
        news.tools |= machine.take_tool_news();
        for (is_news, event) in [(&mut news.config, event::UPDATE_CONFIG), (&mut news.tools, event::UPDATE_TOOL_LIST)] {
            if !*is_news {
                continue;
            }
            match link.emit(event, &update).await {
                Ok(()) => *is_news = false,
                // Whoever sees us come back asks for everything anyway; it is told all the same.
                Err(error) => tracing::debug!(%error, event, "not announced yet"),
            }
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
