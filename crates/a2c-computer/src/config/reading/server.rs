//! One server: what the owner says about it, and how it is reached.

use std::collections::BTreeMap;

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::ToolMeta;
use a2c_vrl::Program;

use super::aliases::Aliases;
use super::fields::{Fields, Item, Problems};
use super::parameters::{self, Kind};
use super::{Shape, host_rules, spelling};
use crate::config::keys;

/// Reads a server under its key.
pub(super) fn read(
    key: &str,
    item: &Item<'_>,
    shape: Shape,
    aliases: &mut Aliases,
    problems: &mut Problems<'_>,
) -> Option<McpServerConfig> {
    let fields = item.object(problems)?;
    let transport = if fields.has("server_parameters") {
        fields.only(&[keys::SERVER, keys::RULES, keys::PARAMETERS], problems);
        in_full(&fields, problems)
    } else {
        flat(&fields, shape, problems)
    };
    // Other hosts show a name to people; ours is the key.
    if let (Shape::Ours, Some(name)) = (shape, fields.get("name"))
        && let Some(text) = name.text(problems)
        && !text.is_empty()
        && text != key
    {
        name.wrong(format!("is `{text}`: leave it out or write the key, `{key}`"), problems);
    }
    let server = McpServerConfig {
        name: key.to_owned(),
        disabled: fields.get("disabled").and_then(|flag| flag.flag(problems)).unwrap_or_default(),
        forbidden_tools: fields.get("forbidden_tools").and_then(|list| list.texts(problems)).unwrap_or_default(),
        tool_meta: fields.get("tool_meta").map(|tools| each_tool(&tools, aliases, problems)).unwrap_or_default(),
        default_tool_meta: fields.get("default_tool_meta").and_then(|meta| tool_meta(&meta, None, problems)),
        vrl: fields.get("vrl").and_then(|program| vrl(&program, problems)),
        transport: transport?,
    };
    let is_flat = !fields.has("server_parameters");
    Some(if shape == Shape::Hosts && is_flat { host_rules::honoured(server, &fields, problems) } else { server })
}

/// `type` and `server_parameters`.
fn in_full(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<a2c_protocol::config::McpTransport> {
    let inner = fields.need("server_parameters", "write {…}", problems)?.object(problems)?;
    let kind = match fields.get("type") {
        Some(kind) => Kind::named(&kind, Shape::Ours, problems),
        None => {
            let guessed = Kind::guessed(&inner);
            let remedy =
                guessed.map_or("write `stdio`, `streamable` or `sse`".into(), |kind| format!("write `{kind}`"));
            fields.need("type", &remedy, problems);
            guessed
        }
    }?;
    inner.only(&[kind.keys()], problems);
    parameters::read(kind, &inner, problems)
}

/// The parameters beside the other keys, as other hosts write them.
fn flat(fields: &Fields<'_>, shape: Shape, problems: &mut Problems<'_>) -> Option<a2c_protocol::config::McpTransport> {
    let Some(guessed) = Kind::guessed(fields) else {
        fields.get("type").and_then(|kind| Kind::named(&kind, shape, problems));
        problems.tell(fields.at, &fields.path, |_| neither_nor(fields, shape));
        return None;
    };
    if let (Some(_), Some(url)) = (fields.get("command"), fields.get("url")) {
        url.wrong("stands beside `command`: a server is either run or called, so keep one of them", problems);
        return None;
    }
    let kind = match fields.get("type") {
        Some(item) => match Kind::named(&item, shape, problems)? {
            kind if kind.is_stdio() == guessed.is_stdio() => kind,
            kind => {
                let (has, wants) = if guessed.is_stdio() { ("command", "url") } else { ("url", "command") };
                item.wrong(format!("`{kind}` needs `{wants}`, but there is `{has}`: write `{guessed}`"), problems);
                guessed
            }
        },
        None => guessed,
    };
    match shape {
        Shape::Ours => fields.only(&[keys::SERVER, keys::RULES, kind.keys()], problems),
        Shape::Hosts => {
            for (key, at, item) in fields.each() {
                if let Some(meant) = meant_in_host_file(key, fields) {
                    problems.tell(at, &item.path, |_| format!("unknown key: did you mean `{meant}`?"));
                }
            }
        }
    }
    parameters::read(kind, fields, problems)
}

fn neither_nor(fields: &Fields<'_>, shape: Shape) -> String {
    match ["serverUrl", "httpUrl"].iter().find(|key| fields.has(key)) {
        Some(key) => format!("has `{key}`: write `url`, or let `a2c computer import FILE` convert the file"),
        None if shape == Shape::Ours => {
            let found = fields.each().find_map(|(key, ..)| {
                Some((key, spelling::nearest(key, ["server_parameters", "command", "url"].into_iter())?))
            });
            let meant = found.map(|(key, meant)| format!(" (`{key}`: did you mean `{meant}`?)")).unwrap_or_default();
            format!("needs `type` and `server_parameters`, or else `command` or `url`{meant}")
        }
        None => {
            let found = fields.each().find_map(|(key, ..)| Some((key, spelling::slip_of(key, &["command", "url"])?)));
            let meant = found.map(|(key, meant)| format!(" (`{key}`: did you mean `{meant}`?)")).unwrap_or_default();
            format!("needs either `command` or `url`{meant}")
        }
    }
}

/// Of which key of ours a key in the file of another host is a slip. A host may well have a key that is like one of the
/// parameters, so that one counts only where the parameter itself is not there.
fn meant_in_host_file(key: &str, fields: &Fields<'_>) -> Option<&'static str> {
    if keys::RULES.contains(&key) || keys::COMMON.contains(&key) {
        return None;
    }
    let parameter = if key == "environment" { Some("env") } else { spelling::slip_of(key, keys::COMMON) };
    spelling::slip_of(key, keys::RULES).or(parameter.filter(|parameter| !fields.has(parameter)))
}

fn each_tool(tools: &Item<'_>, aliases: &mut Aliases, problems: &mut Problems<'_>) -> BTreeMap<String, ToolMeta> {
    let Some(fields) = tools.object(problems) else { return BTreeMap::new() };
    let read = |(tool, _, item): (&str, usize, Item<'_>)| {
        Some((tool.to_owned(), tool_meta(&item, Some(&mut *aliases), problems)?))
    };
    fields.each().filter_map(read).collect()
}

/// `aliases` is for a single tool: where it is none, an alias is a problem.
fn tool_meta(item: &Item<'_>, aliases: Option<&mut Aliases>, problems: &mut Problems<'_>) -> Option<ToolMeta> {
    let fields = item.object(problems)?;
    fields.only(&[keys::TOOL_META], problems);
    let alias = fields.get("alias").and_then(|item| {
        let alias = item.text(problems)?;
        match aliases {
            Some(aliases) => aliases.give(&item, &alias, problems),
            None => item.wrong("a name is for one tool: write it into `tool_meta`", problems),
        }
        Some(alias)
    });
    Some(ToolMeta {
        auto_apply: fields.get("auto_apply").and_then(|flag| flag.flag(problems)),
        alias,
        tags: fields.get("tags").and_then(|tags| tags.texts(problems)),
        ret_object_mapper: fields.get("ret_object_mapper").map(|mapper| mapper.value.to_value()),
    })
}

fn vrl(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<String> {
    let source = item.text(problems)?;
    let compiled = Program::compile(&source).map_err(|error| item.wrong(error.to_string(), problems));
    compiled.ok().map(|_| source)
}
