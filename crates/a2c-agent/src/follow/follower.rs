//! [`Follower`]: what a user of the crate can replace and be told.

use std::ops::BitOr;

use a2c_link::RequestError;
use a2c_protocol::context::GetFinderRet;
use a2c_protocol::notification::Notification;
use a2c_protocol::tool::SmcpTool;
use async_trait::async_trait;

use crate::{Agent, DesktopQuery, FinderQuery};

/// One of the things that are kept current.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FollowedPart {
    /// The tools of a Computer.
    Tools,
    /// Its Desktop.
    Desktop,
    /// Its Finder.
    Finder,
}

/// A choice of parts; `|` joins two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FollowedParts {
    /// The tools of a Computer.
    pub tools: bool,
    /// Its Desktop.
    pub desktop: bool,
    /// Its Finder.
    pub finder: bool,
}

impl FollowedParts {
    /// Nothing.
    pub const NONE: Self = Self { tools: false, desktop: false, finder: false };
    /// The tools.
    pub const TOOLS: Self = Self { tools: true, ..Self::NONE };
    /// The Desktop.
    pub const DESKTOP: Self = Self { desktop: true, ..Self::NONE };
    /// The Finder.
    pub const FINDER: Self = Self { finder: true, ..Self::NONE };
    /// Everything.
    pub const ALL: Self = Self { tools: true, desktop: true, finder: true };

    /// Whether a part is chosen.
    pub fn contains(self, part: FollowedPart) -> bool {
        match part {
            FollowedPart::Tools => self.tools,
            FollowedPart::Desktop => self.desktop,
            FollowedPart::Finder => self.finder,
        }
    }
}

impl BitOr for FollowedParts {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            desktop: self.desktop || other.desktop,
            finder: self.finder || other.finder,
        }
    }
}

/// What happens while an office is followed. Every method has the default of the protocol and can be replaced.
///
/// [`notified`](Self::notified) and the methods that begin with `after_` are called while events are read: they must return
/// at once. The others run in the task of their Computer, where each may take its time: meanwhile the same part of the
/// same Computer is not refreshed, and nothing else waits. For one Computer `computer_entered` comes first and
/// `computer_left` last.
#[async_trait]
pub trait Follower: Send + Sync + 'static {
    /// The hub told something about the office; nothing was refreshed yet.
    fn notified(&self, _notification: &Notification) {}

    /// What to refresh when a Computer came, and when it is still there after the connection was lost or events were missed.
    fn after_enter(&self, _computer: &str) -> FollowedParts {
        FollowedParts::ALL
    }

    /// What to refresh when a Computer's tools changed.
    fn after_tool_list_update(&self, _computer: &str) -> FollowedParts {
        FollowedParts::TOOLS
    }

    /// What to refresh when a Computer's configuration changed.
    fn after_config_update(&self, _computer: &str) -> FollowedParts {
        FollowedParts::TOOLS
    }

    /// What to refresh when a Computer's Desktop changed.
    fn after_desktop_update(&self, _computer: &str) -> FollowedParts {
        FollowedParts::DESKTOP
    }

    /// What to refresh when a Computer's Finder changed.
    fn after_finder_update(&self, _computer: &str) -> FollowedParts {
        FollowedParts::FINDER
    }

    /// How tools are fetched.
    async fn fetch_tools(&self, agent: &Agent, computer: &str) -> Result<Vec<SmcpTool>, RequestError> {
        agent.tools(computer).await
    }

    /// How a Desktop is fetched: all of it.
    async fn fetch_desktop(&self, agent: &Agent, computer: &str) -> Result<Vec<String>, RequestError> {
        agent.desktop(computer, DesktopQuery::default()).await
    }

    /// How a Finder is fetched: its first page.
    async fn fetch_finder(&self, agent: &Agent, computer: &str) -> Result<GetFinderRet, RequestError> {
        agent.finder(computer, FinderQuery::default()).await
    }

    /// A Computer is in the office.
    async fn computer_entered(&self, _computer: &str) {}

    /// A Computer is no longer in the office; what was known of it is dropped.
    async fn computer_left(&self, _computer: &str) {}

    /// The tools of a Computer were fetched; they may be what they were.
    async fn tools_changed(&self, _computer: &str, _tools: &[SmcpTool]) {}

    /// The Desktop of a Computer was fetched; it may be what it was.
    async fn desktop_changed(&self, _computer: &str, _windows: &[String]) {}

    /// The Finder of a Computer was fetched; its first page may be what it was.
    async fn finder_changed(&self, _computer: &str, _finder: &GetFinderRet) {}

    /// A refresh failed; what was known before is kept. Where waiting may help, it is tried again.
    async fn refresh_failed(&self, computer: &str, part: FollowedPart, error: &RequestError) {
        tracing::warn!(computer, ?part, %error, "what a Computer offers could not be refreshed");
    }
}

/// For programs that only look things up.
impl Follower for () {}
