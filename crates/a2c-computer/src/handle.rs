//! Operating a Computer while it runs: for its owner, from code or through the control socket.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use a2c_mcp::log::ServerLog;
use a2c_mcp::oauth::{self, TokenStore};
use a2c_protocol::ErrorCode;
use a2c_protocol::config::{McpServerConfig, McpTransport, StreamableParameters};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::tool::CallToolResult;
use a2c_secrets::Redactor;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::catalogue::ResourceCounts;
use crate::config::{Change, ComputerConfig, Difference, ServerChange, inputs_of};
use crate::core::{Core, HubLink};
use crate::inputs::{InputValue, SetInputError};
use crate::servers::ServerState;
use crate::servers::server::Server;
use crate::tools::call::{CallRequest, Caller};
use crate::tools::gate::HiddenReason;
use crate::tools::history::PastCall;
use crate::tools::pins::{Approval, PendingChange};

/// Operates a running Computer. Cheap to clone.
#[derive(Clone)]
pub struct ComputerHandle {
    pub(crate) core: Arc<Core>,
}

/// How one MCP server is.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// How it is reached: `stdio`, `streamable` or `sse`.
    pub kind: &'static str,
    /// Where it is in its life.
    pub state: ServerState,
    /// Since when.
    pub since: SystemTime,
    /// How often it was restarted.
    pub restarts: u64,
    /// When it is tried again, where it failed.
    pub retry_at: Option<SystemTime>,
    /// How many tools it lists.
    pub tools: usize,
    /// How many windows it has on the Desktop.
    pub windows: usize,
    /// How many of its documents the Finder shows.
    pub documents: usize,
    /// How many calls went to it.
    pub calls: u64,
    /// How many of them failed.
    pub failed_calls: u64,
    /// How often it told of progress.
    pub progress: u64,
}

/// One tool, as the owner sees it.
#[derive(Debug, Clone)]
pub struct ToolStatus {
    /// As an Agent calls it.
    pub name: String,
    /// The server that has it.
    pub server: String,
    /// As its server calls it.
    pub own_name: String,
    /// What the server says that it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// Whether it runs without asking.
    pub auto_apply: bool,
    /// Whether an Agent can use it, or why not.
    pub access: ToolAccess,
    /// Whether its definition is not the one that was agreed to.
    pub changed: bool,
}

/// Whether an Agent can use a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolAccess {
    /// It can.
    Offered,
    /// The owner forbids it.
    Forbidden,
    /// Its server is switched off.
    Off,
    /// It changed and waits for approval.
    Quarantined,
    /// Its definition, or its server's list, is too large to be shown.
    TooLarge,
}

