//! What a Computer tells about itself.

use std::sync::Arc;

use a2c_link::Seat;

use super::wire::Greeting;
use crate::config_file::ConfigFile;
use crate::tools::pins::ToolChanges;

/// What a Computer tells about itself.
#[derive(Clone)]
pub struct About {
    /// Where it sits.
    pub seat: Seat,
    /// The file it was started with.
    pub file: Option<Arc<ConfigFile>>,
    /// What it does with tools that changed.
    pub tool_changes: ToolChanges,
}

impl About {
    pub(super) fn greeting(&self) -> Greeting {
        Greeting {
            name: self.seat.name.clone(),
            office: self.seat.office.clone(),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.file.as_ref().map(|file| file.path().display().to_string()),
        }
    }
}
