//! A follower that passes on what it is told.

use std::sync::{Arc, Mutex};

use a2c_agent::protocol::context::GetFinderRet;
use a2c_agent::protocol::notification::Notification;
use a2c_agent::protocol::tool::SmcpTool;
use a2c_agent::{Agent, DesktopQuery, FollowedPart, FollowedParts, Follower, RequestError, async_trait};
use a2c_protocol::event;
use tokio::sync::{Notify, mpsc};

/// What a follower was told.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// A notification: the event that caused it, or who came or went.
    Notified(String),
    Entered(String),
    Left(String),
    Tools(String, Vec<String>),
    Desktop(String, Vec<String>),
    Finder(String, u64),
    Failed(String, FollowedPart, Option<i64>),
}

pub(crate) struct Recorder {
    heard: mpsc::UnboundedSender<Heard>,
    pub(crate) after_enter: Option<FollowedParts>,
    pub(crate) after_desktop_update: Option<FollowedParts>,
    pub(crate) after_config_update: Option<FollowedParts>,
    pub(crate) desktop_size: Option<i64>,
    /// Holds news up until the other end is dropped.
    pub(crate) gate: Option<Mutex<std::sync::mpsc::Receiver<()>>>,
    /// Holds `desktop_changed` up until it is notified.
    pub(crate) busy: Option<Arc<Notify>>,
}

impl Recorder {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Heard>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let recorder = Self {
            heard: sender,
            after_enter: None,
            after_desktop_update: None,
            after_config_update: None,
            desktop_size: None,
            gate: None,
            busy: None,
        };
        (recorder, receiver)
    }

    fn pass_on(&self, heard: Heard) {
        // A test that is over does not listen.
        let _ = self.heard.send(heard);
    }
}

#[async_trait]
impl Follower for Recorder {
    fn notified(&self, notification: &Notification) {
        if let Some(gate) = &self.gate {
            // In place: the tasks that this thread would have run next must go on elsewhere.
            let _ = tokio::task::block_in_place(|| gate.lock().unwrap().recv());
        }
        self.pass_on(Heard::Notified(match notification {
            Notification::EnterOffice(change) => format!("enter {}", change.computer.as_deref().unwrap_or_default()),
            Notification::LeaveOffice(change) => format!("leave {}", change.computer.as_deref().unwrap_or_default()),
            Notification::UpdateConfig(_) => event::UPDATE_CONFIG.into(),
            Notification::UpdateToolList(_) => event::UPDATE_TOOL_LIST.into(),
            Notification::UpdateDesktop(_) => event::UPDATE_DESKTOP.into(),
            Notification::UpdateFinder(_) => event::UPDATE_FINDER.into(),
            other => format!("{other:?}"),
        }));
    }

    fn after_enter(&self, _: &str) -> FollowedParts {
        self.after_enter.unwrap_or(FollowedParts::ALL)
    }

    fn after_desktop_update(&self, _: &str) -> FollowedParts {
        self.after_desktop_update.unwrap_or(FollowedParts::DESKTOP)
    }

    fn after_config_update(&self, _: &str) -> FollowedParts {
        self.after_config_update.unwrap_or(FollowedParts::TOOLS)
    }

    async fn fetch_desktop(&self, agent: &Agent, computer: &str) -> Result<Vec<String>, RequestError> {
        let mut query = DesktopQuery::default();
        query.size = self.desktop_size;
        agent.desktop(computer, query).await
    }

    async fn computer_entered(&self, computer: &str) {
        self.pass_on(Heard::Entered(computer.into()));
    }

    async fn computer_left(&self, computer: &str) {
        self.pass_on(Heard::Left(computer.into()));
    }

    async fn tools_changed(&self, computer: &str, tools: &[SmcpTool]) {
        self.pass_on(Heard::Tools(computer.into(), tools.iter().map(|tool| tool.name.clone()).collect()));
    }

    async fn desktop_changed(&self, computer: &str, windows: &[String]) {
        self.pass_on(Heard::Desktop(computer.into(), windows.to_vec()));
        if let Some(busy) = &self.busy {
            busy.notified().await;
        }
    }

    async fn finder_changed(&self, computer: &str, finder: &GetFinderRet) {
        self.pass_on(Heard::Finder(computer.into(), finder.total_count));
    }

    async fn refresh_failed(&self, computer: &str, part: FollowedPart, error: &RequestError) {
        let code = match error {
            RequestError::Refused(error) => Some(error.code.number()),
            _ => None,
        };
        self.pass_on(Heard::Failed(computer.into(), part, code));
    }
}
