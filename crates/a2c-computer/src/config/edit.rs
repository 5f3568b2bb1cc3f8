//! Changes to the text of a JSON configuration file that leave its comments, its order and everything else alone: a
//! program that adds a server to the owner's file must not rewrite the rest.

use a2c_protocol::config::{Input, McpServerConfig};
use a2c_settings::{FileFormat, Node, SettingsDocument, Spanned, json, without_byte_order_mark};
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};

use super::error::EditError;
use super::set_disabled::set_disabled;
use super::{ComputerConfig, to_json};

/// One change.
#[derive(Debug, Clone)]
pub enum Edit {
    /// Adds the server, or replaces the one with its name.
    Set(Box<McpServerConfig>),
    /// Removes the server with this name.
    Remove(String),
    /// Enables or disables the server: only its key `disabled` changes.
    SetDisabled {
        /// Which server.
        server: String,
        /// Whether it is disabled afterwards.
        disabled: bool,
    },
    /// Declares the input, or replaces the one with its id.
    Declare(Input),
}

/// The text of a JSON configuration file after some changes, and the configuration that it then holds. An empty text is
/// an empty configuration.
pub fn edit(text: &str, edits: &[Edit]) -> Result<(String, ComputerConfig), EditError> {
    let text = without_byte_order_mark(text);
    let text = if text.trim().is_empty() { "{\n  \"servers\": {}\n}\n" } else { text };
    let config = ComputerConfig::parse(text).map_err(EditError::Before)?;
    if edits.is_empty() {
        return Ok((text.to_owned(), config));
    }
    let mut root = parsed(text);
    let mut top = root.object_value_or_set();
    let key = if top.get("servers").is_none() && top.get("mcpServers").is_some() { "mcpServers" } else { "servers" };
    for edit in edits {
        match edit {
            Edit::Set(server) => {
                let value = ordered(&to_json::server(server));
                let value = if key == "mcpServers" { flat(value) } else { value };
                set(&top.object_value_or_set(key), &server.name, value);
            }
            Edit::Remove(name) => match top.object_value_or_set(key).get(name) {
                Some(server) => server.remove(),
                None => return Err(EditError::NoServer { name: name.clone() }),
            },
            Edit::SetDisabled { server, disabled } => {
                root = parsed(&set_disabled(&root.to_string(), key, server, *disabled)?);
                top = root.object_value_or_set();
            }
            Edit::Declare(input) => declare(&top, input),
        }
    }
    let text = root.to_string();
    let config = ComputerConfig::parse(&text).map_err(EditError::After)?;
    Ok((text, config))
}

fn parsed(text: &str) -> CstRootNode {
    CstRootNode::parse(text, &json::DIALECT).expect("a text that was just read or written parses")
}

fn set(object: &CstObject, key: &str, value: CstInputValue) {
    match object.get(key) {
        Some(present) => present.set_value(value),
        None => {
            object.append(key, value);
        }
    }
}

fn declare(top: &CstObject, input: &Input) {
    let inputs = match top.get("inputs") {
        Some(_) => top.array_value_or_set("inputs"),
        // Before the servers that refer to them.
        None => top.insert(0, "inputs", CstInputValue::Array(Vec::new())).array_value_or_set(),
    };
    let has_id = |node: &CstNode| {
        let id = node.as_object().and_then(|object| object.get("id")?.value()?.as_string_lit()?.decoded_value().ok());
        id.as_deref() == Some(input.id())
    };
    let value = ordered(&to_json::input(input));
    match inputs.elements().into_iter().find(has_id).and_then(|node| node.as_object()) {
        Some(present) => {
            present.replace_with(value);
        }
        None => {
            inputs.append(value);
        }
    }
}

