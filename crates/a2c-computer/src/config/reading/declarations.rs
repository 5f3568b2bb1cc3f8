//! The inputs that a file declares.

use std::collections::BTreeMap;

use a2c_protocol::config::Input;
use serde_json::{Map, Value};

use super::fields::{Fields, Item, Problems};
use super::spelling;
use crate::config::keys;
use crate::config::spanned::Node;

/// Reads the list of inputs; an id is declared once.
pub(super) fn inputs(item: &Item<'_>, problems: &mut Problems<'_>) -> Vec<Input> {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut inputs = Vec::new();
    for item in item.list(problems).unwrap_or_default() {
        let Some(fields) = item.object(problems) else { continue };
        if let Some(item) = fields.need("id", "write the name that placeholders use, ${input:ID}", problems)
            && let Some(id) = item.text(problems)
        {
            if id.is_empty() || id.contains(|c: char| c == '}' || c.is_control()) {
                item.wrong("is no id: write letters, digits, - and _", problems);
            }
            if let Some(at) = first.get(&id) {
                problems.tell(item.value.at, &item.path, |lines| {
                    format!("`{id}` is declared twice, first in line {}: keep one of them", lines.place(*at).0)
                });
            }
            first.entry(id).or_insert(item.value.at);
        }
        inputs.extend(input(&fields, problems));
    }
    inputs
}

const KINDS: [&str; 3] = ["promptString", "pickString", "command"];

fn input(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Input> {
    let item = fields.need("type", "write `promptString`, `pickString` or `command`", problems)?;
    let kind = item.text(problems)?;
    if let Some(description) = fields.get("description") {
        description.text(problems);
    }
    match kind.as_str() {
        "promptString" => {
            fields.only(&[keys::PROMPT_STRING], problems);
            fields.get("default").and_then(|default| default.text(problems));
            fields.get("password").and_then(|password| password.flag(problems));
        }
        "pickString" => {
            fields.only(&[keys::PICK_STRING], problems);
            pick(fields, problems);
        }
        "command" => {
            fields.only(&[keys::COMMAND], problems);
            command(fields, problems);
        }
        _ => {
            item.wrong(format!("unknown type `{kind}`: {}", spelling::remedy(&kind, KINDS.into_iter())), problems);
            return None;
        }
    }
    // Everything has been looked at; what is wrong with it has been told.
    let given = fields.each().filter(|(_, _, item)| !matches!(item.value.node, Node::Null));
    let object: Map<String, Value> = given.map(|(key, _, item)| (key.to_owned(), item.value.to_value())).collect();
    serde_json::from_value(object.into()).ok()
}

fn pick(fields: &Fields<'_>, problems: &mut Problems<'_>) {
    let Some(item) = fields.need("options", "list the texts to pick from", problems) else { return };
    let Some(options) = item.texts(problems) else { return };
    if options.is_empty() {
        item.wrong("is empty: list the texts to pick from", problems);
    }
    if let Some(item) = fields.get("default")
        && let Some(default) = item.text(problems)
        && !options.is_empty()
        && !options.contains(&default)
    {
        let options: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
        item.wrong(format!("is not among the options: write one of {}", options.join(", ")), problems);
    }
}

fn command(fields: &Fields<'_>, problems: &mut Problems<'_>) {
    if let Some(item) = fields.need("command", "name the program to run", problems)
        && item.text(problems).is_some_and(|command| command.trim().is_empty())
    {
        item.wrong("is empty: name the program to run", problems);
    }
    if let Some(shell) = fields.get("shell") {
        shell.flag(problems);
    }
    if let Some(args) = fields.get("args") {
        match args.value.node {
            Node::Object(_) => {
                args.object(problems);
            }
            _ => {
                args.texts(problems);
            }
        }
    }
}
