//! Every tool of every server at one moment, under its public name. Pure; made anew when something changed.
//!
//! What an Agent is shown is written as JSON when the toolbox is made: showing it costs nothing, however many there are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::{SmcpTool, ToolMeta, flat_meta};
use rmcp::model::Tool;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::gate::{self, Hidden};
use super::names::{Unnamed, public_names};
use super::pins::{self, Standing, ToolChanges};
use crate::servers::paging::written_size;

/// Meta: the name a tool has on its server, where it had to be given another one.
const RENAMED_FROM: &str = "a2c_renamed_from";
/// Meta: the server of a tool that had to be given another name.
const SERVER: &str = "a2c_server";
/// Meta: the tool is not what it was when the owner last agreed to it.
const CHANGED: &str = "a2c_changed";

/// How large the definition of one tool, and of all that are shown, may be.
const MAX_TOOL: usize = 256 << 10;
const MAX_SHOWN: usize = 12 << 20;

/// One server's part.
pub(crate) struct Offer {
    pub(crate) config: Arc<McpServerConfig>,
    /// Its tools as last listed.
    pub(crate) tools: Arc<[Tool]>,
    /// Whether the server is to run.
    pub(crate) is_wanted: bool,
    /// How each of them stands with what the owner agreed to.
    pub(crate) standings: Vec<Standing>,
}

/// A tool with its public name.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// As an Agent calls it.
    pub(crate) name: String,
    /// The server that has it.
    pub(crate) config: Arc<McpServerConfig>,
    /// The list it is in, and where.
    tools: Arc<[Tool]>,
    index: usize,
    /// What the owner says about it.
    pub(crate) meta: Option<ToolMeta>,
    /// Why it is not shown, where it is not.
    pub(crate) hidden: Option<Hidden>,
    /// Whether its definition is not the one the owner agreed to.
    pub(crate) is_changed: bool,
}

/// All of them.
pub(crate) struct Toolbox {
    tools: Vec<Listed>,
    by_name: HashMap<String, usize>,
    shown: Box<RawValue>,
}

impl Toolbox {
    /// Puts together what all servers offer.
    pub(crate) fn new(offers: &[Offer], policy: ToolChanges) -> Self {
        let mut tools = Vec::new();
        for offer in offers {
            for (index, (tool, &standing)) in offer.tools.iter().zip(&offer.standings).enumerate() {
                let meta = gate::meta_of(&offer.config, &tool.name);
                let is_changed = standing == Standing::Changed;
                let is_blocked = pins::is_blocked(policy, standing);
                let hidden = gate::judge(&offer.config, &tool.name, offer.is_wanted, is_blocked);
                let (config, list) = (offer.config.clone(), offer.tools.clone());
                tools.push(Listed { name: String::new(), config, tools: list, index, meta, hidden, is_changed });
            }
        }
        name_all(&mut tools);
        hold_back_the_large(&mut tools);
        // A name that is shown wins over the same one of a tool that is not.
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            let entry = by_name.entry(tool.name.clone()).or_insert(index);
            if tool.hidden.is_none() {
                *entry = index;
            }
        }
        let shown: Vec<SmcpTool> = tools.iter().filter(|t| t.hidden.is_none()).map(Listed::to_smcp).collect();
        let shown =
            serde_json::value::to_raw_value(&shown).expect("tools that were read as JSON can be written as JSON");
        Self { tools, by_name, shown }
    }

    /// Everything an Agent may see, as a JSON array.
    pub(crate) fn shown(&self) -> &RawValue {
        &self.shown
    }

    /// The tool of a public name, hidden ones included.
    pub(crate) fn find(&self, name: &str) -> Option<&Listed> {
        self.by_name.get(name).map(|&index| &self.tools[index])
    }

    /// All tools, hidden ones included, in the order of servers and of their lists.
    pub(crate) fn all(&self) -> &[Listed] {
        &self.tools
    }
}

/// Nobody's tools make the whole list too large to be sent: a tool is shown up to a size, and where all of them together
/// are too much, those of the server with the most are not.
fn hold_back_the_large(tools: &mut [Listed]) {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for tool in tools.iter_mut().filter(|tool| tool.hidden.is_none()) {
        let size = written_size(tool.tool());
        if size > MAX_TOOL {
            tool.hidden = Some(Hidden::TooLarge);
        } else {
            *sizes.entry(tool.server().to_owned()).or_default() += size;
        }
    }
    while sizes.values().sum::<usize>() > MAX_SHOWN {
        let Some(largest) = sizes.iter().max_by_key(|(_, size)| **size).map(|(server, _)| server.clone()) else {
            break;
        };
        sizes.remove(&largest);
        let of_it = tools.iter_mut().filter(|tool| tool.server() == largest && tool.hidden.is_none());
        of_it.for_each(|tool| tool.hidden = Some(Hidden::TooLarge));
    }
}

