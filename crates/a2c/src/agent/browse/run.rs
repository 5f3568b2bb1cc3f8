//! The browser on its terminal: keys, answers, events and signals come in, frames go out.

use std::io::{self, IsTerminal as _};
use std::pin::Pin;
use std::process::ExitCode;

use a2c_agent::{Agent, AgentEvent, AgentEvents};
use a2c_protocol::notification::Notification;
use a2c_protocol::office::Role;
use anyhow::{Context as _, Result, bail};
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt as _;
use ratatui::DefaultTerminal;
use tokio::task::JoinSet;

use super::item::Loaded;
use super::query::{LoadError, NumberedQuery, QueryId};
use super::state::{Action, BrowserState};
use super::{keys, load, view};
use crate::stop;

/// The browser before it has the screen.
pub(in super::super) struct Browse {
    computer: Option<String>,
    pub(in super::super) stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Browse {
    /// Fails before anything is connected where there is no terminal.
    pub(in super::super) fn new(computer: Option<String>, as_json: bool) -> Result<Self> {
        if as_json {
            bail!("browse is for people: scripts take `a2c agent finder COMPUTER --json`");
        }
        if !(io::stdout().is_terminal() && io::stdin().is_terminal()) {
            bail!("browse needs a terminal: elsewhere, `a2c agent finder COMPUTER` lists the documents");
        }
        let stop = stop::requested().context("cannot listen for signals")?;
        Ok(Self { computer, stop: Box::pin(stop) })
    }

    /// Browses until the user quits. The terminal is restored, however this ends.
    pub(in super::super) async fn run(mut self, agent: &Agent, mut events: AgentEvents) -> Result<ExitCode> {
        if let Some(computer) = &self.computer {
            is_there(agent, computer).await?;
        }
        let mut screen = Screen::take()?;
        let mut pressed = EventStream::new();
        let mut running = RunningQueries { agent: agent.clone(), tasks: JoinSet::new() };
        let (mut state, queries) = BrowserState::new(self.computer.take());
        running.send(queries);
        while !state.is_over {
            screen.draw(&mut state)?;
            let action = tokio::select! {
                event = pressed.next() => match event {
                    Some(Ok(Event::Key(key))) => keys::action(&key, state.typing.is_some()),
                    // Anything else, such as another size, is a reason to draw again.
                    Some(Ok(_)) => None,
                    Some(Err(error)) => return Err(error).context("cannot read from the terminal"),
                    None => break,
                },
                Some((id, answer)) = running.next() => Some(Action::Answered(id, answer)),
                event = events.recv() => match event {
                    Some(AgentEvent::SeatLost { cause }) => bail!("the seat in the office is lost: {cause}"),
                    Some(AgentEvent::Closed { cause }) => bail!("the connection to the hub is over: {cause}"),
                    Some(event) => action_of(event),
                    None => break,
                },
                () = &mut self.stop => break,
            };
            if let Some(action) = action {
                running.send(state.apply(action));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A mistyped name is reported where it was typed, and not on the browser's screen.
async fn is_there(agent: &Agent, computer: &str) -> Result<()> {
    let members = agent.members().await?;
    let computers = members.into_iter().filter(|member| member.role == Role::Computer);
    let mut names: Vec<String> = computers.map(|member| member.name).collect();
    if names.iter().any(|name| name == computer) {
        return Ok(());
    }
    names.sort_unstable();
    match names[..] {
        [] => bail!("there is no Computer '{computer}' in the office, nor any other"),
        _ => bail!("there is no Computer '{computer}' in the office; there are: {}", names.join(", ")),
    }
}

/// What an event of the Agent means to the browser.
fn action_of(event: AgentEvent) -> Option<Action> {
    match event {
        AgentEvent::Notification(Notification::UpdateFinder(update)) => Some(Action::Changed(update.computer)),
        AgentEvent::Notification(Notification::EnterOffice(change)) => change.computer.map(Action::Came),
        AgentEvent::Notification(Notification::LeaveOffice(change)) => change.computer.map(Action::Went),
        AgentEvent::Disconnected { cause } => Some(Action::Lost(cause.to_string())),
        // The events that were missed may have been about anything.
        AgentEvent::Reconnected | AgentEvent::Missed { .. } => Some(Action::Restored),
        _ => None,
    }
}

/// The queries under way. They end with the browser.
struct RunningQueries {
    agent: Agent,
    tasks: JoinSet<(QueryId, Result<Loaded, LoadError>)>,
}

impl RunningQueries {
    fn send(&mut self, queries: Vec<NumberedQuery>) {
        for NumberedQuery { id, query } in queries {
            let agent = self.agent.clone();
            self.tasks.spawn(async move { (id, load::load(&agent, query).await) });
        }
    }

    async fn next(&mut self) -> Option<(QueryId, Result<Loaded, LoadError>)> {
        match self.tasks.join_next().await? {
            Ok(answered) => Some(answered),
            Err(error) => match error.try_into_panic() {
                // The terminal is restored already, and there is nothing to go on with.
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => None,
            },
        }
    }
}

/// The terminal while the browser holds it. A panic restores it, too, before its message is printed.
struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    fn take() -> Result<Self> {
        let terminal = ratatui::try_init().inspect_err(|_| _ = ratatui::try_restore());
        Ok(Self { terminal: terminal.context("cannot use the terminal")? })
    }

    fn draw(&mut self, state: &mut BrowserState) -> Result<()> {
        let mut drawn = view::Drawn::default();
        self.terminal.draw(|frame| drawn = view::draw(frame, state)).context("cannot write to the terminal")?;
        state.apply(Action::Drawn { rows: drawn.rows, last_scroll: drawn.last_scroll });
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The panic hook has restored it already; a second time could hide the message.
        if std::thread::panicking() {
            return;
        }
        // A terminal that is gone need not be restored.
        let _ = self.terminal.show_cursor();
        let _ = ratatui::try_restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2c_agent::DisconnectReason;
    use a2c_protocol::notification::{ComputerUpdate, OfficeChange};

    #[test]
    fn events_become_actions() {
        let (update, lost) = (ComputerUpdate { computer: "desk".into() }, DisconnectReason::ClosedByUs);
        let change = |computer: Option<&str>| OfficeChange {
            office_id: "o".into(),
            computer: computer.map(Into::into),
            agent: None,
        };
        for (event, expected) in [
            (
                AgentEvent::Notification(Notification::UpdateFinder(update.clone())),
                Some(Action::Changed("desk".into())),
            ),
            (AgentEvent::Notification(Notification::UpdateDesktop(update)), None),
            (AgentEvent::Notification(Notification::EnterOffice(change(Some("d")))), Some(Action::Came("d".into()))),
            (AgentEvent::Notification(Notification::LeaveOffice(change(Some("d")))), Some(Action::Went("d".into()))),
            (AgentEvent::Notification(Notification::LeaveOffice(change(None))), None),
            (AgentEvent::Disconnected { cause: lost.into() }, Some(Action::Lost("closed by this side".into()))),
            (AgentEvent::Missed { count: 2 }, Some(Action::Restored)),
            (AgentEvent::Reconnected, Some(Action::Restored)),
        ] {
            assert_eq!(action_of(event.clone()), expected, "{event:?}");
        }
    }
}
