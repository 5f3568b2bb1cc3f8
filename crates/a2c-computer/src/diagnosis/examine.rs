//! Where the facts of a check-up come from.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a2c_dpe::{ResolutionLimits, Resolutions};
use a2c_mcp::log::LogSource;
use a2c_mcp::oauth::TokenStore;
use a2c_process::{GuardianError, GuardianProgram, Processes};
use a2c_supervise::ChangeSignal;
use futures_util::{StreamExt as _, stream};

use super::diagnose::{Facts, ServerFacts, diagnose};
use super::{Diagnosis, Grade, runs_some_unasked};
use crate::catalogue::{Catalogue, ResourceCounts};
use crate::config::ComputerConfig;
use crate::inputs::{InputSources, Inputs};
use crate::servers::server::Server;
use crate::servers::{ServerContext, ServerLimits, Servers};
use crate::tools::pins::{PinState, ToolChanges};
use crate::tools::toolbox::{ServerTools, Toolbox};

/// How many servers are started at the same time.
const AT_A_TIME: usize = 8;

/// How long a server of a file may take to list its resources.
const LOOK: Duration = Duration::from_secs(5);

/// How many lines of a server's log are looked through.
const LOG_LINES: usize = 500;

/// What the servers of a file need to be started.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct DiagnosisOptions {
    /// Where the values of inputs come from.
    pub inputs: InputSources,
    /// Where the tokens of servers that require signing in are kept.
    pub tokens: Option<Arc<dyn TokenStore>>,
    /// How long to wait for MCP servers.
    pub limits: ServerLimits,
    /// The program that ends every server when this process is killed.
    pub guardian: Option<GuardianProgram>,
}

/// Examines a Computer that runs.
#[cfg(unix)]
pub(crate) async fn of_running(handle: &crate::ComputerHandle, file: Option<&Path>) -> Vec<Diagnosis> {
    let core = handle.core.clone();
    let open_file = file.filter(|file| is_open(file)).map(|file| file.display().to_string());
    let file = file.map(Path::to_owned);
    // Thousands of tools take a moment to read.
    let examined = tokio::task::spawn_blocking(move || {
        let seen: Vec<_> = core
            .servers
            .all()
            .iter()
            .map(|(name, server)| server_facts(server, core.context.catalogue.counts(name)))
            .collect();
        let pending = core.tools.with_pins(|pins| pins.pending());
        let changed: Vec<_> = pending.into_iter().map(|change| (change.server, change.tool)).collect();
        let (config, toolbox) = (core.config(), core.tools.toolbox());
        let mut found = of_itself(&core, &config, file.as_deref());
        found.extend(diagnose(&Facts {
            servers: &seen,
            config: &config,
            toolbox: &toolbox,
            changed: &changed,
            open_file: open_file.as_deref(),
        }));
        super::worst_first(&mut found);
        found
    });
    let failed = |error| {
        let what = format!("the check-up itself failed: {error}");
        vec![Diagnosis { server: None, grade: Grade::Problem, what, advice: "the Computer's log says more".into() }]
    };
    examined.await.unwrap_or_else(failed)
}

/// What is wrong with a Computer, whatever its servers are like.
#[cfg(unix)]
fn of_itself(core: &crate::core::Core, config: &ComputerConfig, file: Option<&Path>) -> Vec<Diagnosis> {
    use crate::tools::confirm::Confirmation;
    let mut found = Vec::new();
    let mut tell = |grade, what: String, advice: &str| {
        found.push(Diagnosis { server: None, grade, what, advice: advice.to_owned() });
    };
    if !core.hub().connected {
        let advice =
            "check that the hub runs and can be reached; the Computer's log says why not. It comes back by itself";
        tell(Grade::Problem, "the hub is not connected: no Agent can use this Computer".into(), advice);
    }
    if let Some(Err(error)) = file.map(ComputerConfig::load) {
        let advice = "correct it: until then the Computer goes on with what it said before";
        tell(Grade::Problem, format!("the configuration file cannot be used as it is now: {error}"), advice);
    }
    if matches!(core.confirmation, Confirmation::Refuse) && !runs_some_unasked(config) {
        let advice = "start the Computer with --yes or --confirm ask, or mark tools with auto_apply";
        tell(
            Grade::Warning,
            "every call will be refused: the owner is not asked, and no tool has auto_apply".into(),
            advice,
        );
    }
    found
}

