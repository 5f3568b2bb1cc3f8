//! The state of one MCP server.

/// Where a server is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Its process starts, its tools are being listed.
    Starting,
    /// It answers.
    Ready,
    /// It does not run, though it should.
    Failed {
        /// Why, and the last lines it wrote to standard error.
        reason: String,
    },
    /// Its owner switched it off.
    Disabled,
    /// The Computer stopped it.
    Stopped,
}

impl ServerState {
    /// Whether there is nothing to wait for any more.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// Whether no process runs for it any more.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Disabled | Self::Stopped)
    }
}

impl std::fmt::Display for ServerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Starting => f.write_str("starting"),
            Self::Ready => f.write_str("ready"),
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            Self::Disabled => f.write_str("disabled"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
