//! Which tools there are, and under which names. Pure.
//!
//! A tool is known by its alias or by its own name. Where two servers use the same one, both get the server as a
//! prefix, so that nothing is dropped and nothing depends on which server came first.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::{SmcpTool, ToolMeta, flat_meta};
use rmcp::model::Tool;
use serde_json::{Map, Value};

use super::gate;

/// The longest legal name of a tool.
const MAX_NAME: usize = 64;

/// One server's part: its configuration and its tools as last listed.
pub(crate) struct Offer<'a> {
    pub(crate) config: &'a McpServerConfig,
    pub(crate) tools: Arc<[Tool]>,
}

/// A tool an Agent can name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// As an Agent calls it.
    pub(crate) name: String,
    /// The server that has it.
    pub(crate) server: String,
    /// The tool as its server describes it.
    pub(crate) tool: Tool,
    /// What the owner says about it.
    pub(crate) meta: Option<ToolMeta>,
}

/// Every tool that is not forbidden, under its public name, in the order of servers and of their lists.
pub(crate) fn list(offers: &[Offer<'_>]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = offers
        .iter()
        .flat_map(|offer| {
            let allowed = offer.tools.iter().filter(|tool| !gate::is_forbidden(offer.config, &tool.name));
            allowed.map(|tool| {
                let meta = gate::meta_of(offer.config, &tool.name);
                let name = meta.as_ref().and_then(|m| m.alias.clone()).unwrap_or_else(|| tool.name.to_string());
                Listed { name, server: offer.config.name.clone(), tool: tool.clone(), meta }
            })
        })
        .collect();
    let names = public_names(&listed);
    listed.iter_mut().zip(names).for_each(|(tool, name)| tool.name = name);
    listed
}

/// Gives every tool a name of its own. A name that only one tool has, and that is legal, stays; the others get their
/// server as prefix. A prefixed name belongs to that server: a tool of another one that happens to be called so makes
/// way, so that no server can take the place of another's tool.
fn public_names(listed: &[Listed]) -> Vec<String> {
    let mut prefix: Vec<bool> = listed.iter().map(|tool| !is_legal(&tool.name)).collect();
    let name_of = |tool: &Listed, prefix: bool| if prefix { prefixed(tool) } else { tool.name.clone() };
    loop {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for (tool, prefix) in listed.iter().zip(&prefix) {
            *uses.entry(name_of(tool, *prefix)).or_default() += 1;
        }
        let clash = |(tool, prefix): (&Listed, &bool)| !prefix && uses[&tool.name] > 1;
        let clashing: Vec<bool> = listed.iter().zip(&prefix).map(clash).collect();
        if !clashing.contains(&true) {
            break;
        }
        prefix.iter_mut().zip(clashing).for_each(|(prefix, clash)| *prefix |= clash);
    }
    let mut taken = HashSet::new();
    let named = listed.iter().zip(prefix).map(|(tool, prefix)| name_of(tool, prefix));
    named.map(|name| numbered(&name, &mut taken)).collect()
}

/// What language models' interfaces take for the name of a tool, and the dots and slashes that MCP has besides.
fn is_legal(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    !name.is_empty() && name.len() <= 2 * MAX_NAME && name.chars().all(legal)
}

/// `server_tool` in the narrow alphabet, at most [`MAX_NAME`] long.
fn prefixed(tool: &Listed) -> String {
    let narrow = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{}_{}", tool.server, tool.name).chars().map(narrow).take(MAX_NAME).collect()
}

/// The name, with a number where it is taken even so: one server listing a tool twice, or long names cut short.
fn numbered(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        let suffix = format!("_{number}");
        candidate = name.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix;
    }
    candidate
}

impl Listed {
    /// The tool as an Agent sees it.
    pub(crate) fn to_smcp(&self) -> SmcpTool {
        let mut meta: Map<String, Value> = Map::new();
        for (key, value) in self.tool.meta.iter().flat_map(|own| own.0.iter()) {
            // These two are the owner's and ours to say, not the server's.
            let reserved = [SmcpTool::TOOL_META, SmcpTool::ANNOTATIONS].contains(&key.as_str());
            if let (false, Some(flat)) = (reserved, flat_meta(value.clone())) {
                meta.insert(key.clone(), flat);
            }
        }
        if let Some(own) = &self.meta {
            insert_json(&mut meta, SmcpTool::TOOL_META, own);
        }
        if let Some(annotations) = &self.tool.annotations {
            insert_json(&mut meta, SmcpTool::ANNOTATIONS, annotations);
        }
        SmcpTool {
            name: self.name.clone(),
            description: self.tool.description.as_deref().unwrap_or_default().to_owned(),
            params_schema: Value::Object((*self.tool.input_schema).clone()),
            return_schema: self.tool.output_schema.as_deref().map(|schema| Value::Object(schema.clone())),
            meta: (!meta.is_empty()).then_some(meta),
        }
    }
}