/// Why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperateError {
    /// There is no such server.
    #[error("there is no MCP server named '{name}'{}", list(.known))]
    UnknownServer {
        /// Which name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The server is already there.
    #[error(transparent)]
    NameTaken(#[from] crate::servers::NameTaken),
    /// The Computer was stopped.
    #[error("the Computer was stopped")]
    Stopped,
    /// The configuration would not be valid any more, or does not allow for it.
    #[error("{0}")]
    Invalid(String),
    /// Signing in or out did not work.
    #[error("{0}")]
    SignIn(String),
}

fn list(names: &[String]) -> String {
    if names.is_empty() { " (there are none)".into() } else { format!(" (there are: {})", names.join(", ")) }
}

impl ComputerHandle {
    /// How the connection to the hub is.
    pub fn hub(&self) -> HubLink {
        self.core.hub()
    }

    /// How every server is, in the order of their names.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.core.servers.all().into_iter().map(|(name, server)| self.status(name, &server)).collect()
    }

    /// How one server is.
    pub fn server(&self, name: &str) -> Result<ServerStatus, OperateError> {
        Ok(self.status(name.to_owned(), &*self.find(name)?))
    }

    /// Every tool there is, those that no Agent sees included.
    pub fn tools(&self) -> Vec<ToolStatus> {
        let toolbox = self.core.tools.toolbox();
        let seen = toolbox.all().iter().map(|tool| ToolStatus {
            name: tool.name.clone(),
            server: tool.server().to_owned(),
            own_name: tool.tool().name.to_string(),
            description: tool.tool().description.as_deref().unwrap_or_default().to_owned(),
            schema: Value::Object((*tool.tool().input_schema).clone()),
            auto_apply: crate::config::tool_rules::runs_unasked(tool.meta.as_ref()),
            access: match tool.hidden {
                None => ToolAccess::Offered,
                Some(HiddenReason::Forbidden) => ToolAccess::Forbidden,
                Some(HiddenReason::Off) => ToolAccess::Off,
                Some(HiddenReason::Changed) => ToolAccess::Quarantined,
                Some(HiddenReason::TooLarge) => ToolAccess::TooLarge,
            },
            changed: tool.is_changed,
        });
        seen.collect()
    }

    /// Runs a tool as the owner: it need not be confirmed, but the gate is the same.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, limit: Duration) -> CallToolResult {
        let limit = limit.min(Seconds::MAX.duration());
        let call = CallRequest { caller: Caller::Owner, tool: tool.to_owned(), params: arguments, limit, trace: None };
        // In a task of its own, so that the tool can be told to stop when the caller goes away.
        let cancel = CancellationToken::new();
        let _gone = cancel.clone().drop_guard();
        let core = self.core.clone();
        let running = tokio::spawn(async move { core.tool_runner().run(call, &cancel).await.into_result() });
        running.await.unwrap_or_else(|error| CallToolResult::failure(ErrorCode::ToolFailed, &error.to_string()))
    }

    /// What a server wrote, and what happened to it.
    pub fn log(&self, name: &str) -> Result<Arc<ServerLog>, OperateError> {
        Ok(self.find(name)?.log().clone())
    }

    /// The configuration now.
    pub fn config(&self) -> Arc<ComputerConfig> {
        self.core.config()
    }

    /// Takes a server on and starts it.
    pub async fn add(&self, config: McpServerConfig) -> Result<(), OperateError> {
        self.edit(|servers| match servers.contains_key(&config.name) {
            true => Err(crate::servers::NameTaken { name: config.name }.into()),
            false => {
                servers.insert(config.name.clone(), config);
                Ok(())
            }
        })
        .await
    }

    /// Gives a server another configuration; it is restarted where that is needed.
    pub async fn change(&self, config: McpServerConfig) -> Result<(), OperateError> {
        let name = config.name.clone();
        self.edit_one(&name, |old| *old = config).await
    }

    /// Ends a server and forgets it.
    pub async fn remove(&self, name: &str) -> Result<(), OperateError> {
        self.find(name)?;
        self.edit(|servers| {
            servers.remove(name);
            Ok(())
        })
        .await
    }

    /// Switches a server on.
    pub async fn enable(&self, name: &str) -> Result<(), OperateError> {
        self.edit_one(name, |server| server.disabled = false).await
    }

    /// Switches a server off: its tools are not offered any more. When this returns, it has ended.
    pub async fn disable(&self, name: &str) -> Result<(), OperateError> {
        self.edit_one(name, |server| server.disabled = true).await?;
        self.find(name)?.previous_run_ended().await;
        Ok(())
    }

    /// Ends a server and starts it again, also where it failed and was to be tried later.
    pub fn restart(&self, name: &str) -> Result<(), OperateError> {
        let server = self.find(name)?;
        if server.config().disabled {
            return Err(OperateError::Invalid(format!("MCP server '{name}' is switched off: enable it first")));
        }
        // Who wants it now may want to answer now.
        self.core.context.inputs.ask_again();
        server.restart();
        Ok(())
    }

    /// Signs in to a streamable server: has `open_browser` show the owner a page, waits for the browser to come back,
    /// keeps the tokens and starts the server again with them.
    pub async fn login(&self, name: &str, open_browser: impl FnOnce(&str)) -> Result<(), OperateError> {
        let (parameters, tokens) = self.sign_in(name).await?;
        let outcome = oauth::login(name, &parameters.http, tokens, open_browser).await;
        outcome.map_err(|error| OperateError::SignIn(parameters.secrets.redact(&error.to_string())))?;
        self.restart(name)
    }

    /// Forgets the sign-in to a server and starts it again without.
    pub async fn logout(&self, name: &str) -> Result<(), OperateError> {
        let (parameters, tokens) = self.sign_in(name).await?;
        let outcome = oauth::logout(name, &parameters.http, tokens).await;
        outcome.map_err(|error| OperateError::SignIn(parameters.secrets.redact(&error.to_string())))?;
        self.restart(name)
    }

    /// What signing in to a server takes.
    async fn sign_in(&self, name: &str) -> Result<(SignIn, Arc<dyn TokenStore>), OperateError> {
        let config = self.find(name)?.config();
        if config.disabled {
            return Err(OperateError::Invalid(format!("MCP server '{name}' is switched off: enable it first")));
        }
        let tokens = self.core.context.tokens.clone().ok_or_else(|| {
            OperateError::SignIn("this Computer has no place to keep tokens: start it with --state DIR".to_owned())
        })?;
        let filled = self.core.context.inputs.fill(&config).await;
        let filled = filled.map_err(|unresolved| OperateError::SignIn(unresolved.to_string()))?;
        match &filled.transport {
            McpTransport::Streamable(http) => {
                Ok((SignIn { http: http.clone(), secrets: filled.secrets.clone() }, tokens))
            }
            _ => {
                Err(OperateError::SignIn(format!("only streamable servers can be signed in to, and '{name}' is none")))
            }
        }
    }

    /// Waits until a server is ready, or is known not to be, and tells how it is.
    pub async fn settled(&self, name: &str) -> Result<ServerStatus, OperateError> {
        self.find(name)?.settled().await;
        self.server(name)
    }

    /// Gives an input its value; servers that wait for it are started.
    pub fn set_input(&self, id: &str, value: impl Into<InputValue>) -> Result<(), SetInputError> {
        self.core.context.inputs.set(id, value)?;
        for (_, server) in self.core.servers.all() {
            if matches!(server.state(), ServerState::Failed { .. })
                && inputs_of(&server.config().transport).contains(id)
            {
                server.restart();
            }
        }
        Ok(())
    }

    /// Takes over another configuration: what did not change goes on undisturbed. When this returns, every server that is
    /// gone has ended; those that are new may still be starting.
    pub async fn reload(&self, new: ComputerConfig) -> Difference {
        let _one_at_a_time = self.core.changing.lock().await;
        self.take_over(new).await
    }

    /// [`ComputerHandle::reload`] with what becomes of the configuration that runs, held to the rules of a file.
    pub(crate) async fn reload_onto(
        &self,
        change: impl FnOnce(&ComputerConfig) -> ComputerConfig,
    ) -> Result<Difference, OperateError> {
        let _one_at_a_time = self.core.changing.lock().await;
        let new = change(&self.core.config());
        check(&new)?;
        Ok(self.take_over(new).await)
    }

    /// The caller holds the lock on changes.
    async fn take_over(&self, new: ComputerConfig) -> Difference {
        let old = self.core.config();
        let difference = Difference::between(&old, &new);
        self.core.context.inputs.declare(new.inputs.clone());
        self.core.put_config(new.clone());
        let mut gone = Vec::new();
        for (name, change) in &difference.servers {
            let server = self.core.servers.get(name);
            match (change, server, new.servers.get(name)) {
                (ServerChange::Removed, ..) => gone.extend(self.core.servers.remove(name)),
                (ServerChange::Changed(Change::Rules), Some(server), Some(config)) => server.set_rules(config.clone()),
                (_, Some(server), Some(config)) => server.change(config.clone()),
                (_, None, Some(config)) => {
                    // The lock keeps other callers from adding it meanwhile.
                    self.core.servers.add(config.clone());
                }
                (_, _, None) => {}
            }
        }
        // A rule holds when this returns.
        self.core.refresh_tools().await;
        self.core.context.changed.mark();
        for server in gone {
            server.gone().await;
        }
        if !difference.is_empty() {
            self.core.config_changed.mark();
        }
        difference
    }

    /// Tools whose definition is not the one that was agreed to.
    pub fn pending_changes(&self) -> Vec<PendingChange> {
        self.core.tools.with_pins(|pins| pins.pending())
    }

    /// What changed about a tool, readable. May take a moment for a text made to be hard to compare.
    pub fn difference_of(&self, server: &str, tool: &str) -> Option<String> {
        self.core.tools.with_pins(|pins| pins.comparison(server, tool)).map(|comparison| comparison.diff())
    }

    /// Agrees to what changed about a server's tools; returns how many had. When this returns, Agents can use them.
    pub async fn approve(&self, server: &str, which: Approval<'_>) -> usize {
        let approved = self.core.tools.with_pins(|pins| pins.approve(server, which));
        self.core.refresh_tools().await;
        approved
    }

    /// The servers that were called, the most recently called one first.
    pub fn recent_servers(&self) -> Vec<Arc<str>> {
        self.core.history.servers_by_recency()
    }

    /// The last calls, the newest first.
    pub fn history(&self) -> Vec<PastCall> {
        self.core.history.snapshot()
    }

    fn status(&self, name: String, server: &Server) -> ServerStatus {
        let now = server.status();
        let counts = server.counts();
        let ResourceCounts { windows, documents, .. } = self.core.context.catalogue.counts(&name);
        let kind = match &server.config().transport {
            McpTransport::Stdio(_) => "stdio",
            McpTransport::Streamable(_) => "streamable",
            McpTransport::Sse(_) => "sse",
        };
        ServerStatus {
            name,
            kind,
            state: now.state,
            since: now.since,
            restarts: now.restarts,
            retry_at: now.retry_at,
            tools: server.tools().len(),
            windows,
            documents,
            calls: counts.calls.load(Ordering::Relaxed),
            failed_calls: counts.failed.load(Ordering::Relaxed),
            progress: counts.progress.load(Ordering::Relaxed),
        }
    }

    fn find(&self, name: &str) -> Result<Arc<Server>, OperateError> {
        self.core.servers.get(name).ok_or_else(|| {
            let known = self.core.servers.all().into_iter().map(|(name, _)| name).collect();
            OperateError::UnknownServer { name: name.to_owned(), known }
        })
    }

    async fn edit_one(&self, name: &str, edit: impl FnOnce(&mut McpServerConfig)) -> Result<(), OperateError> {
        self.find(name)?;
        self.edit(|servers| match servers.get_mut(name) {
            Some(server) => {
                edit(server);
                Ok(())
            }
            None => {
                Err(OperateError::UnknownServer { name: name.to_owned(), known: servers.keys().cloned().collect() })
            }
        })
        .await
    }

    async fn edit(
        &self,
        edit: impl FnOnce(&mut BTreeMap<String, McpServerConfig>) -> Result<(), OperateError>,
    ) -> Result<(), OperateError> {
        let _one_at_a_time = self.core.changing.lock().await;
        if self.core.servers.are_over() {
            return Err(OperateError::Stopped);
        }
        let mut config = ComputerConfig::clone(&self.core.config());
        edit(&mut config.servers)?;
        check(&config)?;
        self.take_over(config).await;
        Ok(())
    }
}

/// A server to sign in to, with every placeholder replaced.
struct SignIn {
    http: StreamableParameters,
    secrets: Redactor,
}

/// Holds what was put together at run time to the rules of a file.
fn check(config: &ComputerConfig) -> Result<(), OperateError> {
    let Err(invalid) = ComputerConfig::parse(&config.to_json()) else { return Ok(()) };
    // The text is generated: its line numbers mean nothing to the owner.
    let problems = invalid.problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.what));
    Err(OperateError::Invalid(problems.collect::<Vec<_>>().join("\n")))
}