/// A server in the shape that other hosts read too.
fn flat(server: CstInputValue) -> CstInputValue {
    let CstInputValue::Object(entries) = server else { return server };
    let hoist = |(key, value): (String, CstInputValue)| match (key.as_str(), value) {
        ("server_parameters", CstInputValue::Object(parameters)) => parameters,
        ("type", CstInputValue::String(kind)) if kind == "streamable" => vec![(key, "http".into())],
        (_, value) => vec![(key, value)],
    };
    CstInputValue::Object(entries.into_iter().flat_map(hoist).collect())
}

/// JSON text as a value to insert, with its keys in their order.
fn ordered(json: &str) -> CstInputValue {
    let document = SettingsDocument::parse(json, FileFormat::Json).expect("a text that was just written is JSON");
    insertion(document.root().value)
}

fn insertion(value: &Spanned) -> CstInputValue {
    match &value.node {
        Node::Null | Node::Date => CstInputValue::Null,
        Node::Bool(flag) => CstInputValue::Bool(*flag),
        Node::Number(number) => CstInputValue::Number(number.to_string()),
        Node::String(text) => CstInputValue::String(text.clone()),
        Node::List(list) => CstInputValue::Array(list.iter().map(insertion).collect()),
        Node::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|entry| (entry.key.clone(), insertion(&entry.value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> McpServerConfig {
        let text = format!(r#"{{"servers": {{"{name}": {{"command": "q\"uo\\te", "env": {{"A": "ü\n"}}}}}}}}"#);
        ComputerConfig::parse(&text).unwrap().servers.remove(name).unwrap()
    }

    #[test]
    fn comments_and_everything_else_stay() {
        let text = "// mine\n{\n  \"servers\": {\n    /* old */ \"a\": {\"command\": \"x\"}, // first\n  },\n}\n";
        let input: Input = serde_json::from_str(r#"{"type": "promptString", "id": "k", "description": "K"}"#).unwrap();
        let (text, config) = edit(text, &[Edit::Set(Box::new(server("b"))), Edit::Declare(input)]).unwrap();
        for part in ["// mine", "/* old */ \"a\": {\"command\": \"x\"}", "// first"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(config.servers["b"], server("b"));
        assert_eq!((config.servers.len(), config.inputs.len()), (2, 1));
        let (text, config) = edit(&text, &[Edit::Remove("a".into())]).unwrap();
        assert!(text.contains("// mine") && !config.servers.contains_key("a"), "{text}");
    }

    #[test]
    fn a_server_or_an_input_of_the_same_name_is_replaced() {
        let text =
            r#"{"inputs": [{"type": "promptString", "id": "k", "default": "1"}], "servers": {"b": {"command": "x"}}}"#;
        let input: Input = serde_json::from_str(r#"{"type": "promptString", "id": "k", "default": "2"}"#).unwrap();
        let (_, config) = edit(text, &[Edit::Set(Box::new(server("b"))), Edit::Declare(input.clone())]).unwrap();
        assert_eq!((config.servers["b"].clone(), config.inputs), (server("b"), vec![input]));
    }

    #[test]
    fn a_file_of_another_host_keeps_its_shape_and_its_other_keys() {
        let text = r#"{"theme": "dark", "mcpServers": {"a": {"command": "x"}}}"#;
        let (text, config) = edit(text, &[Edit::Set(Box::new(server("b")))]).unwrap();
        assert!(text.contains(r#""theme": "dark""#) && !text.contains("server_parameters"), "{text}");
        assert_eq!(config.servers["b"], server("b"));
    }

    #[test]
    fn nothing_becomes_a_file_and_what_cannot_be_is_refused() {
        let (_, config) = edit("", &[Edit::Set(Box::new(server("b")))]).unwrap();
        assert_eq!(config.servers.len(), 1);
        assert!(matches!(edit("{", &[]), Err(EditError::Before(_))));
        assert!(matches!(edit("", &[Edit::Remove("x".into())]), Err(EditError::NoServer { name }) if name == "x"));
        let nameless = McpServerConfig { name: String::new(), ..server("b") };
        assert!(matches!(edit("", &[Edit::Set(Box::new(nameless))]), Err(EditError::After(_))));
    }
}
