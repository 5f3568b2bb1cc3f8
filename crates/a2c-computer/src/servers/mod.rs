//! The MCP servers of a Computer, each supervised on its own.

pub(crate) mod connection;
mod process;
pub(crate) mod state;
#[cfg_attr(not(test), expect(dead_code, reason = "wired in by the core"))]
pub(crate) mod upstream;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::ComputerConfig;
use connection::{Change, Connection};

/// How often it is said which servers are waited for.
const NOTICE: Duration = Duration::from_secs(5);

/// All servers of a Computer.
pub(crate) struct Servers {
    connections: BTreeMap<String, Connection>,
}

impl Servers {
    /// Starts every server at the same time.
    pub(crate) fn start(config: &ComputerConfig, changes: &mpsc::UnboundedSender<Change>) -> Self {
        let start = |(name, server): (&String, &_)| {
            (name.clone(), Connection::start(Clone::clone(server), &config.inputs, changes.clone()))
        };
        Self { connections: config.servers.iter().map(start).collect() }
    }

    /// Waits until every server is ready, or will not be, and says from time to time for whom it waits.
    pub(crate) async fn settled(&self) {
        let all = async {
            for connection in self.connections.values() {
                connection.settled().await;
            }
        };
        let mut all = std::pin::pin!(all);
        while tokio::time::timeout(NOTICE, &mut all).await.is_err() {
            let starting: Vec<_> =
                self.iter().filter(|(_, server)| !server.state().is_settled()).map(|(name, _)| name).collect();
            tracing::info!(servers = starting.join(", "), "still waiting for MCP servers to start");
        }
    }

    /// One server.
    pub(crate) fn get(&self, name: &str) -> Option<&Connection> {
        self.connections.get(name)
    }

    /// All servers, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Connection)> {
        self.connections.iter().map(|(name, connection)| (name.as_str(), connection))
    }

    /// Stops every server at the same time and waits until all processes are gone.
    pub(crate) async fn stop(&self) {
        self.connections.values().for_each(Connection::stop);
        for connection in self.connections.values() {
            connection.ended().await;
        }
    }
}
