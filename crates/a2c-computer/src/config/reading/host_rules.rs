//! What the file of another host forbids, in the keys of that host: a Computer that reads the file allows no more than
//! that host. What such a file approves is not taken over: only the owner of the Computer approves tools.

use a2c_protocol::config::McpServerConfig;
use a2c_settings::{Field, Node, Object, Report};

use crate::config::keys;

/// The server with the restrictions of its host beside ours; one that cannot be enforced is a problem.
pub(super) fn apply(mut server: McpServerConfig, fields: &Object<'_>, report: &mut Report<'_>) -> McpServerConfig {
    for key in keys::HOST_RULES {
        let Some(item) = fields.get(key) else { continue };
        if *key == "enabled" {
            server.disabled |= item.boolean(report) == Some(false);
        } else {
            let tools = item.strings(report).unwrap_or_default();
            for tool in tools {
                if !server.forbidden_tools.contains(&tool) {
                    server.forbidden_tools.push(tool);
                }
            }
        }
    }
    for key in keys::ALLOW_LISTS {
        if let Some(item) = fields.get(key).filter(restricts) {
            let what = format!("{key} is not honoured: name the others in forbidden_tools, or remove the key");
            item.problem(what, report);
        }
    }
    server
}

/// A list with `*` allows everything.
fn restricts(item: &Field<'_>) -> bool {
    let Node::List(tools) = &item.value.node else { return false };
    !tools.iter().any(|tool| matches!(&tool.node, Node::String(text) if text == "*"))
}
