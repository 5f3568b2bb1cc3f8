//! Translates the references of other hosts to the environment.

use super::mcp_host::McpHost;

/// References of ours, which mean the same in other hosts.
const OURS: [&str; 5] = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"];

/// The text with references in our syntax; a reference that has no counterpart is noted.
pub(super) fn translate(host: McpHost, text: &str, notes: &mut Vec<String>) -> String {
    if let (McpHost::GeminiCli, Some(variable)) = (host, text.strip_prefix('$'))
        && is_variable(variable)
    {
        return format!("${{env:{variable}}}");
    }
    let (open, skip) = if host == McpHost::OpenCode { ("{env:", 5) } else { ("${", 2) };
    let mut translated = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(open) {
        let Some(length) = rest[start..].find('}') else { break };
        translated.push_str(&rest[..start]);
        let inner = &rest[start + skip..start + length];
        translated.push_str(&if host == McpHost::OpenCode {
            format!("${{env:{inner}}}")
        } else {
            reference(inner, notes)
        });
        rest = &rest[start + length + 1..];
    }
    translated + rest
}

fn reference(inner: &str, notes: &mut Vec<String>) -> String {
    if let Some((variable, _)) = inner.split_once(":-")
        && is_variable(variable)
    {
        notes.push(format!("the default of ${{{variable}:-…}} was left out: the variable has to be set"));
        return format!("${{env:{variable}}}");
    }
    let is_ours = OURS.contains(&inner) || inner.starts_with("input:") || inner.starts_with("env:");
    if !is_ours && is_variable(inner) {
        return format!("${{env:{inner}}}");
    }
    if !is_ours {
        notes.push(format!("${{{inner}}} has no meaning here and stays as it is"));
    }
    format!("${{{inner}}}")
}

fn is_variable(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_translated() {
        for (host, text, expected, noted) in [
            (McpHost::Common, "a ${HOME}/b ${env:X} ${input:k}", "a ${env:HOME}/b ${env:X} ${input:k}", 0),
            (McpHost::Common, "${workspaceFolder}${/}x", "${workspaceFolder}${/}x", 0),
            (McpHost::ClaudeCode, "${KEY:-none}", "${env:KEY}", 1),
            (McpHost::VsCode, "${config:a.b}", "${config:a.b}", 1),
            (McpHost::GeminiCli, "$KEY", "${env:KEY}", 0),
            (McpHost::Common, "$KEY ${open", "$KEY ${open", 0),
            (McpHost::OpenCode, "Bearer {env:KEY} {x}", "Bearer ${env:KEY} {x}", 0),
        ] {
            let mut notes = Vec::new();
            assert_eq!((translate(host, text, &mut notes).as_str(), notes.len()), (expected, noted), "{text}");
        }
    }
}
