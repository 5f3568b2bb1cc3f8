//! The resources of one MCP server: a page of its list, or all of it.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
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

/// A list with more pages has no end.
const MOST_PAGES: usize = 100_000;

/// The longest cursor that is shown to people, in bytes.
const SHOWN_CURSOR: usize = 1000;

/// What is said about an empty list.
const NOTHING: &str = "no resources: this MCP server lists none";

/// The whole list, from a cursor on.
pub(super) struct ResourceList<'a> {
    pub(super) computer: &'a str,
    pub(super) server: &'a str,
    pub(super) cursor: Option<String>,
}

impl ResourceList<'_> {
    /// Prints page after page, as they come, until the end of the list or of the reader.
    pub(super) async fn run(self, agent: &Agent, as_received: bool) -> Result<ExitCode> {
        tokio::select! {
            listed = self.pages(agent, as_received) => listed,
            () = output::reader_gone() => Ok(ExitCode::SUCCESS),
        }
    }

    /// A server that gives a cursor twice is not followed.
    async fn pages(mut self, agent: &Agent, as_received: bool) -> Result<ExitCode> {
        // The cursors so far, as keyed hashes: a hostile one may be long.
        let (mut seen, keys, mut is_empty) = (HashSet::new(), RandomState::new(), true);
        for _ in 0..MOST_PAGES {
            let payload = json!({ "computer": self.computer, "mcp_server": self.server, "cursor": self.cursor });
            let limit = Seconds::DEFAULT.duration();
            let answer = agent.request(event::GET_RESOURCES, without_nulls(payload), limit).await?;
            if as_received {
                output::json(&answer)?;
            }
            let page: GetResourcesRet = typed(answer)?;
            is_empty &= page.resources.is_empty();
            if !as_received {
                print(&page.resources);
            }
            let Some(next) = page.next_cursor.filter(|next| !next.is_empty()) else {
                if is_empty && !as_received {
                    output::note(NOTHING);
                }
                return Ok(ExitCode::SUCCESS);
            };
            if !seen.insert(keys.hash_one(&next)) {
                let next: String = next.chars().take(SHOWN_CURSOR).collect();
                bail!("the list of '{}' goes round in circles: the cursor {next:?} comes again", self.server);
            }
            self.cursor = Some(next);
        }
        bail!("the list of '{}' does not end", self.server)
    }
}

/// Shows one page, and how to go on.
pub(super) fn show(answer: &GetResourcesRet) {
    print(&answer.resources);
    let next = answer.next_cursor.as_deref().filter(|next| !next.is_empty());
    if answer.resources.is_empty() && next.is_none() {
        output::note(NOTHING);
    }
    if let Some(next) = next {
        output::note(&format!("there are more; next: {}", how_to_go_on(next)));
    }
}

/// What to type for the next page. A cursor that cannot be typed is left to `--all`.
fn how_to_go_on(next: &str) -> String {
    if next.len() > SHOWN_CURSOR || output::printable(next) != next || next.contains(['\n', '\t']) {
        return "--all".to_owned();
    }
    format!("--cursor={}, or --all", output::shell_word(next))
}

fn print(resources: &[Resource]) {
    // What `read` needs is never cut: the URI.
    output::fitted_table(&resources.iter().map(row).collect::<Vec<_>>(), &[1]);
}

fn row(resource: &Resource) -> Vec<String> {
    vec![
        resource.uri.clone(),
        resource.title.as_ref().unwrap_or(&resource.name).clone(),
        resource.mime_type.clone().unwrap_or_default(),
        resource.size.map(output::size).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_in_a_hint_can_be_pasted_into_a_shell() {
        for (cursor, expected) in [
            ("c1", "--cursor=c1, or --all"),
            ("-x", "--cursor=-x, or --all"),
            ("a'; reboot; b", r"--cursor='a'\''; reboot; b', or --all"),
            ("$(reboot)", "--cursor='$(reboot)', or --all"),
            ("a\nb", "--all"),
            ("\u{202e}b", "--all"),
        ] {
            assert_eq!(how_to_go_on(cursor), expected, "{cursor:?}");
        }
        assert_eq!(how_to_go_on(&"c".repeat(SHOWN_CURSOR + 1)), "--all");
    }
}
