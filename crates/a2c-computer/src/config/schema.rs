//! The JSON Schema of a configuration file, made from the types, for editors and for checks elsewhere.
//!
//! The parameters, inputs and tool metadata are the types of the wire; the types here add what only a file has: its two
//! shapes, and parameters that stand flat beside the other keys of a server. Their fields have the reader's keys.
#![expect(dead_code, reason = "the types are there for their schema")]

use std::collections::BTreeMap;

use a2c_protocol::config::{Input, SseParameters, StdioParameters, StreamableParameters};
use a2c_protocol::tool::ToolMeta;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

/// The schema, in draft 2020-12.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<Configuration>();
    schema.insert("title".into(), "Configuration of an A2C Computer".into());
    schema.into()
}

/// What a Computer runs: MCP servers, and the inputs that they refer to.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Configuration {
    Ours(File),
    Hosts(HostFile),
}

/// The shape of a2c, in which every key counts.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct File {
    /// Where this schema is, for editors.
    #[schemars(rename = "$schema")]
    schema: Option<String>,
    /// Values that the owner supplies at run time.
    inputs: Option<Vec<Input>>,
    /// The MCP servers by name.
    #[schemars(extend("propertyNames" = name()))]
    servers: BTreeMap<String, Server>,
}

/// The shape that MCP hosts share, whose files hold other things too.
#[derive(JsonSchema)]
#[schemars(extend("not" = json!({"required": ["servers"]})))]
struct HostFile {
    /// Where this schema is, for editors.
    #[schemars(rename = "$schema")]
    schema: Option<String>,
    /// Values that the owner supplies at run time.
    inputs: Option<Vec<Input>>,
    /// The MCP servers by name.
    #[schemars(rename = "mcpServers", extend("propertyNames" = name()))]
    mcp_servers: BTreeMap<String, HostServer>,
}

fn name() -> Value {
    json!({"minLength": 1, "maxLength": 128, "pattern": "^[^\\u0000-\\u001f\\u007f]*$"})
}

/// An MCP server.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Server {
    Stdio(InFull<StdioKind, StdioParameters>),
    Streamable(InFull<StreamableKind, StreamableParameters>),
    Sse(InFull<SseKind, SseParameters>),
    FlatStdio(Flat<StdioKind, StdioParameters>),
    FlatStreamable(Flat<StreamableKind, StreamableParameters>),
    FlatSse(FlatSse),
}

/// An MCP server as other hosts write it, or as we do.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum HostServer {
    Stdio(Open<StdioKind, StdioParameters>),
    Streamable(Open<HostStreamableKind, StreamableParameters>),
    Sse(Open<SseKind, SseParameters>),
    StdioInFull(InFull<StdioKind, StdioParameters>),
    StreamableInFull(InFull<StreamableKind, StreamableParameters>),
    SseInFull(InFull<SseKind, SseParameters>),
}

/// A server with its parameters in an object of their own.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "{K}WithParameters")]
struct InFull<K, P> {
    /// The name: the key, if anything.
    name: Option<String>,
    /// How it is reached.
    r#type: K,
    /// The parameters of that.
    #[schemars(extend("unevaluatedProperties" = false))]
    server_parameters: P,
    #[schemars(flatten)]
    rules: Rules,
}

/// A server with its parameters beside the other keys.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "{K}Flat")]
struct Flat<K, P> {
    /// The name: the key, if anything.
    name: Option<String>,
    /// How it is reached; left out, `command` and `url` tell.
    r#type: Option<K>,
    #[schemars(flatten)]
    parameters: P,
    #[schemars(flatten)]
    rules: Rules,
}

/// A legacy SSE server with its parameters beside the other keys.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FlatSse {
    /// The name: the key, if anything.
    name: Option<String>,
    /// Without it the server is taken for streamable HTTP.
    r#type: SseKind,
    #[schemars(flatten)]
    parameters: SseParameters,
    #[schemars(flatten)]
    rules: Rules,
}