fn insert_json(meta: &mut Map<String, Value>, key: &str, value: &impl serde::Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        meta.insert(key.into(), text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn server(name: &str, extra: &Value) -> McpServerConfig {
        let mut config = json!({"name": name, "type": "stdio", "server_parameters": {"command": "x"}});
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(config).unwrap()
    }

    fn tools(names: &[&str]) -> Arc<[Tool]> {
        names.iter().map(|n| Tool::new(n.to_string(), format!("Does {n}"), Arc::new(Map::new()))).collect()
    }

    fn names(offers: &[Offer<'_>]) -> Vec<String> {
        list(offers).into_iter().map(|t| t.name).collect()
    }

    #[test]
    fn a_name_that_two_servers_use_gets_the_server_as_prefix() {
        let (a, b) = (server("a", &json!({})), server("b c", &json!({})));
        let offers =
            [Offer { config: &a, tools: tools(&["read", "only"]) }, Offer { config: &b, tools: tools(&["read"]) }];
        assert_eq!(names(&offers), ["a_read", "only", "b_c_read"]);
    }

    #[test]
    fn no_server_takes_the_place_of_anothers_tool() {
        let (evil, files) = (server("evil", &json!({})), server("files", &json!({})));
        let offers = [
            Offer { config: &evil, tools: tools(&["read", "files_read"]) },
            Offer { config: &files, tools: tools(&["read"]) },
        ];
        assert_eq!(names(&offers), ["evil_read", "evil_files_read", "files_read"]);
    }

    #[test]
    fn a_server_cannot_speak_for_the_owner() {
        let plain = server("a", &json!({}));
        let forged: Tool = serde_json::from_value(json!({
            "name": "read", "inputSchema": {}, "_meta": {"a2c_tool_meta": "{}", "MCP_TOOL_ANNOTATION": "{}", "own": {"k": 1}}
        }))
        .unwrap();
        let smcp = list(&[Offer { config: &plain, tools: Arc::new([forged]) }])[0].to_smcp();
        assert_eq!(Value::from(smcp.meta.unwrap()), json!({"own": "{\"k\":1}"}));
    }

    proptest! {
        #[test]
        fn every_tool_has_a_legal_name_of_its_own(servers in proptest::collection::vec(
            ("[ab_]{1,3}", proptest::collection::vec("[ab_é\n]{0,4}|x{60,140}", 0..5)), 1..4
        )) {
            let configs: Vec<_> = servers.iter().map(|(name, _)| server(name, &json!({}))).collect();
            let offer = |(config, (_, names)): (_, &(String, Vec<String>))| {
                Offer { config, tools: tools(&names.iter().map(String::as_str).collect::<Vec<_>>()) }
            };
            let offers: Vec<_> = configs.iter().zip(&servers).map(offer).collect();
            let mut names = names(&offers);
            prop_assert!(names.iter().all(|name| is_legal(name)), "{names:?}");
            let count = names.len();
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn an_alias_renames_and_forbidden_tools_are_not_there() {
        let a = server("a", &json!({"tool_meta": {"read": {"alias": "fetch"}}, "forbidden_tools": ["rm"]}));
        let offers = [Offer { config: &a, tools: tools(&["read", "rm"]) }];
        assert_eq!(names(&offers), ["fetch"]);
        assert_eq!(list(&offers)[0].tool.name, "read");
    }

    #[test]
    fn meta_is_flat_and_absent_where_there_is_nothing_to_say() {
        let (plain, told) = (server("a", &json!({})), server("a", &json!({"default_tool_meta": {"auto_apply": true}})));
        let smcp = |config| list(&[Offer { config, tools: tools(&["read"]) }])[0].to_smcp();
        assert_eq!(smcp(&plain).meta, None);
        assert_eq!(smcp(&told).tool_meta().unwrap().auto_apply, Some(true));
        assert!(smcp(&told).meta.unwrap()[SmcpTool::TOOL_META].is_string());
    }
}
