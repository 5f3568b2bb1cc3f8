//! Answers what an Agent asks for besides tools: Desktop, Finder, resources and documents.
//!
//! [`ContextPlane`] holds the parts of the Computer that are needed, and nothing else of it. `windows` reads the Desktop,
//! `resources` shows the Finder and lists and reads resources, `documents` resolves documents to URLs, and `error_answer`
//! makes the Agent's error of a server's failure.

mod documents;
mod error_answer;
mod resources;
mod windows;

use std::time::Duration;

use a2c_dpe::Resolutions;

use crate::catalogue::Catalogue;
use crate::servers::Servers;
use crate::tools::history::History;
use crate::tools::result_store::ResultStore;

/// The parts of a Computer that answer for Desktop, Finder, resources and documents.
#[derive(Clone, Copy)]
pub(crate) struct ContextPlane<'a> {
    pub(crate) servers: &'a Servers,
    /// The resources of all servers.
    pub(crate) catalogue: &'a Catalogue,
    /// Documents as URLs.
    pub(crate) documents: &'a Resolutions,
    /// Results of tools that were too large to be sent whole.
    pub(crate) results: &'a ResultStore,
    /// The last calls: they order Desktop and Finder.
    pub(crate) history: &'a History,
    /// How long reading the windows of a Desktop may take.
    pub(crate) window_limit: Duration,
}