/// A server in the file of another host, whose other keys are left alone.
#[derive(JsonSchema)]
#[schemars(rename = "{K}OfHost", extend("not" = in_full_or_twice()))]
struct Open<K, P> {
    /// How it is reached; left out, `command` and `url` tell.
    r#type: Option<K>,
    #[schemars(flatten)]
    parameters: P,
    #[schemars(flatten)]
    rules: Rules,
    #[schemars(flatten)]
    host_rules: HostRules,
}

/// What is no server in the file of another host: one of ours, or one that is both run and called.
fn in_full_or_twice() -> Value {
    let given = json!({"not": {"type": "null"}});
    let both = json!({"required": ["command", "url"], "properties": {"command": given, "url": given}});
    json!({"anyOf": [{"required": ["server_parameters"]}, both]})
}

/// What another host forbids in words of its own.
#[derive(JsonSchema)]
struct HostRules {
    /// `false` is as good as `disabled`.
    enabled: Option<bool>,
    /// As good as `forbidden_tools`.
    #[schemars(rename = "disabledTools")]
    disabled_tools_camel: Option<Vec<String>>,
    /// As good as `forbidden_tools`.
    #[schemars(rename = "excludeTools")]
    exclude_tools: Option<Vec<String>>,
    /// As good as `forbidden_tools`.
    disabled_tools: Option<Vec<String>>,
    /// Is not honoured, so it may not be there, unless it allows everything (`*`).
    #[schemars(rename = "includeTools", extend("not" = restricting()))]
    include_tools: Option<Value>,
    /// Is not honoured, so it may not be there, unless it allows everything (`*`).
    #[schemars(rename = "enabledTools", extend("not" = restricting()))]
    enabled_tools_camel: Option<Value>,
    /// Is not honoured, so it may not be there, unless it allows everything (`*`).
    #[schemars(extend("not" = restricting()))]
    enabled_tools: Option<Value>,
    /// Is not honoured, so it may not be there, unless it allows everything (`*`).
    #[schemars(rename = "allowedTools", extend("not" = restricting()))]
    allowed_tools: Option<Value>,
    /// Is not honoured, so it may not be a list, unless it allows everything (`*`).
    #[schemars(extend("not" = restricting()))]
    tools: Option<Value>,
}

/// A list without `*`.
fn restricting() -> Value {
    json!({"type": "array", "not": {"contains": {"const": "*"}}})
}

/// What the owner says about a server and its tools.
#[derive(JsonSchema)]
struct Rules {
    /// Whether it is switched off.
    disabled: Option<bool>,
    /// Tools that are neither listed nor callable, by their own name or their alias.
    forbidden_tools: Option<Vec<String>>,
    /// What the owner says about single tools, by their own name.
    tool_meta: Option<BTreeMap<String, ToolMeta>>,
    /// What the owner says about all the others.
    #[schemars(extend("not" = json!({"type": "object", "required": ["alias"], "properties": {"alias": {"type": "string"}}})))]
    default_tool_meta: Option<ToolMeta>,
    /// A Vector Remap Language program over each result; only for builds with the feature `vrl`.
    vrl: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", rename = "Stdio")]
enum StdioKind {
    /// A child process that speaks MCP on its standard streams.
    Stdio,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", rename = "Streamable")]
enum StreamableKind {
    /// Streamable HTTP.
    Streamable,
    /// Streamable HTTP, as other hosts call it.
    Http,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", rename = "Sse")]
enum SseKind {
    /// The older HTTP with server-sent events.
    Sse,
}

#[derive(JsonSchema)]
#[schemars(rename = "HostStreamable")]
enum HostStreamableKind {
    #[schemars(rename = "streamable")]
    Streamable,
    #[schemars(rename = "http")]
    Http,
    #[schemars(rename = "streamable-http")]
    Dashed,
    #[schemars(rename = "streamableHttp")]
    Camel,
    #[schemars(rename = "streamable_http")]
    Snake,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{ComputerConfig, keys};
    use a2c_protocol::config::OAuthParameters;
    use boon::{Compiler, Schemas};

