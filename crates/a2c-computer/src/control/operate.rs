//! Does what the owner asks for.

use std::time::Duration;

use a2c_protocol::config::{Input, McpServerConfig};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use super::about::About;
use super::answers::Answers;
use super::wire::{
    CallReport, ChangeReport, Changed, ControlRequest, HubReport, LogEntry, PolicyReport, Refusal, RefusalKind,
    ServerNews, ServerReport, StatusReport, ToolReport, millis,
};
use crate::config_file::{ConfigFile, ConfigSaveError};
use crate::diagnosis::{self, readiness};
use crate::handle::{ComputerHandle, OperateError, ServerStatus, ToolAccess, ToolStatus};
use crate::inputs::{InputValue, SetInputError};
use crate::tools::confirm::Confirmation;
use crate::tools::pins::{Approval, ToolChanges};

/// How a request ends.
pub(super) enum OperationOutcome {
    Done(Value),
    Refused(Refusal),
}

impl From<Result<Value, Refusal>> for OperationOutcome {
    fn from(result: Result<Value, Refusal>) -> Self {
        match result {
            Ok(value) => Self::Done(value),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}

/// Does one thing.
pub(super) async fn operate(
    handle: &ComputerHandle,
    about: &About,
    request: ControlRequest,
    answers: &mut Answers,
) -> OperationOutcome {
    Operation { handle, about }.done(request, answers).await.into()
}

struct Operation<'a> {
    handle: &'a ComputerHandle,
    about: &'a About,
}

type Done = Result<Value, Refusal>;

impl Operation<'_> {
    async fn done(&self, request: ControlRequest, answers: &mut Answers) -> Done {
        match request {
            ControlRequest::Hello => told(&self.about.greeting()),
            ControlRequest::Status => told(&self.status()),
            ControlRequest::Tools => told(&self.handle.tools().into_iter().map(tool_report).collect::<Vec<_>>()),
            ControlRequest::Call { tool, arguments, timeout } => {
                told(&self.handle.call(&tool, arguments, Duration::from_secs(timeout)).await)
            }
            ControlRequest::Logs { server, lines, follow } => self.logs(&server, lines, follow, answers).await,
            ControlRequest::Restart { server } => {
                self.handle.restart(&server)?;
                told(&server_report(self.handle.server(&server)?, &self.handle.tools()))
            }
            ControlRequest::Settled { server } => {
                let settled = self.handle.settled(&server).await?;
                told(&server_report(settled, &self.handle.tools()))
            }
            ControlRequest::Add { server, save } => self.add(*server, save).await,
            ControlRequest::Remove { server, save } => {
                self.handle.remove(&server).await?;
                self.saved(save, async |file| file.remove(&server).await, || format!("take '{server}' out of it")).await
            }
            ControlRequest::Enable { server, save } => self.switch(&server, false, save).await,
            ControlRequest::Disable { server, save } => self.switch(&server, true, save).await,
            ControlRequest::Reload => self.reload().await,
            ControlRequest::Changes => self.changes().await,
            ControlRequest::Approve { server, tool, hash } => {
                self.handle.server(&server)?;
                let which = match (&tool, &hash) {
                    (None, _) => Approval::Everything,
                    (Some(tool), None) => Approval::Tool(tool),
                    (Some(tool), Some(hash)) => Approval::Exactly { tool, hash },
                };
                told(&self.handle.approve(&server, which).await)
            }
            ControlRequest::History => {
                told(&self.handle.history().into_iter().map(CallReport::from).collect::<Vec<_>>())
            }
            ControlRequest::Inputs => {
                told(&self.handle.config().inputs.iter().map(Input::redacted).collect::<Vec<_>>())
            }
            ControlRequest::SetInput { id, value } => {
                let users = self.users_of(&id);
                self.handle.set_input(&id, InputValue::from(value)).map_err(|error| {
                    let kind = match error {
                        SetInputError::Unknown { .. } => RefusalKind::NotFound,
                        SetInputError::NotAnOption { .. } => RefusalKind::Invalid,
                    };
                    refused(kind, &error)
                })?;
                told(&users)
            }
            ControlRequest::Login { server } => self.login(&server, answers).await,
            ControlRequest::Logout { server } => {
                self.handle.logout(&server).await?;
                Ok(Value::Null)
            }
            ControlRequest::Checkup => {
                let file = self.about.file.as_ref().map(|file| file.path().to_owned());
                told(&diagnosis::of_running(self.handle, file.as_deref()).await)
            }
        }
    }