/// Examines the servers of a file by starting each of them once. When this returns, all of them have ended.
pub async fn of_file(
    config: &ComputerConfig,
    file: &Path,
    options: DiagnosisOptions,
) -> Result<Vec<Diagnosis>, GuardianError> {
    let processes = Processes::guarded_by(options.guardian.as_ref()).await?;
    let context = Arc::new(ServerContext {
        inputs: Inputs::with_processes(config.inputs.clone(), options.inputs, processes.clone()),
        processes,
        tokens: options.tokens,
        limits: options.limits,
        changed: ChangeSignal::new(),
        catalogue: Catalogue::default(),
        documents: Resolutions::new(None, ResolutionLimits::default()),
    });
    let servers = Servers::new(context.clone());
    let examine = async |config: &a2c_protocol::config::McpServerConfig| {
        // The names of a map are different.
        let server = servers.add(config.clone())?;
        server.settled().await;
        // What it has besides tools is worth a moment, and no more.
        let _ = tokio::time::timeout(LOOK, server.known()).await;
        let found = server_facts(&server, context.catalogue.counts(&config.name));
        servers.remove(&config.name);
        server.gone().await;
        Some(found)
    };
    let seen: Vec<ServerFacts> =
        stream::iter(config.servers.values()).map(examine).buffered(AT_A_TIME).filter_map(async |p| p).collect().await;
    context.processes.end().await;
    let listed: Vec<_> = seen.iter().map(server_tools).collect();
    let toolbox = Toolbox::new(&listed, ToolChanges::Warn);
    let open_file = is_open(file).then(|| file.display().to_string());
    let facts = Facts { servers: &seen, config, toolbox: &toolbox, changed: &[], open_file: open_file.as_deref() };
    let mut found = diagnose(&facts);
    super::worst_first(&mut found);
    Ok(found)
}

fn server_facts(server: &Server, counts: ResourceCounts) -> ServerFacts {
    let status = server.status();
    let log = server.log().tail(LOG_LINES);
    let garbage = log.iter().filter(|line| line.source == LogSource::Stdout).map(|line| line.text.to_string());
    ServerFacts {
        config: server.config(),
        state: status.state,
        restarts: status.restarts,
        tools: server.tools(),
        garbage: garbage.collect(),
        counts,
    }
}

fn server_tools(server: &ServerFacts) -> ServerTools {
    ServerTools {
        config: server.config.clone(),
        tools: server.tools.clone(),
        is_wanted: server.state.is_wanted(),
        pin_states: vec![PinState::Trusted; server.tools.len()],
    }
}

/// Whether others than its owner can read a file.
fn is_open(file: &Path) -> bool {
    #[cfg(unix)]
    let open = std::fs::metadata(file)
        .is_ok_and(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o044 != 0);
    #[cfg(not(unix))]
    let open = {
        let _ = file;
        false
    };
    open
}

#[cfg(test)]
mod tests {
    use a2c_protocol::config::McpTransport;
    use serde_json::json;

    use super::*;

    fn config(text: &serde_json::Value) -> ComputerConfig {
        ComputerConfig::parse(&text.to_string()).unwrap()
    }

    async fn examined(config: &ComputerConfig) -> Vec<Diagnosis> {
        of_file(config, Path::new("/no/such/file"), DiagnosisOptions::default()).await.unwrap()
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_to_be_corrected_or_installed() {
        let found = examined(&config(&json!({"servers": {"s": {"command": "/no/such/program"}}}))).await;
        assert!(found.iter().any(|found| found.advice.starts_with("correct `command`")), "{found:#?}");
    }

    #[tokio::test]
    async fn a_value_that_makes_parameters_unusable_is_not_shown() {
        let mut config = config(&json!({
            "inputs": [{"id": "key", "type": "promptString", "description": "", "default": "canary-0123456789"}],
            "servers": {
                "process": {"command": "true"},
                "http": {"type": "streamable", "url": "${input:key}://host/mcp"},
                "sse": {"type": "sse", "url": "${input:key}://host/sse"},
            },
        }));
        // A file with such an encoding is refused; an application may configure it.
        let Some(McpTransport::Stdio(stdio)) = config.servers.get_mut("process").map(|server| &mut server.transport)
        else {
            panic!("no process");
        };
        stdio.encoding = "${input:key}".into();
        let found = examined(&config).await;
        for (server, expected) in [("process", "its encoding '***'"), ("http", "with ***:"), ("sse", "with ***:")] {
            let about = found.iter().find(|found| found.server.as_deref() == Some(server));
            assert!(about.is_some_and(|about| about.what.contains(expected)), "{server}: {found:#?}");
        }
        assert!(!format!("{found:?}").contains("canary"), "{found:#?}");
    }
}