/// Names do not depend on which servers happen to run, nor on what is held back. Only what an owner forbade or switched
/// off takes no part: nobody can be confused by it.
fn name_all(tools: &mut [Listed]) {
    let takes_part = |tool: &Listed| !matches!(tool.hidden, Some(Hidden::Forbidden | Hidden::Off));
    let wished: Vec<String> = tools.iter().map(Listed::wished).collect();
    let of = |(tool, wished): (&Listed, &String)| (tool.config.clone(), wished.clone(), tool.alias().is_some());
    let part: Vec<_> = tools.iter().zip(&wished).filter(|(tool, _)| takes_part(tool)).map(of).collect();
    let unnamed: Vec<_> = part
        .iter()
        .map(|(config, wished, is_alias)| Unnamed { server: &config.name, wished, is_alias: *is_alias })
        .collect();
    let mut names = public_names(&unnamed).into_iter();
    for (tool, wished) in tools.iter_mut().zip(wished) {
        let named = if takes_part(tool) { names.next() } else { None };
        tool.name = named.unwrap_or(wished);
    }
}

impl Listed {
    /// The tool as its server describes it.
    pub(crate) fn tool(&self) -> &Tool {
        &self.tools[self.index]
    }

    /// Its server's name.
    pub(crate) fn server(&self) -> &str {
        &self.config.name
    }

    /// Whether it could not be given the name that it wants.
    pub(crate) fn is_renamed(&self) -> bool {
        self.name != self.wished()
    }

    fn wished(&self) -> String {
        self.alias().map_or_else(|| self.tool().name.to_string(), str::to_owned)
    }

    /// An alias names one tool: a default for all of a server's tools cannot be meant.
    fn alias(&self) -> Option<&str> {
        self.config.tool_meta.get(&*self.tool().name)?.alias.as_deref()
    }