    fn status(&self) -> StatusReport {
        let hub = self.handle.hub();
        let tools = self.handle.tools();
        let servers = self.handle.servers().into_iter().map(|server| server_report(server, &tools)).collect();
        let hub = HubReport { connected: hub.connected, since_ms: millis(hub.since) };
        let confirm = match self.handle.core.confirmation {
            Confirmation::Allow => "allow",
            Confirmation::Refuse => "deny",
            Confirmation::Ask(_) => "ask",
        };
        let tool_changes = match self.about.tool_changes {
            ToolChanges::Warn => "warn",
            ToolChanges::Quarantine => "quarantine",
        };
        let policy = PolicyReport { confirm: confirm.to_owned(), tool_changes: tool_changes.to_owned() };
        StatusReport { greeting: self.about.greeting(), hub, policy, servers }
    }

    /// The servers that run and were started with an input.
    fn users_of(&self, input: &str) -> Vec<String> {
        let (config, placeholder) = (self.handle.config(), format!("${{input:{input}}}"));
        let uses = |name: &str| {
            let server = config.servers.get(name).and_then(|server| serde_json::to_string(server).ok());
            server.is_some_and(|server| server.contains(&placeholder))
        };
        let running = self.handle.servers().into_iter().filter(|server| server.state.is_running());
        running.map(|server| server.name).filter(|name| uses(name)).collect()
    }

    async fn logs(&self, server: &str, lines: usize, follow: bool, answers: &mut Answers) -> Done {
        let log = self.handle.log(server)?;
        // The client is gone, so the message reaches no one.
        let gone = |_| Refusal { kind: RefusalKind::Failed, message: "the line is broken".into() };
        if !follow {
            for line in log.tail(lines) {
                answers.line(&LogEntry::from(line)).await.map_err(gone)?;
            }
            return Ok(Value::Null);
        }
        let (past, mut news) = log.follow(lines);
        // The log of a server that is removed ends.
        drop(log);
        for line in past {
            answers.line(&LogEntry::from(line)).await.map_err(gone)?;
        }
        loop {
            let entry = match news.recv().await {
                Ok(line) => LogEntry::from(line),
                Err(RecvError::Lagged(missed)) => LogEntry {
                    at_ms: millis(std::time::SystemTime::now()),
                    source: "a2c".to_owned(),
                    text: format!("{missed} lines were too many to be read in time"),
                },
                Err(RecvError::Closed) => return Ok(Value::Null),
            };
            answers.line(&entry).await.map_err(gone)?;
        }
    }

    async fn add(&self, server: McpServerConfig, save: bool) -> Done {
        self.handle.add(server.clone()).await?;
        // Not with the server itself, which may hold secrets: who asked knows it.
        let by_hand = || format!("add the server '{}' to it", server.name);
        self.saved(save, async |file| file.write(&server).await, by_hand).await
    }

    async fn switch(&self, server: &str, off: bool, save: bool) -> Done {
        match off {
            true => self.handle.disable(server).await?,
            false => self.handle.enable(server).await?,
        }
        let config = self.handle.config();
        // Gone again meanwhile: who asks is told so.
        let Some(running) = config.servers.get(server) else {
            return Ok(self.handle.server(server).map(|_| Value::Null)?);
        };
        let by_hand = || format!("write disabled = {off} into its server '{server}'");
        self.saved(save, async |file| file.set_disabled(running, off).await, by_hand).await
    }

    /// Tells what came of a change that is done already, and writes it where that is wanted.
    async fn saved(
        &self,
        save: bool,
        write: impl AsyncFnOnce(&ConfigFile) -> Result<(), ConfigSaveError>,
        by_hand: impl FnOnce() -> String,
    ) -> Done {
        let file = self.about.file.as_ref();
        let path = file.map(|file| file.path().display().to_string());
        let unsaved = match (save, file) {
            (false, _) => None,
            (true, None) => Some("this Computer was not started with a file".to_owned()),
            (true, Some(file)) => match write(file).await {
                Ok(()) => None,
                Err(error) => Some(format!("{error}; {}", by_hand())),
            },
        };
        told(&Changed { file: path, saved: save && unsaved.is_none(), unsaved })
    }

