//! All tools of all servers at one moment, under their public names. Pure; a change makes a new one.
//!
//! The list that Agents get is written as JSON when the toolbox is made, so that answering costs nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use a2c_mcp::model::Tool;
use a2c_mcp::paging::written_size;
use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::{SmcpTool, ToolMeta, flat_meta};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::gate::{self, HiddenReason};
use super::names::{NameRequest, public_names};
use super::pins::{self, PinState, ToolChanges};
use crate::config::tool_rules;

/// Meta: the name a tool has on its server, if its public name differs.
const RENAMED_FROM: &str = "a2c_renamed_from";
/// Meta: the server of a tool whose public name differs.
const SERVER: &str = "a2c_server";
/// Meta: the definition has changed since the owner approved it.
const CHANGED: &str = "a2c_changed";

/// The largest definition of one tool, and of all tools together, in bytes.
const MAX_TOOL: usize = 256 << 10;
const MAX_SHOWN: usize = 12 << 20;

/// The tools of one server.
pub(crate) struct ServerTools {
    pub(crate) config: Arc<McpServerConfig>,
    /// Its tools as last listed.
    pub(crate) tools: Arc<[Tool]>,
    /// Whether the server is to run.
    pub(crate) is_wanted: bool,
    /// For each tool, whether it is as the owner approved it.
    pub(crate) pin_states: Vec<PinState>,
}

/// A tool with its public name.
#[derive(Debug, Clone)]
pub(crate) struct ListedTool {
    /// As an Agent calls it.
    pub(crate) name: String,
    /// The server that has it.
    pub(crate) config: Arc<McpServerConfig>,
    /// The list it is in, and where.
    tools: Arc<[Tool]>,
    index: usize,
    /// The owner's metadata for it.
    pub(crate) meta: Option<ToolMeta>,
    /// Why Agents do not see it; `None` if they do.
    pub(crate) hidden: Option<HiddenReason>,
    /// Whether its definition has changed since the owner approved it.
    pub(crate) is_changed: bool,
}

/// All tools.
pub(crate) struct Toolbox {
    tools: Vec<ListedTool>,
    by_name: HashMap<String, usize>,
    shown: Box<RawValue>,
}

impl Toolbox {
    /// Makes the toolbox of what all servers list.
    pub(crate) fn new(servers: &[ServerTools], policy: ToolChanges) -> Self {
        let mut tools = Vec::new();
        for server in servers {
            for (index, (tool, &pin_state)) in server.tools.iter().zip(&server.pin_states).enumerate() {
                let meta = tool_rules::meta_of(&server.config, &tool.name);
                let is_changed = pin_state == PinState::Changed;
                let is_blocked = pins::is_blocked(policy, pin_state);
                let hidden = gate::judge(&server.config, &tool.name, server.is_wanted, is_blocked);
                let (config, list) = (server.config.clone(), server.tools.clone());
                tools.push(ListedTool { name: String::new(), config, tools: list, index, meta, hidden, is_changed });
            }
        }
        assign_names(&mut tools);
        hide_oversized(&mut tools);
        // If a visible and a hidden tool have the same name, it means the visible one.
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            let entry = by_name.entry(tool.name.clone()).or_insert(index);
            if tool.hidden.is_none() {
                *entry = index;
            }
        }
        let shown: Vec<SmcpTool> = tools.iter().filter(|t| t.hidden.is_none()).map(ListedTool::to_smcp).collect();
        let shown =
            serde_json::value::to_raw_value(&shown).expect("tools that were read as JSON can be written as JSON");
        Self { tools, by_name, shown }
    }

    /// Everything an Agent may see, as a JSON array.
    pub(crate) fn shown(&self) -> &RawValue {
        &self.shown
    }

    /// The tool of a public name, hidden ones included.
    pub(crate) fn find(&self, name: &str) -> Option<&ListedTool> {
        self.by_name.get(name).map(|&index| &self.tools[index])
    }

    /// All tools, hidden ones included, in the order of servers and of their lists.
    pub(crate) fn all(&self) -> &[ListedTool] {
        &self.tools
    }
}

