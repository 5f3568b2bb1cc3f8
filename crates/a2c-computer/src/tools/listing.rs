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
    let mut uses: HashMap<String, usize> = HashMap::new();
    for tool in &listed {
        *uses.entry(tool.name.clone()).or_default() += 1;
    }
    // Names that only one tool wants are its own; the others make way for them.
    let mut taken: HashSet<String> = uses.iter().filter(|(_, n)| **n == 1).map(|(name, _)| name.clone()).collect();
    for tool in listed.iter_mut().filter(|tool| uses[&tool.name] > 1) {
        tool.name = free_name(&tool.server, &tool.name, &taken);
        taken.insert(tool.name.clone());
    }
    listed
}

/// `server_tool` in the legal alphabet, at most [`MAX_NAME`] long, with a number where that is taken too.
fn free_name(server: &str, name: &str, taken: &HashSet<String>) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefixed: String = format!("{server}_{name}").chars().map(legal).collect();
    (1..)
        .map(|n| match n {
            1 => prefixed.chars().take(MAX_NAME).collect(),
            n => {
                let suffix = format!("_{n}");
                prefixed.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix
            }
        })
        .find(|candidate: &String| !taken.contains(candidate))
        .unwrap_or(prefixed)
}

impl Listed {
    /// The tool as an Agent sees it.
    pub(crate) fn to_smcp(&self) -> SmcpTool {
        let mut meta: Map<String, Value> = Map::new();
        for (key, value) in self.tool.meta.iter().flat_map(|own| own.0.iter()) {
            if let Some(flat) = flat_meta(value.clone()) {
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
    fn no_two_tools_ever_have_the_same_name() {
        let long = "x".repeat(70);
        let a = server("a", &json!({"tool_meta": {"one": {"alias": "get"}, "two": {"alias": "get"}}}));
        let (b, c) = (server("b", &json!({})), server("c", &json!({"tool_meta": {"get": {"alias": "b_get"}}})));
        let offers = [
            Offer { config: &a, tools: tools(&["one", "two", &long]) },
            Offer { config: &b, tools: tools(&["get", &long]) },
            Offer { config: &c, tools: tools(&["get"]) },
        ];
        let mut names = names(&offers);
        assert_eq!(names[..2], ["a_get", "a_get_2"]);
        assert_eq!(names[3..4], ["b_get_2"], "b_get is the alias of another tool");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 6);
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
