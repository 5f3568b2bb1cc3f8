//! Asking the owner at the terminal whether a tool may run.

use std::future::Future;
use std::pin::Pin;

use a2c_computer::{CallToConfirm, Confirmer, Verdict};

use crate::output::printable;
use crate::terminal::Terminal;

/// How much of the arguments is shown.
const SHOWN: usize = 2048;

impl Confirmer for Terminal {
    fn confirm<'a>(&'a self, call: &'a CallToConfirm) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(async move {
            match self.yes_no(&question(call)).await {
                Some(true) => Verdict::Run,
                _ => Verdict::Refuse,
            }
        })
    }
}

fn question(call: &CallToConfirm) -> String {
    let CallToConfirm { agent, server, tool, description, arguments } = call;
    let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let arguments = cut(&arguments);
    // Who asks is somebody else: no line of theirs may look like ours.
    let quoted = |text: &str| printable(text).replace(['\n', '\t'], " ");
    let description = quoted(description.lines().next().unwrap_or_default());
    format!(
        "\nAgent '{}' wants to run '{}' of '{}': {description}\nwith {}\n",
        quoted(agent),
        quoted(tool),
        quoted(server),
        printable(&arguments),
    )
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(SHOWN);
    format!("{}\n… and {} bytes more, which are not shown", &text[..end], text.len() - end)
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
        let text = question(&call(&json!({"path": "/tmp/\u{202e}x"})));
        assert!(text.contains("'rm' of 'files': Removes\\u{1b}[2K a file\n"), "{text}");
        assert!(text.contains("a Allowed already."), "{text}");
        assert!(text.contains("\\u{202e}x"), "{text}");
    }

    #[test]
    fn long_arguments_are_cut_and_it_is_said() {
        let text = question(&call(&json!({"text": "ü".repeat(5000)})));
        assert!(text.len() < 3000 && text.contains("bytes more, which are not shown"), "{text}");
    }
}
