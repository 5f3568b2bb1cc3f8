//! `a2c agent watch`: what happens in the office, one line each.
//!
//! Notifications go to standard output and are flushed one by one; what happens to the connection goes to standard error.

use std::io::{IsTerminal as _, Write as _};
use std::pin::Pin;
use std::process::ExitCode;

use a2c_agent::{AgentEvent, AgentEvents};
use a2c_protocol::event;
use a2c_protocol::notification::Notification;
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{output, stop};

/// Watching until there is a reason to stop.
pub(super) struct Watch {
    /// How many notifications are still wanted; `None` for all.
    left: Option<u64>,
    as_json: bool,
    pub(super) stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Watch {
    /// From here on, signals end the watching and not the program: the seat is given up in order.
    pub(super) fn new(count: Option<u64>, as_json: bool) -> Result<Self> {
        let stop = stop::requested().context("cannot listen for signals")?;
        Ok(Self { left: count, as_json, stop: Box::pin(stop) })
    }

    pub(super) async fn run(mut self, mut events: AgentEvents) -> Result<ExitCode> {
        let reader_gone = output::reader_gone();
        tokio::pin!(reader_gone);
        while self.left != Some(0) {
            let event = tokio::select! {
                event = events.recv() => event,
                () = &mut self.stop => break,
                () = &mut reader_gone => break,
            };
            match event {
                Some(event) => self.tell(event)?,
                None => break,
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn tell(&mut self, event: AgentEvent) -> Result<()> {
        let notification = match event {
            AgentEvent::Notification(notification) => Notified::of(&notification),
            AgentEvent::Unknown { event, payload } => Notified { event, data: payload },
            AgentEvent::Missed { count } => {
                output::note(&format!("a2c: {count} notifications were missed"));
                return Ok(());
            }
            AgentEvent::Disconnected { cause } => {
                output::note(&format!("a2c: the connection to the hub is lost: {cause}"));
                return Ok(());
            }
            AgentEvent::Reconnected => {
                output::note("a2c: the connection to the hub is back; what happened in between is not known");
                return Ok(());
            }
            AgentEvent::SeatLost { cause } => bail!("the seat in the office is lost: {cause}"),
            AgentEvent::Closed { cause } => bail!("the connection to the hub is over: {cause}"),
            _ => return Ok(()),
        };
        self.left = self.left.map(|left| left - 1);
        let line = match self.as_json {
            true => serde_json::to_string(&notification)?,
            false => notification.line(),
        };
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{line}").and_then(|()| stdout.flush()).context("cannot write to standard output")
    }
}

/// A notification as it travels.
#[derive(Serialize)]
struct Notified {
    event: String,
    data: Value,
}

impl Notified {
    fn of(notification: &Notification) -> Self {
        let (event, data) = match notification {
            Notification::EnterOffice(change) => (event::NOTIFY_ENTER_OFFICE, json!(change)),
            Notification::LeaveOffice(change) => (event::NOTIFY_LEAVE_OFFICE, json!(change)),
            Notification::ToolCallCancel(cancel) => (event::NOTIFY_TOOL_CALL_CANCEL, json!(cancel)),
            Notification::UpdateConfig(update) => (event::NOTIFY_UPDATE_CONFIG, json!(update)),
            Notification::UpdateToolList(update) => (event::NOTIFY_UPDATE_TOOL_LIST, json!(update)),
            Notification::UpdateDesktop(update) => (event::NOTIFY_UPDATE_DESKTOP, json!(update)),
            Notification::UpdateFinder(update) => (event::NOTIFY_UPDATE_FINDER, json!(update)),
            later => return Self { event: "notify".to_owned(), data: format!("{later:?}").into() },
        };
        Self { event: event.to_owned(), data }
    }

    /// When, and what, in words.
    fn line(&self) -> String {
        let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S");
        let line = format!("{now}  {}", self.words());
        // A line each, wherever it goes.
        match std::io::stdout().is_terminal() || line.contains('\n') {
            true => output::one_line(&line),
            false => line,
        }
    }

    /// What happened, for people; as it travelled where it is not known here.
    fn words(&self) -> String {
        let who = match (self.data["computer"].as_str(), self.data["agent"].as_str()) {
            (Some(computer), _) => Some(computer.to_owned()),
            (None, agent) => agent.map(|agent| format!("Agent {agent}")),
        };
        let Some(who) = who else { return format!("{} {}", self.event, self.data) };
        match self.event.as_str() {
            event::NOTIFY_ENTER_OFFICE => format!("{who} came"),
            event::NOTIFY_LEAVE_OFFICE => format!("{who} left"),
            event::NOTIFY_TOOL_CALL_CANCEL => format!("{who} gave up a call"),
            event::NOTIFY_UPDATE_CONFIG => format!("{who}: configuration changed"),
            event::NOTIFY_UPDATE_TOOL_LIST => format!("{who}: tools changed"),
            event::NOTIFY_UPDATE_DESKTOP => format!("{who}: Desktop changed"),
            event::NOTIFY_UPDATE_FINDER => format!("{who}: Finder changed"),
            _ => format!("{} {}", self.event, self.data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2c_protocol::notification::{ComputerUpdate, OfficeChange, ToolCallCancel};

    #[test]
    fn a_notification_is_printed_as_it_travelled() {
        let update = ComputerUpdate { computer: "desk".into() };
        let came = OfficeChange { office_id: "o".into(), computer: None, agent: Some("a".into()) };
        let cancel = ToolCallCancel { agent: "a".into(), req_id: "1".into() };
        for (notification, json, who) in [
            (
                Notification::UpdateFinder(update),
                r#"{"event":"notify:update_finder","data":{"computer":"desk"}}"#,
                "  desk: Finder changed",
            ),
            (
                Notification::EnterOffice(came),
                r#"{"event":"notify:enter_office","data":{"agent":"a","office_id":"o"}}"#,
                "  Agent a came",
            ),
            (
                Notification::ToolCallCancel(cancel),
                r#"{"event":"notify:tool_call_cancel","data":{"agent":"a","req_id":"1"}}"#,
                "  Agent a gave up a call",
            ),
        ] {
            let notified = Notified::of(&notification);
            let expected: Value = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(&notified).unwrap(), expected);
            assert!(notified.line().ends_with(who), "{}", notified.line());
        }
        let strange = Notified { event: "notify:x\ny".into(), data: json!({"computer": "a\nb"}) };
        assert_eq!(strange.line().lines().count(), 1);
    }
}