/// Hides tools that would make the list too large to be sent: each tool whose definition is too large, and as long as all
/// together are too large, the tools of the server with the most.
fn hide_oversized(tools: &mut [ListedTool]) {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for tool in tools.iter_mut().filter(|tool| tool.hidden.is_none()) {
        let size = written_size(tool.tool());
        if size > MAX_TOOL {
            tool.hidden = Some(HiddenReason::TooLarge);
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
        of_it.for_each(|tool| tool.hidden = Some(HiddenReason::TooLarge));
    }
}

/// Names depend neither on which servers run at the moment nor on which tools are held back. Only tools that the owner
/// forbids or has switched off do not count: no Agent can confuse them with others.
fn assign_names(tools: &mut [ListedTool]) {
    let takes_part = |tool: &ListedTool| !matches!(tool.hidden, Some(HiddenReason::Forbidden | HiddenReason::Off));
    let wished: Vec<String> = tools.iter().map(ListedTool::wished).collect();
    let of = |(tool, wished): (&ListedTool, &String)| (tool.config.clone(), wished.clone(), tool.alias().is_some());
    let part: Vec<_> = tools.iter().zip(&wished).filter(|(tool, _)| takes_part(tool)).map(of).collect();
    let unnamed: Vec<_> = part
        .iter()
        .map(|(config, wished, is_alias)| NameRequest { server: &config.name, wished, is_alias: *is_alias })
        .collect();
    let mut names = public_names(&unnamed).into_iter();
    for (tool, wished) in tools.iter_mut().zip(wished) {
        let named = if takes_part(tool) { names.next() } else { None };
        tool.name = named.unwrap_or(wished);
    }
}

impl ListedTool {
    /// The tool as its server describes it.
    pub(crate) fn tool(&self) -> &Tool {
        &self.tools[self.index]
    }

    /// Its server's name.
    pub(crate) fn server(&self) -> &str {
        &self.config.name
    }

    /// Whether its public name is not the one that it wishes.
    pub(crate) fn is_renamed(&self) -> bool {
        self.name != self.wished()
    }

    fn wished(&self) -> String {
        self.alias().map_or_else(|| self.tool().name.to_string(), str::to_owned)
    }

    /// An alias names one tool, so the default for all tools of a server is not looked at.
    fn alias(&self) -> Option<&str> {
        self.config.tool_meta.get(&*self.tool().name)?.alias.as_deref()
    }

    /// The tool as an Agent sees it.
    fn to_smcp(&self) -> SmcpTool {
        let tool = self.tool();
        let mut meta: Map<String, Value> = Map::new();
        let reserved = [SmcpTool::TOOL_META, SmcpTool::ANNOTATIONS, RENAMED_FROM, SERVER, CHANGED];
        for (key, value) in tool.meta.iter().flat_map(|own| own.0.iter()) {
            // Only the owner and this Computer set these.
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

    fn offer(name: &str, extra: &Value, tools: &[&str]) -> ServerTools {
        let mut config = json!({"name": name, "type": "stdio", "server_parameters": {"command": "x"}});
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let tool = |n: &&str| Tool::new(n.to_string(), format!("Does {n}"), Arc::new(Map::new()));
        let (tools, pin_states) = (tools.iter().map(tool).collect(), vec![PinState::Trusted; tools.len()]);
        ServerTools { config: Arc::new(serde_json::from_value(config).unwrap()), tools, is_wanted: true, pin_states }
    }

    fn shown(toolbox: &Toolbox) -> Vec<SmcpTool> {
        serde_json::from_str(toolbox.shown().get()).unwrap()
    }

    fn names(offers: &[ServerTools]) -> Vec<String> {
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
        assert_eq!(toolbox.find("rm").unwrap().hidden, Some(HiddenReason::Forbidden));
        assert!(toolbox.find("read").is_none());
    }

    #[test]
    fn forbidden_and_switched_off_tools_take_no_name() {
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
        changed.pin_states[1] = PinState::Changed;
        let offers = [changed];
        assert_eq!(names(&offers), ["read"]);
        let warned = shown(&Toolbox::new(&offers, ToolChanges::Warn));
        assert_eq!(json!(warned[1].meta), json!({"a2c_changed": true}));
    }

    #[test]
    fn large_definitions_hide_no_tools_of_other_servers() {
        let described = |name: &str, size: usize| Tool::new(name.to_owned(), "x".repeat(size), Arc::new(Map::new()));
        let mut one = offer("one", &json!({}), &["small"]);
        one.tools = one.tools.iter().cloned().chain([described("big", MAX_TOOL + 1)]).collect();
        one.pin_states.push(PinState::Trusted);
        let mut many = offer("many", &json!({}), &[]);
        many.tools = (0..60).map(|n| described(&format!("t{n}"), MAX_TOOL - 1024)).collect();
        many.pin_states = vec![PinState::Trusted; 60];
        let toolbox = Toolbox::new(&[one, many], ToolChanges::Warn);
        assert_eq!(shown(&toolbox).into_iter().map(|t| t.name).collect::<Vec<_>>(), ["small"]);
        assert_eq!(toolbox.find("big").unwrap().hidden, Some(HiddenReason::TooLarge));
        assert_eq!(toolbox.find("t7").unwrap().hidden, Some(HiddenReason::TooLarge));
    }

    #[test]
    fn a_server_cannot_speak_for_the_owner() {
        let mut offer = offer("a", &json!({}), &[]);
        let forged = json!({"a2c_tool_meta": "{}", "MCP_TOOL_ANNOTATION": "{}", "a2c_changed": false, "own": {"k": 1}});
        offer.pin_states = vec![PinState::Trusted];
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
