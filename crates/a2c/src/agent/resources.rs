//! The resources of one MCP server: a page of its list, or all of it.

use std::collections::HashSet;
use std::process::ExitCode;

use a2c_agent::Agent;
use a2c_protocol::context::{GetResourcesRet, Resource};
use a2c_protocol::event;
use a2c_protocol::seconds::Seconds;
use anyhow::{Result, bail};
use serde_json::json;

use super::payload::without_nulls;
use super::typed;
use crate::output;

/// The whole list, from a cursor on.
pub(super) struct ResourceList<'a> {
    pub(super) computer: &'a str,
    pub(super) server: &'a str,
    pub(super) cursor: Option<String>,
}

impl ResourceList<'_> {
    /// Prints page after page. A server that gives a cursor twice is not followed.
    pub(super) async fn run(mut self, agent: &Agent, as_received: bool) -> Result<ExitCode> {
        let (mut seen, mut rows) = (HashSet::new(), Vec::new());
        loop {
            let payload = json!({ "computer": self.computer, "mcp_server": self.server, "cursor": self.cursor });
            let limit = Seconds::DEFAULT.duration();
            let answer = agent.request(event::GET_RESOURCES, without_nulls(payload), limit).await?;
            if as_received {
                output::json(&answer)?;
            }
            let page: GetResourcesRet = typed(answer)?;
            rows.extend(page.resources.iter().map(row));
            let Some(next) = page.next_cursor.filter(|next| !next.is_empty()) else { break };
            if !seen.insert(next.clone()) {
                bail!("the list of '{}' goes round in circles: the cursor {next:?} comes again", self.server);
            }
            self.cursor = Some(next);
        }
        if !as_received {
            print(&rows);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows one page, and how to go on.
pub(super) fn show(answer: &GetResourcesRet) {
    print(&answer.resources.iter().map(row).collect::<Vec<_>>());
    if let Some(next) = answer.next_cursor.as_deref().filter(|next| !next.is_empty()) {
        output::note(&format!("there are more; next: --cursor '{next}', or --all"));
    }
}

fn print(rows: &[Vec<String>]) {
    if rows.is_empty() {
        output::note("no resources: this MCP server lists none");
    }
    // What `read` needs is never cut: the URI.
    output::fitted_table(rows, &[1]);
}

fn row(resource: &Resource) -> Vec<String> {
    vec![
        resource.uri.clone(),
        resource.title.as_ref().unwrap_or(&resource.name).clone(),
        resource.mime_type.clone().unwrap_or_default(),
        resource.size.map(output::size).unwrap_or_default(),
    ]
}