    fn properties<T: JsonSchema>() -> BTreeSet<String> {
        let schema = SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<T>();
        named(schema.as_value())
    }

    fn named(schema: &Value) -> BTreeSet<String> {
        schema["properties"].as_object().unwrap_or_else(|| panic!("{schema:#}")).keys().cloned().collect()
    }

    #[track_caller]
    fn same(found: &BTreeSet<String>, expected: &[&[&str]]) {
        let expected: BTreeSet<String> = expected.iter().copied().flatten().map(|key| (*key).to_owned()).collect();
        assert_eq!(*found, expected);
    }

    #[test]
    fn schema_and_reader_have_the_same_keys() {
        same(&properties::<File>(), &[keys::FILE]);
        same(&properties::<HostFile>(), &[&["$schema", "inputs", "mcpServers"]]);
        same(&properties::<ToolMeta>(), &[keys::TOOL_META]);
        same(&properties::<StdioParameters>(), &[keys::STDIO]);
        same(&properties::<StreamableParameters>(), &[keys::STREAMABLE]);
        same(&properties::<OAuthParameters>(), &[keys::OAUTH]);
        same(&properties::<SseParameters>(), &[keys::SSE]);
        same(&properties::<InFull<StdioKind, StdioParameters>>(), &[keys::SERVER, keys::RULES, keys::PARAMETERS]);
        same(&properties::<Flat<StdioKind, StdioParameters>>(), &[keys::SERVER, keys::RULES, keys::STDIO]);
        same(
            &properties::<Flat<StreamableKind, StreamableParameters>>(),
            &[keys::SERVER, keys::RULES, keys::STREAMABLE],
        );
        same(&properties::<FlatSse>(), &[keys::SERVER, keys::RULES, keys::SSE]);
        same(
            &properties::<Open<SseKind, SseParameters>>(),
            &[&["type"], keys::RULES, keys::HOST_RULES, keys::ALLOW_LISTS, keys::SSE],
        );
        let inputs = SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<Input>();
        let kinds = inputs.as_value()["oneOf"].as_array().unwrap();
        assert_eq!(kinds.len(), 3);
        for (kind, expected) in kinds.iter().zip([keys::PROMPT_STRING, keys::PICK_STRING, keys::COMMAND]) {
            same(&named(kind), &[expected]);
        }
    }

    /// What a validator and the reader think of a text; they have to agree.
    #[track_caller]
    fn check(text: &str, expected: bool) {
        let mut compiler = Compiler::new();
        compiler.add_resource("a2c.json", schema()).unwrap();
        let mut schemas = Schemas::new();
        let index = compiler.compile("a2c.json", &mut schemas).unwrap_or_else(|error| panic!("{error:#}"));
        let value = serde_json::from_str(text).unwrap();
        let validated = schemas.validate(&value, index);
        assert_eq!(validated.is_ok(), expected, "the schema, about {text}: {:?}", validated.map_err(|e| e.to_string()));
        let read = ComputerConfig::parse(text);
        assert_eq!(read.is_ok(), expected, "the reader, about {text}: {:?}", read.map_err(|e| e.to_string()));
    }

