//! JSON from the command line: the fields of a request, and the arguments of a tool.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// The fields of a request, without those that were not given: not every peer takes null for absent.
pub(super) fn without_nulls(payload: Value) -> Map<String, Value> {
    match payload {
        Value::Object(mut payload) => {
            payload.retain(|_, value| !value.is_null());
            payload
        }
        _ => Map::new(),
    }
}

/// The arguments of a tool: given in place, in a file, or on standard input.
pub(crate) fn object(given: &str) -> Result<Map<String, Value>> {
    let text = match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?,
        None if given == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            text
        }
        None => given.to_owned(),
    };
    serde_json::from_str(&text).with_context(|| {
        format!("the tool's arguments are not a JSON object, such as '{{\"text\": \"hello\"}}': {}", excerpt(&text))
    })
}

fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
