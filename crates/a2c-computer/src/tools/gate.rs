//! Whether a tool exists for an Agent. Pure.
//!
//! Listing, searching and calling all go through the [`Toolbox`](super::toolbox::Toolbox), and the toolbox asks this gate
//! for every tool: there is no other way to a tool.

use a2c_protocol::config::McpServerConfig;

use crate::config::tool_rules::is_forbidden;

/// Why an Agent does not see a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HiddenReason {
    /// The owner forbids it.
    Forbidden,
    /// Its server is switched off.
    Off,
    /// Its definition has changed since the owner approved it.
    Changed,
    /// Its definition is too large to be shown, alone or together with those of its server.
    TooLarge,
}

impl HiddenReason {
    /// The message for an Agent that asks for the tool by name.
    pub(crate) fn explain(self, tool: &str) -> String {
        match self {
            Self::Forbidden => format!("tool '{tool}' is forbidden"),
            Self::Off => format!("tool '{tool}' belongs to an MCP server that is switched off"),
            Self::TooLarge => {
                format!("tool '{tool}' is not offered: its definition, or its server's list, is too large")
            }
            Self::Changed => {
                format!(
                    "tool '{tool}' has changed since the owner of this computer agreed to it, and waits for approval"
                )
            }
        }
    }
}

/// Judges a tool; `None` lets it pass. `is_wanted` says whether its server is to run, `is_blocked` whether the tool changed
/// and the policy holds it back.
pub(crate) fn judge(server: &McpServerConfig, tool: &str, is_wanted: bool, is_blocked: bool) -> Option<HiddenReason> {
    if is_forbidden(server, tool) {
        Some(HiddenReason::Forbidden)
    } else if !is_wanted {
        Some(HiddenReason::Off)
    } else if is_blocked {
        Some(HiddenReason::Changed)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts() {
        let server: McpServerConfig = serde_json::from_str(
            r#"{"type": "stdio", "server_parameters": {"command": "x"}, "forbidden_tools": ["rm", "wipe"],
                "tool_meta": {"purge": {"alias": "wipe"}}}"#,
        )
        .unwrap();
        let check = |tool, is_wanted, is_blocked, expected| {
            assert_eq!(judge(&server, tool, is_wanted, is_blocked), expected, "{tool}");
        };
        check("rm", true, false, Some(HiddenReason::Forbidden));
        check("purge", true, false, Some(HiddenReason::Forbidden));
        check("ls", true, false, None);
        check("ls", false, false, Some(HiddenReason::Off));
        check("ls", true, true, Some(HiddenReason::Changed));
        check("rm", false, true, Some(HiddenReason::Forbidden));
    }
}