    async fn reload(&self) -> Done {
        let Some(file) = &self.about.file else {
            let message = "this Computer was not started with a file".to_owned();
            return Err(Refusal { kind: RefusalKind::Invalid, message });
        };
        let difference = file.reload(self.handle).await.map_err(|error| refused(RefusalKind::Invalid, &error))?;
        let news = difference.servers.into_iter();
        told(&news.map(|(server, change)| ServerNews { server, news: change.to_string() }).collect::<Vec<_>>())
    }

    /// Comparing may take a moment, which others need not wait for.
    async fn changes(&self) -> Done {
        let handle = self.handle.clone();
        let found = tokio::task::spawn_blocking(move || {
            let report = |change: crate::PendingChange| ChangeReport {
                diff: handle.difference_of(&change.server, &change.tool).unwrap_or_default(),
                since_ms: millis(change.since),
                server: change.server,
                tool: change.tool,
                hash: change.hash,
            };
            // What is remembered of servers that are gone is nothing to agree to.
            let config = handle.config();
            let is_there = |change: &crate::PendingChange| config.servers.contains_key(&change.server);
            handle.pending_changes().into_iter().filter(is_there).map(report).collect::<Vec<_>>()
        });
        told(&found.await.map_err(|error| refused(RefusalKind::Failed, &error))?)
    }

    async fn login(&self, server: &str, answers: &mut Answers) -> Done {
        let (show, mut shown) = tokio::sync::mpsc::unbounded_channel();
        let mut login = std::pin::pin!(self.handle.login(server, move |page| {
            let _ = show.send(page.to_owned());
        }));
        let page = tokio::select! {
            outcome = &mut login => return Ok(outcome.map(|()| Value::Null)?),
            Some(page) = shown.recv() => page,
        };
        let gone = |error| refused(RefusalKind::Failed, &error);
        answers.line(&page).await.map_err(gone)?;
        login.await?;
        Ok(Value::Null)
    }
}

fn told(value: &impl Serialize) -> Done {
    serde_json::to_value(value).map_err(|error| refused(RefusalKind::Failed, &error))
}

fn refused(kind: RefusalKind, error: &dyn std::fmt::Display) -> Refusal {
    Refusal { kind, message: error.to_string() }
}

impl From<OperateError> for Refusal {
    fn from(error: OperateError) -> Self {
        let kind = match error {
            OperateError::UnknownServer { .. } => RefusalKind::NotFound,
            OperateError::NameTaken(_) | OperateError::Invalid(_) | OperateError::Stopped => RefusalKind::Invalid,
            OperateError::SignIn(_) => RefusalKind::Failed,
        };
        refused(kind, &error)
    }
}

fn is_held_back(tool: &ToolStatus, server: &str) -> bool {
    tool.server == server && tool.access == ToolAccess::Quarantined
}

fn server_report(server: ServerStatus, tools: &[ToolStatus]) -> ServerReport {
    let quarantined = tools.iter().filter(|tool| is_held_back(tool, &server.name)).count();
    let (readiness, needs) = readiness(&server.name, &server.state, quarantined);
    ServerReport {
        kind: server.kind.to_owned(),
        state: server.state.word().to_owned(),
        readiness,
        reason: server.state.reason().map(ToString::to_string).or(needs),
        since_ms: millis(server.since),
        retry_at_ms: server.retry_at.map(millis),
        restarts: server.restarts,
        tools: server.tools,
        windows: server.windows,
        documents: server.documents,
        quarantined,
        calls: server.calls,
        failed_calls: server.failed_calls,
        name: server.name,
    }
}

fn tool_report(tool: ToolStatus) -> ToolReport {
    let access = match tool.access {
        ToolAccess::Offered => "offered",
        ToolAccess::Forbidden => "forbidden",
        ToolAccess::Off => "off",
        ToolAccess::Quarantined => "quarantined",
        ToolAccess::TooLarge => "too large",
    };
    ToolReport {
        name: tool.name,
        server: tool.server,
        own_name: tool.own_name,
        access: access.to_owned(),
        auto_apply: tool.auto_apply,
        changed: tool.changed,
        description: tool.description,
        schema: tool.schema,
    }
}
