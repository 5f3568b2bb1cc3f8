//! One server: what the owner says about it, and how it is reached.

use std::collections::BTreeMap;

use a2c_protocol::config::{McpServerConfig, McpTransport};
use a2c_protocol::tool::ToolMeta;
use a2c_settings::{Field, Key, Object, Report, spelling};
use a2c_vrl::Program;

use super::aliases::Aliases;
use super::transport::{self, TransportKind};
use super::{Shape, host_rules};
use crate::config::keys;

/// Reads a server under its key.
pub(super) fn read(
    key: &str,
    item: &Field<'_>,
    shape: Shape,
    aliases: &mut Aliases,
    report: &mut Report<'_>,
) -> Option<McpServerConfig> {
    let fields = item.object(report)?;
    let transport = if fields.has("server_parameters") {
        fields.only(&[keys::SERVER, keys::RULES, keys::PARAMETERS], report);
        in_full(&fields, report)
    } else {
        flat(&fields, shape, report)
    };
    // Other hosts have a display name; ours is the key.
    if let (Shape::Ours, Some(name)) = (shape, fields.get("name"))
        && let Some(text) = name.string(report)
        && !text.is_empty()
        && text != key
    {
        name.problem(format!("is `{text}`: leave it out or write the key, `{key}`"), report);
    }
    let server = McpServerConfig {
        name: key.to_owned(),
        disabled: fields.get("disabled").and_then(|flag| flag.boolean(report)).unwrap_or_default(),
        forbidden_tools: fields.get("forbidden_tools").and_then(|list| list.strings(report)).unwrap_or_default(),
        tool_meta: fields.get("tool_meta").map(|tools| each_tool(&tools, aliases, report)).unwrap_or_default(),
        default_tool_meta: fields.get("default_tool_meta").and_then(|meta| tool_meta(&meta, None, report)),
        vrl: fields.get("vrl").and_then(|program| vrl(&program, report)),
        transport: transport?,
    };
    let is_flat = !fields.has("server_parameters");
    Some(if shape == Shape::Hosts && is_flat { host_rules::apply(server, &fields, report) } else { server })
}

/// `type` and `server_parameters`.
fn in_full(fields: &Object<'_>, report: &mut Report<'_>) -> Option<McpTransport> {
    let inner = fields.require("server_parameters", "write {…}", report)?.object(report)?;
    let kind = match fields.get("type") {
        Some(kind) => TransportKind::named(&kind, Shape::Ours, report),
        None => {
            let guessed = TransportKind::guessed(&inner);
            let remedy =
                guessed.map_or("write `stdio`, `streamable` or `sse`".into(), |kind| format!("write `{kind}`"));
            fields.require("type", &remedy, report);
            guessed
        }
    }?;
    inner.only(&[kind.keys()], report);
    transport::read(kind, &inner, report)
}

/// The parameters beside the other keys, as other hosts write them.
fn flat(fields: &Object<'_>, shape: Shape, report: &mut Report<'_>) -> Option<McpTransport> {
    let Some(guessed) = TransportKind::guessed(fields) else {
        fields.get("type").and_then(|kind| TransportKind::named(&kind, shape, report));
        report.problem(fields.offset, &fields.path, neither_nor(fields, shape));
        return None;
    };
    if let (Some(_), Some(url)) = (fields.get("command"), fields.get("url")) {
        url.problem("stands beside `command`: a server is either run or called, so keep one of them", report);
        return None;
    }
    let kind = match fields.get("type") {
        Some(item) => match TransportKind::named(&item, shape, report)? {
            kind if kind.is_stdio() == guessed.is_stdio() => kind,
            kind => {
                let (has, wants) = if guessed.is_stdio() { ("command", "url") } else { ("url", "command") };
                item.problem(format!("`{kind}` needs `{wants}`, but there is `{has}`: write `{guessed}`"), report);
                guessed
            }
        },
        None => guessed,
    };
    match shape {
        Shape::Ours => fields.only(&[keys::SERVER, keys::RULES, kind.keys()], report),
        Shape::Hosts => {
            for key in fields.keys() {
                if let Some(meant) = meant_in_host_file(key.name, fields) {
                    report.problem(key.offset, &key.field.path, format!("unknown key: did you mean `{meant}`?"));
                }
            }
        }
    }
    transport::read(kind, fields, report)
}

fn neither_nor(fields: &Object<'_>, shape: Shape) -> String {
    match ["serverUrl", "httpUrl"].iter().find(|key| fields.has(key)) {
        Some(key) => format!("has `{key}`: write `url`, or let `a2c computer import FILE` convert the file"),
        None if shape == Shape::Ours => {
            let found = fields.keys().find_map(|key| {
                Some((key.name, spelling::nearest(key.name, ["server_parameters", "command", "url"])?))
            });
            let meant = found.map(|(key, meant)| format!(" (`{key}`: did you mean `{meant}`?)")).unwrap_or_default();
            format!("needs `type` and `server_parameters`, or else `command` or `url`{meant}")
        }
        None => {
            let found = fields
                .keys()
                .find_map(|key| Some((key.name, spelling::misspelling_of(key.name, &["command", "url"])?)));
            let meant = found.map(|(key, meant)| format!(" (`{key}`: did you mean `{meant}`?)")).unwrap_or_default();
            format!("needs either `command` or `url`{meant}")
        }
    }
}

/// The key of ours that a key in the file of another host misspells. A host may have a key that is like one of the
/// parameters: such a key counts only where the parameter itself is missing.
fn meant_in_host_file(key: &str, fields: &Object<'_>) -> Option<&'static str> {
    if keys::RULES.contains(&key) || keys::COMMON.contains(&key) {
        return None;
    }
    let parameter = if key == "environment" { Some("env") } else { spelling::misspelling_of(key, keys::COMMON) };
    spelling::misspelling_of(key, keys::RULES).or(parameter.filter(|parameter| !fields.has(parameter)))
}

fn each_tool(tools: &Field<'_>, aliases: &mut Aliases, report: &mut Report<'_>) -> BTreeMap<String, ToolMeta> {
    let Some(fields) = tools.object(report) else { return BTreeMap::new() };
    let read = |key: Key<'_>| Some((key.name.to_owned(), tool_meta(&key.field, Some(&mut *aliases), report)?));
    fields.keys().filter_map(read).collect()
}

/// Without `aliases` the metadata is for all tools, and an alias is a problem.
fn tool_meta(item: &Field<'_>, aliases: Option<&mut Aliases>, report: &mut Report<'_>) -> Option<ToolMeta> {
    let fields = item.object(report)?;
    fields.only(&[keys::TOOL_META], report);
    let alias = fields.get("alias").and_then(|item| {
        let alias = item.string(report)?;
        match aliases {
            Some(aliases) => aliases.add(&item, &alias, report),
            None => item.problem("an alias is for one tool: write it into `tool_meta`", report),
        }
        Some(alias)
    });
    Some(ToolMeta {
        auto_apply: fields.get("auto_apply").and_then(|flag| flag.boolean(report)),
        alias,
        tags: fields.get("tags").and_then(|tags| tags.strings(report)),
        ret_object_mapper: fields.get("ret_object_mapper").map(|mapper| mapper.value.to_json()),
    })
}

fn vrl(item: &Field<'_>, report: &mut Report<'_>) -> Option<String> {
    let source = item.string(report)?;
    let compiled = Program::compile(&source).map_err(|error| item.problem(error.to_string(), report));
    compiled.ok().map(|_| source)
}