    /// The tool as an Agent sees it.
    fn to_smcp(&self) -> SmcpTool {
        let tool = self.tool();
        let mut meta: Map<String, Value> = Map::new();
        let reserved = [SmcpTool::TOOL_META, SmcpTool::ANNOTATIONS, RENAMED_FROM, SERVER, CHANGED];
        for (key, value) in tool.meta.iter().flat_map(|own| own.0.iter()) {
            // These are the owner's and ours to say, not the server's.
            if let (false, Some(flat)) = (reserved.contains(&key.as_str()), flat_meta(value.clone())) {
                meta.insert(key.clone(), flat);
            }
        }
        if let Some(own) = &self.meta {
            insert_json(&mut meta, SmcpTool::TOOL_META, own);
        }
        if let Some(annotations) = &tool.annotations {
            insert_json(&mut meta, SmcpTool::ANNOTATIONS, annotations);
        }
        if self.is_renamed() {
            meta.insert(RENAMED_FROM.into(), tool.name.to_string().into());
            meta.insert(SERVER.into(), self.server().into());
        }
        if self.is_changed {
            meta.insert(CHANGED.into(), true.into());
        }
        SmcpTool {
            name: self.name.clone(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            params_schema: (&*tool.input_schema).into(),
            return_schema: tool.output_schema.as_deref().map(Into::into),
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

    fn offer(name: &str, extra: &Value, tools: &[&str]) -> Offer {
        let mut config = json!({"name": name, "type": "stdio", "server_parameters": {"command": "x"}});
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let tool = |n: &&str| Tool::new(n.to_string(), format!("Does {n}"), Arc::new(Map::new()));
        let (tools, standings) = (tools.iter().map(tool).collect(), vec![Standing::Trusted; tools.len()]);
        Offer { config: Arc::new(serde_json::from_value(config).unwrap()), tools, is_wanted: true, standings }
    }

    fn shown(toolbox: &Toolbox) -> Vec<SmcpTool> {
        serde_json::from_str(toolbox.shown().get()).unwrap()
    }

    fn names(offers: &[Offer]) -> Vec<String> {
        shown(&Toolbox::new(offers, ToolChanges::Quarantine)).into_iter().map(|t| t.name).collect()
    }

    #[test]
    fn a_renamed_tool_says_where_it_comes_from() {
        let offers = [offer("a", &json!({}), &["read", "only"]), offer("b", &json!({}), &["read"])];
        assert_eq!(names(&offers), ["a_read", "only", "b_read"]);
        let tools = shown(&Toolbox::new(&offers, ToolChanges::Quarantine));
        assert_eq!(json!(tools[0].meta), json!({"a2c_renamed_from": "read", "a2c_server": "a"}));
        assert_eq!(tools[1].meta, None);
    }

    #[test]
    fn an_alias_renames_and_forbidden_tools_are_not_there() {
        let rules = json!({"tool_meta": {"read": {"alias": "fetch"}}, "forbidden_tools": ["rm"]});
        let offers = [offer("a", &rules, &["read", "rm"])];
        assert_eq!(names(&offers), ["fetch"]);
        let toolbox = Toolbox::new(&offers, ToolChanges::Quarantine);
        assert_eq!(toolbox.find("fetch").unwrap().tool().name, "read");
        assert_eq!(toolbox.find("rm").unwrap().hidden, Some(Hidden::Forbidden));
        assert!(toolbox.find("read").is_none());
    }

    #[test]
    fn what_is_not_offered_takes_no_name_away() {
        let mut off = offer("off", &json!({}), &["read"]);
        off.is_wanted = false;
        let offers = [
            off,
            offer("forbids", &json!({"forbidden_tools": ["read"]}), &["read"]),
            offer("a", &json!({}), &["read"]),
        ];
        let toolbox = Toolbox::new(&offers, ToolChanges::Quarantine);
        let read = toolbox.find("read").unwrap();
        assert_eq!((read.server(), read.hidden), ("a", None));
    }

    #[test]
    fn a_changed_tool_is_marked_or_held_back() {
        let mut changed = offer("a", &json!({}), &["read", "write"]);
        changed.standings[1] = Standing::Changed;
        let offers = [changed];
        assert_eq!(names(&offers), ["read"]);
        let warned = shown(&Toolbox::new(&offers, ToolChanges::Warn));
        assert_eq!(json!(warned[1].meta), json!({"a2c_changed": true}));
    }

    #[test]
    fn large_definitions_hide_nobody_elses_tools() {
        let described = |name: &str, size: usize| Tool::new(name.to_owned(), "x".repeat(size), Arc::new(Map::new()));
        let mut one = offer("one", &json!({}), &["small"]);
        one.tools = one.tools.iter().cloned().chain([described("big", MAX_TOOL + 1)]).collect();
        one.standings.push(Standing::Trusted);
        let mut many = offer("many", &json!({}), &[]);
        many.tools = (0..60).map(|n| described(&format!("t{n}"), MAX_TOOL - 1024)).collect();
        many.standings = vec![Standing::Trusted; 60];
        let toolbox = Toolbox::new(&[one, many], ToolChanges::Warn);
        assert_eq!(shown(&toolbox).into_iter().map(|t| t.name).collect::<Vec<_>>(), ["small"]);
        assert_eq!(toolbox.find("big").unwrap().hidden, Some(Hidden::TooLarge));
        assert_eq!(toolbox.find("t7").unwrap().hidden, Some(Hidden::TooLarge));
    }

    #[test]
    fn a_server_cannot_speak_for_the_owner() {
        let mut offer = offer("a", &json!({}), &[]);
        let forged = json!({"a2c_tool_meta": "{}", "MCP_TOOL_ANNOTATION": "{}", "a2c_changed": false, "own": {"k": 1}});
        offer.standings = vec![Standing::Trusted];
        offer.tools =
            [serde_json::from_value(json!({"name": "read", "inputSchema": {}, "_meta": forged})).unwrap()].into();
        let smcp = shown(&Toolbox::new(&[offer], ToolChanges::Quarantine)).remove(0);
        assert_eq!(json!(smcp.meta), json!({"own": "{\"k\":1}"}));
    }

    #[test]
    fn meta_is_flat_and_absent_where_there_is_nothing_to_say() {
        let smcp =
            |extra: &Value| shown(&Toolbox::new(&[offer("a", extra, &["read"])], ToolChanges::Quarantine)).remove(0);
        assert_eq!(smcp(&json!({})).meta, None);
        let told = smcp(&json!({"default_tool_meta": {"auto_apply": true}}));
        assert_eq!(told.tool_meta().unwrap().auto_apply, Some(true));
        assert!(told.meta.unwrap()[SmcpTool::TOOL_META].is_string());
    }
}