    #[test]
    fn good_files_are_good_for_both() {
        for text in [
            r#"{"servers": {}}"#,
            r#"{"$schema": "x", "servers": {}, "inputs": []}"#,
            r#"{"servers": {"a": {"name": "a", "type": "stdio", "server_parameters": {"command": "x", "env": null, "cwd": null}}}}"#,
            r#"{"servers": {"a": {"type": "http", "server_parameters": {"url": "http://h", "timeout": "PT30S"}, "disabled": true}}}"#,
            r#"{"servers": {"a": {"type": "sse", "server_parameters": {"url": "${input:u}", "timeout": 5}}}}"#,
            r#"{"servers": {"a": {"command": "x", "args": ["1"], "env": {"A": "b"}, "forbidden_tools": ["t"]}}}"#,
            r#"{"servers": {"a": {"url": "http://h", "headers": {"A": "b"}}, "b": {"type": "sse", "url": "http://h"}}}"#,
            r#"{"servers": {"a": {"command": "x", "tool_meta": {"t": {"alias": "y", "tags": [], "ret_object_mapper": {}}},
                                  "default_tool_meta": {"auto_apply": null}}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "autoApprove": []}}, "theme": "dark"}"#,
            r#"{"mcpServers": {"a": {"url": "http://h", "type": "streamable-http"}}, "inputs": []}"#,
            r#"{"mcpServers": {"a": {"command": "x", "url": null, "enabled": false, "excludeTools": ["t"], "tools": ["*"]}}}"#,
            r#"{"mcpServers": {"a": {"type": "stdio", "server_parameters": {"command": "x"}}}}"#,
            r#"{"servers": {}, "inputs": [{"type": "promptString", "id": "k", "description": "K", "password": true},
                {"type": "pickString", "id": "p", "options": ["a"]}, {"type": "command", "id": "c", "command": "x", "args": ["1"]}]}"#,
        ] {
            check(text, true);
        }
    }

    #[test]
    fn bad_files_are_bad_for_both() {
        for text in [
            "{}",
            "[]",
            r#"{"servers": {}, "mcpServers": {}}"#,
            r#"{"servers": {}, "input": []}"#,
            r#"{"servers": {"": {"command": "x"}}}"#,
            r#"{"servers": {"a": {}}}"#,
            r#"{"servers": {"a": {"command": ""}}}"#,
            r#"{"servers": {"a": {"command": "x", "forbiden_tools": []}}}"#,
            r#"{"servers": {"a": {"type": "sse", "command": "x"}}}"#,
            r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x", "arg": []}}}}"#,
            r#"{"servers": {"a": {"server_parameters": {"command": "x"}}}}"#,
            r#"{"servers": {"a": {"type": "pipe", "server_parameters": {"command": "x"}}}}"#,
            r#"{"servers": {"a": {"command": "x", "env": {"P": 80}}}}"#,
            r#"{"servers": {"a": {"command": "x", "encoding": "latin-1"}}}"#,
            r#"{"servers": {"a": {"command": "x", "disabled": "no"}}}"#,
            r#"{"servers": {"a": {"command": "x", "tool_meta": {"t": {"autoapply": true}}}}}"#,
            r#"{"servers": {"a": {"command": "x", "tool_meta": {"t": {"alias": "no good"}}}}}"#,
            r#"{"servers": {"a": {"url": "ftp://h"}}}"#,
            r#"{"servers": {"a": {"url": "http://h", "timeout": "soon"}}}"#,
            r#"{"servers": {"a": {"url": "http://h", "timeout": 0}}}"#,
            r#"{"mcpServers": {"a": {"args": []}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "url": "http://h"}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "enabled": "no"}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "disabledTools": "t"}}}"#,
            r#"{"mcpServers": {"a": {"url": "http://h", "includeTools": ["t"]}}}"#,
            r#"{"servers": {"a": {"command": "x", "default_tool_meta": {"alias": "y"}}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "tool_meta": {"t": {"aliass": "x"}}}}}"#,
            r#"{"servers": {}, "inputs": [{"type": "promptString"}]}"#,
            r#"{"servers": {}, "inputs": [{"type": "promptString", "id": "k", "pasword": true}]}"#,
            r#"{"servers": {}, "inputs": [{"type": "pickString", "id": "k", "options": []}]}"#,
        ] {
            check(text, false);
        }
    }

    #[test]
    fn everything_is_described() {
        let schema = schema();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        let check = |properties: &Value, of: &str| {
            for (key, property) in properties.as_object().into_iter().flatten() {
                let is_told = property["description"].is_string() || property["const"].is_string();
                assert!(is_told, "{of}.{key} has no description: {property}");
            }
        };
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            check(&definition["properties"], name);
            for kind in definition["oneOf"].as_array().into_iter().flatten() {
                check(&kind["properties"], name);
            }
        }
    }
}
