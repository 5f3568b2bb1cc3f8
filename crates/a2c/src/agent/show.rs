//! Answers, for people: rows and text on standard output; on standard error what is missing, and what to do.

use std::process::ExitCode;

use a2c_protocol::context::{GetDesktopRet, ReadResourceRet};
use a2c_protocol::office::ListRoomRet;
use a2c_protocol::tool::{CallToolResult, GetToolsRet, SmcpTool};
use anyhow::Result;
use serde_json::Value;

use super::{AgentCommand, typed};
use crate::output;

/// Shows an answer to people.
pub(super) fn answer(command: &AgentCommand, answer: Value) -> Result<ExitCode> {
    match command {
        AgentCommand::Members => {
            let answer: ListRoomRet = typed(answer)?;
            let row = |m: &a2c_protocol::office::SessionInfo| {
                vec![m.role.to_string(), m.name.clone(), m.a2c_version.map(|v| v.to_string()).unwrap_or_default()]
            };
            output::table(&answer.sessions.iter().map(row).collect::<Vec<_>>());
        }
        AgentCommand::Tools { .. } => {
            let answer: GetToolsRet = typed(answer)?;
            let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
            let row = |tool: &SmcpTool| vec![tool.name.clone(), parameters(tool), first_line(&tool.description)];
            output::table(&answer.tools.iter().map(row).collect::<Vec<_>>());
        }
        AgentCommand::Config { .. } => output::pretty_json(&answer)?,
        AgentCommand::Desktop { computer, size, window } => {
            let answer: GetDesktopRet = typed(answer)?;
            match answer.desktops[..] {
                [] => output::note(&no_windows(computer, *size, window.as_deref())),
                _ => output::text(&answer.desktops.join("\n\n")),
            }
        }
        AgentCommand::Finder(finder) => finder.show(&typed(answer)?),
        AgentCommand::Resources { .. } => super::resources::show(&typed(answer)?),
        AgentCommand::Dpe { .. } => super::dpe::show(&typed(answer)?),
        AgentCommand::Read { .. } => output::contents(&typed::<ReadResourceRet>(answer)?.contents)?,
        AgentCommand::Watch { .. } | AgentCommand::Browse { .. } => {}
        AgentCommand::Call { .. } => return output::tool_result(&typed::<CallToolResult>(answer)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a tool takes, in short: `{path, encoding?}`.
fn parameters(tool: &SmcpTool) -> String {
    let schema = tool.params_schema.value().unwrap_or_default();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let properties = schema["properties"].as_object();
    let names = properties.into_iter().flat_map(|p| p.keys());
    let name = |name: &String| if required.iter().any(|r| r == name) { name.clone() } else { format!("{name}?") };
    format!("{{{}}}", names.map(name).collect::<Vec<_>>().join(", "))
}

fn no_windows(computer: &str, size: Option<i64>, window: Option<&str>) -> String {
    match (size, window) {
        (Some(size), _) if size <= 0 => format!("no windows: --size {size} asks for none"),
        (_, Some(window)) => format!("no window {window}: `a2c agent desktop {computer}` shows those that there are"),
        _ => format!(
            "no windows: no MCP server of '{computer}' shows any (window:// resources, with subscriptions), or none could \
             be read just now; its owner sees which servers have windows with `a2c computer status`, and in the log why \
             one is left out"
        ),
    }
}

/// How many pages, in words.
pub(super) fn pages(count: u64) -> String {
    match count {
        1 => "1 page".to_owned(),
        count => format!("{} pages", output::count(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_desktop_says_why() {
        let check = |size, window, part: &str| {
            let text = no_windows("desk", size, window);
            assert!(text.contains(part), "{text}");
        };
        check(None, None, "no MCP server of 'desk'");
        check(Some(3), None, "none could be read just now");
        check(None, None, "`a2c computer status`");
        check(Some(-1), None, "--size -1 asks for none");
        check(None, Some("window://a"), "no window window://a");
    }
}
