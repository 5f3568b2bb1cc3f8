//! Enabling and disabling a server in the text of a file, without changing any other byte.
//!
//! Adding a key to a syntax tree reformats the entry around it, so the text itself is changed.

use a2c_settings::json;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::error::EditError;

/// The text of a valid configuration with `disabled` of a server changed, or added where it is missing. The key is never
/// removed: the comments beside it would lose their subject.
pub(super) fn set_disabled(text: &str, key: &str, name: &str, disabled: bool) -> Result<String, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json::DIALECT).ok().and_then(|parsed| parsed.value);
    let servers = parsed.as_ref().and_then(Value::as_object).and_then(|top| top.get_object(key));
    let server = servers.and_then(|servers| servers.get_object(name));
    let server = server.ok_or_else(|| EditError::NoServer { name: name.to_owned() })?;
    if !disabled && server.get_boolean("enabled").is_some_and(|enabled| !enabled.value) {
        return Err(EditError::DisabledByHost { name: name.to_owned() });
    }
    let mut text = text.to_owned();
    match server.get("disabled") {
        Some(present) => text.replace_range(present.value.start()..present.value.end(), &disabled.to_string()),
        None if disabled => {
            let (at, added) = addition(&text, server);
            text.insert_str(at, &added);
        }
        None => {}
    }
    Ok(text)
}

/// Where `disabled` is added, and how: first, on a line of its own where the first key has one. Comments above that key
/// stay with it.
fn addition(text: &str, server: &Object<'_>) -> (usize, String) {
    const ADDED: &str = "\"disabled\": true,";
    let inside = server.start() + 1;
    let first = server.properties.first().map_or(inside, |property| property.start());
    let between = &text[inside..first];
    let Some((rest_of_line, _)) = between.split_once('\n') else { return (first, format!("{ADDED} ")) };
    let line_ends = rest_of_line.trim_end();
    if line_ends.is_empty() || line_ends.trim_start().starts_with("//") {
        let newline = if rest_of_line.ends_with('\r') { "\r\n" } else { "\n" };
        let line = between.rsplit('\n').next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        return (inside + line_ends.len(), format!("{newline}{indent}{ADDED}"));
    }
    // A comment over several lines.
    (inside, format!("{ADDED} "))
}

#[cfg(test)]
mod tests {
    use crate::config::{Edit, EditError, edit};

    #[test]
    fn only_the_key_disabled_changes() {
        let off = r#""disabled": true, "#;
        for (before, after, disabled) in [
            (r#"{"command": "x"}"#, format!(r#"{{{off}"command": "x"}}"#), true),
            (r#"{ "command": "x", "disabled" : /* why */ false, }"#, r#"{ "command": "x", "disabled" : /* why */ true, }"#.into(), true),
            (r#"{"disabled": true, "url": "http://h"}"#, r#"{"disabled": false, "url": "http://h"}"#.into(), false),
            (r#"{"disabled": null, "command": "x"}"#, r#"{"disabled": true, "command": "x"}"#.into(), true),
            (r#"{"command": "x"} // on"#, r#"{"command": "x"} // on"#.into(), false),
            ("{ // mine\n      // how\n      \"command\": \"x\",\n      \"timeout\": 6e1 // why\n    }",
             "{ // mine\n      \"disabled\": true,\n      // how\n      \"command\": \"x\",\n      \"timeout\": 6e1 // why\n    }".into(), true),
            ("{\r\n\t\"command\": \"x\",\r\n\t\"autoApprove\": [ \"t\" ], // mine\r\n    }",
             "{\r\n\t\"disabled\": true,\r\n\t\"command\": \"x\",\r\n\t\"autoApprove\": [ \"t\" ], // mine\r\n    }".into(), true),
            ("{ /* a\n b */ \"command\": \"x\" }", "{\"disabled\": true,  /* a\n b */ \"command\": \"x\" }".into(), true),
            ("{ \"command\": \"x\",\n      \"args\": [] }", "{ \"disabled\": true, \"command\": \"x\",\n      \"args\": [] }".into(), true),
        ] {
            let file = |entry: &str| format!("{{\n  \"mcpServers\": {{\n    \"a\": {entry}\n  }}, \"theme\": 1\n}}\n");
            let switch = Edit::SetDisabled { server: "a".into(), disabled };
            let (text, config) = edit(&file(before), std::slice::from_ref(&switch)).unwrap();
            assert_eq!((text, config.servers["a"].disabled), (file(&after), disabled));
            assert_eq!(edit(&file(&after), &[switch]).unwrap().0, file(&after));
        }
        let full = r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x"}}}}"#;
        let (text, _) = edit(full, &[Edit::SetDisabled { server: "a".into(), disabled: true }]).unwrap();
        assert_eq!(text, full.replace(r#""type""#, &format!(r#"{off}"type""#)));
        let absent = edit(full, &[Edit::SetDisabled { server: "b".into(), disabled: true }]);
        assert!(matches!(absent, Err(EditError::NoServer { name }) if name == "b"));
        let held = r#"{"mcpServers": {"a": {"command": "x", "enabled": false}}}"#;
        let refused = edit(held, &[Edit::SetDisabled { server: "a".into(), disabled: false }]);
        assert!(matches!(refused, Err(EditError::DisabledByHost { name }) if name == "a"));
    }
}
