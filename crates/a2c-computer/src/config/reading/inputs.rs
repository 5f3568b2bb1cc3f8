//! The inputs that a file declares.

use std::collections::BTreeMap;

use a2c_protocol::config::Input;
use a2c_settings::{Field, Node, Object, Report, spelling};
use serde_json::{Map, Value};

use crate::config::keys;

/// Reads the list of inputs; an id is declared once.
pub(super) fn read(item: &Field<'_>, report: &mut Report<'_>) -> Vec<Input> {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut inputs = Vec::new();
    for item in item.list(report).unwrap_or_default() {
        let Some(fields) = item.object(report) else { continue };
        if let Some(item) = fields.require("id", "write the name that placeholders use, ${input:ID}", report)
            && let Some(id) = item.string(report)
        {
            if id.is_empty() || id.contains(|c: char| c == '}' || c.is_control()) {
                item.problem("is not an id: write letters, digits, - and _", report);
            }
            if let Some(earlier) = first.get(&id) {
                report.problem_with(item.value.offset, &item.path, |line_of| {
                    format!("`{id}` is declared twice, first in line {}: keep one of them", line_of(*earlier))
                });
            }
            first.entry(id).or_insert(item.value.offset);
        }
        inputs.extend(input(&fields, report));
    }
    inputs
}

const KINDS: [&str; 3] = ["promptString", "pickString", "command"];

fn input(fields: &Object<'_>, report: &mut Report<'_>) -> Option<Input> {
    let item = fields.require("type", "write `promptString`, `pickString` or `command`", report)?;
    let kind = item.string(report)?;
    if let Some(description) = fields.get("description") {
        description.string(report);
    }
    match kind.as_str() {
        "promptString" => {
            fields.only(&[keys::PROMPT_STRING], report);
            fields.get("default").and_then(|default| default.string(report));
            fields.get("password").and_then(|password| password.boolean(report));
        }
        "pickString" => {
            fields.only(&[keys::PICK_STRING], report);
            pick(fields, report);
        }
        "command" => {
            fields.only(&[keys::COMMAND], report);
            command(fields, report);
        }
        _ => {
            item.problem(format!("unknown type `{kind}`: {}", spelling::remedy(&kind, KINDS)), report);
            return None;
        }
    }
    // Every key has been checked, and what is wrong has been reported.
    let given = fields.keys().filter(|key| !matches!(key.field.value.node, Node::Null));
    let object: Map<String, Value> = given.map(|key| (key.name.to_owned(), key.field.value.to_json())).collect();
    serde_json::from_value(object.into()).ok()
}

fn pick(fields: &Object<'_>, report: &mut Report<'_>) {
    let Some(item) = fields.require("options", "list the strings to pick from", report) else { return };
    let Some(options) = item.strings(report) else { return };
    if options.is_empty() {
        item.problem("is empty: list the strings to pick from", report);
    }
    if let Some(item) = fields.get("default")
        && let Some(default) = item.string(report)
        && !options.is_empty()
        && !options.contains(&default)
    {
        let options: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
        item.problem(format!("is not among the options: write one of {}", options.join(", ")), report);
    }
}

fn command(fields: &Object<'_>, report: &mut Report<'_>) {
    if let Some(item) = fields.require("command", "name the program to run", report)
        && item.string(report).is_some_and(|command| command.trim().is_empty())
    {
        item.problem("is empty: name the program to run", report);
    }
    if let Some(shell) = fields.get("shell") {
        shell.boolean(report);
    }
    if let Some(args) = fields.get("args") {
        match args.value.node {
            Node::Object(_) => {
                args.object(report);
            }
            _ => {
                args.strings(report);
            }
        }
    }
}
