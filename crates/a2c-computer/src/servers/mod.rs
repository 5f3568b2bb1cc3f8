//! The MCP servers of a Computer, each supervised on its own.

pub(crate) mod connection;
mod process;
pub(crate) mod state;

use std::collections::BTreeMap;

use tokio::sync::mpsc;

use crate::config::ComputerConfig;
use connection::{Change, Connection};

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

    /// Waits until every server is ready, or will not be.
    pub(crate) async fn settled(&self) {
        for connection in self.connections.values() {
            connection.settled().await;
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
