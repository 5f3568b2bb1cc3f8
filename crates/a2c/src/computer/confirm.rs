//! Asking the owner at the terminal whether a tool may run.

use a2c_computer::{CallToConfirm, Confirmer, Verdict, async_trait};

use crate::output::printable;
use crate::terminal::Terminal;

/// How large arguments may be to be looked at on a terminal, in bytes. The owner cannot approve what is not shown.
const SHOWN: usize = 16 << 10;

#[async_trait]
impl Confirmer for Terminal {
    async fn confirm(&self, call: &CallToConfirm) -> Verdict {
        let Some(question) = question(call) else {
            let CallToConfirm { agent, server, tool, .. } = call;
            tracing::warn!(
                agent,
                server,
                tool,
                "a call was refused without asking: its arguments are more than the {} KiB that can be shown",
                SHOWN >> 10
            );
            return Verdict::Refuse;
        };
        match self.yes_no(&question).await {
            Some(true) => Verdict::Run,
            _ => Verdict::Refuse,
        }
    }
}

/// What the owner is asked, with all of the arguments; `None` where they are too large to be shown.
fn question(call: &CallToConfirm) -> Option<String> {
    let CallToConfirm { agent, server, tool, description, arguments } = call;
    let arguments = printable(&serde_json::to_string_pretty(arguments).ok()?);
    if arguments.len() > SHOWN {
        return None;
    }
    // The text comes from the MCP server: no line of it may look like a line of this program.
    let quoted = |text: &str| printable(text).replace(['\n', '\t'], " ");
    let description = quoted(description.lines().next().unwrap_or_default());
    Some(format!(
        "\nAgent '{}' wants to run '{}' of '{}': {description}\nwith {arguments}\n",
        quoted(agent),
        quoted(tool),
        quoted(server),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn call(arguments: &serde_json::Value) -> CallToConfirm {
        let arguments: Map<_, _> = arguments.as_object().unwrap().clone();
        let text = |text: &str| text.to_owned();
        CallToConfirm {
            agent: text("a\nAllowed already. Agent 'b"),
            server: text("files"),
            tool: text("rm"),
            description: text("Removes\u{1b}[2K a file\nmore"),
            arguments,
        }
    }

    #[test]
    fn everything_is_shown_and_nothing_steers_the_terminal() {
        let text = question(&call(&json!({"path": "/tmp/\u{202e}x"}))).unwrap();
        assert!(text.contains("'rm' of 'files': Removes\\u001b[2K a file\n"), "{text}");
        assert!(text.contains("a Allowed already."), "{text}");
        assert!(text.contains("\\u202ex"), "{text}");
    }

    #[test]
    fn arguments_are_shown_whole_or_not_agreed_to() {
        let text = "ü".repeat(8000);
        assert!(question(&call(&json!({ "text": text }))).unwrap().contains(&text));
        assert_eq!(question(&call(&json!({"text": "ü".repeat(8192)}))), None);
    }
}
