//! What the file of another host forbids, in the words of that host. Whoever points at it must not get more than there.
//! What such a file approves is not taken over: that is for the owner of the Computer to say.

use a2c_protocol::config::McpServerConfig;

use super::fields::{Fields, Item, Problems};
use crate::config::keys;
use crate::config::spanned::Node;

/// The server with the restrictions of its host beside ours; one that cannot be kept is a problem.
pub(super) fn honoured(
    mut server: McpServerConfig,
    fields: &Fields<'_>,
    problems: &mut Problems<'_>,
) -> McpServerConfig {
    for key in keys::HOST_RULES {
        let Some(item) = fields.get(key) else { continue };
        if *key == "enabled" {
            server.disabled |= item.flag(problems) == Some(false);
        } else {
            let tools = item.texts(problems).unwrap_or_default();
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
            item.wrong(what, problems);
        }
    }
    server
}

/// A list with `*` allows everything.
fn restricts(item: &Item<'_>) -> bool {
    let Node::List(tools) = &item.value.node else { return false };
    !tools.iter().any(|tool| matches!(&tool.node, Node::Text(text) if text == "*"))
}
